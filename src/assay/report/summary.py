"""The first page: what is good, what is wrong, what to do next. Every line is computed from the run."""

from dataclasses import dataclass

from assay.model.result import Analysis, CaseStatus, Finding, Outcome
from assay.model.run import Run
from assay.report import words

_NEAR_LIMIT = 0.9


@dataclass(frozen=True)
class Summary:
    """Lists of sentences for the first page.

    Attributes:
        good: what a reader may rely on.
        wrong: what costs performance or trust.
        next: what to do, in order.
        facts: what is worth knowing.
    """

    good: tuple[str, ...]
    wrong: tuple[str, ...]
    next: tuple[str, ...]
    facts: tuple[str, ...]


def summary(run: Run, analysis: Analysis) -> Summary:
    """The first page's lists."""
    facts = tuple(finding.claim for finding in by_severity(analysis) if finding.severity == "fact")
    return Summary(_good(run, analysis), _wrong(run, analysis), _next(run, analysis), facts)


def by_severity(analysis: Analysis) -> tuple[Finding, ...]:
    """Findings that were assessed, problems first, then advice, then facts."""
    rank = {"problem": 0, "advice": 1, "fact": 2}
    assessed = (finding for finding in analysis.findings if finding.status != "not assessed")
    return tuple(sorted(assessed, key=lambda finding: rank[finding.severity]))


def unmeasured(analysis: Analysis) -> dict[CaseStatus, tuple[Outcome, ...]]:
    """Cases of the plan that are not complete, by how they ended."""
    ended: dict[CaseStatus, list[Outcome]] = {}
    for outcome in analysis.outcomes:
        if outcome.status != "complete":
            ended.setdefault(outcome.status, []).append(outcome)
    return {status: tuple(outcomes) for status, outcomes in ended.items()}


def _good(run: Run, analysis: Analysis) -> tuple[str, ...]:
    lines = []
    cut = ", some in fewer launches than planned" if run.ending and run.ending.status == "cut" else ""
    measured = [e for e in analysis.estimates if e.median is not None]
    complete = sum(outcome.status == "complete" for outcome in analysis.outcomes)
    if measured and complete == len(analysis.outcomes):
        lines.append(
            f"All {words.count(complete, 'case', 'cases')} of the plan were measured and passed verification{cut}."
        )
    proven = [e.placement.proven for e in measured if e.placement.proven]
    if proven and all(proof.as_asked for proof in proven):
        lines.append("Every program ran on the cpus that were asked for, as read back while it ran.")
    near = [
        e for e in measured if (words.share(e) or 0) >= _NEAR_LIMIT and e.limit and e.limit.source != "measured"
    ]
    if near:
        lines.append(
            f"{words.count(len(near), 'figure reaches', 'figures reach')} {words.percent(_NEAR_LIMIT)} of a "
            "limit that was derived or given, or more."
        )
    return tuple(lines)


def _wrong(run: Run, analysis: Analysis) -> tuple[str, ...]:
    lines = []
    if not any(e.median is not None for e in analysis.estimates):
        lines.append("Nothing could be measured; the reasons are listed under what was not measured.")
    if run.ending is None:
        lines.append("The run did not end: it goes on now, or it was killed. What it measured until then is here.")
    elif run.ending.status == "interrupted":
        lines.append("The run was interrupted before its plan was through.")
    if run.damage:
        lines.append(f"{words.count(len(run.damage), 'part', 'parts')} of the run directory could not be read.")
    lines = [finding.claim for finding in by_severity(analysis) if finding.severity == "problem"] + lines
    return tuple(lines)


def _next(run: Run, analysis: Analysis) -> tuple[str, ...]:
    findings = by_severity(analysis)
    lines = [f.next for f in findings if f.next and f.severity in {"problem", "advice"}]
    if run.ending is None or run.ending.status != "complete":
        lines.append(f"Measure what is missing: `assay run --resume {run.info.id}`")
    if any(e.method == "range" for e in analysis.estimates) and not any("--launches" in line for line in lines):
        lines.append(
            f"Ranges here claim no confidence. For 95 % intervals: `assay run {run.info.study} --launches 6`"
        )
    # A command that another line names with its reason needs no line of its own.
    return tuple(dict.fromkeys(line for line in lines if not any(line in other != line for other in lines)))
