"""What the plan promised and the run does not hold."""

from collections.abc import Iterable
from typing import Literal

from assay.analyse.evidence import Evidence, Rule
from assay.model.result import Finding, Outcome
from assay.model.text import REMARK, joined, text

_SHOWN = 3
_STATUSES = {
    "failed": text("failed"),
    "invalid": text("invalid"),
    "incomplete": text("incomplete"),
    "timed-out": text("timed-out"),
    "skipped": "",
}


def _assess(evidence: Evidence) -> Iterable[Finding]:
    studied = {case.id for case in evidence.run.plan.studied}
    wrong = [each for each in evidence.outcomes if each.status in {"failed", "invalid"}]
    missing = [each for each in evidence.outcomes if each.status not in {"complete", "failed", "invalid"}]
    missing = [each for each in missing if each.case in studied]
    if wrong:
        of_study = [each for each in wrong if each.case in studied]
        told = of_study or wrong
        controls = len(evidence.outcomes) - len(studied)
        reasons = _reasons(told)
        claim = (
            text(
                "{count} of {all} cases gave no valid figure: {reasons}.",
                count=len(told),
                all=len(studied),
                reasons=reasons,
            )
            if of_study
            else text(
                "{count} of {all} control measurements gave no valid figure: {reasons}.",
                count=len(told),
                all=controls,
                reasons=reasons,
            )
        )
        yield _finding(
            "wrong",
            claim,
            told,
            "problem",
            joined(REMARK, [f"assay show {evidence.run.info.id} --json", text("status and reason of each case")]),
        )
    if missing:
        yield _finding(
            "missing",
            text(
                "{count} of {all} cases were not measured: {reasons}.",
                count=len(missing),
                all=len(studied),
                reasons=_reasons(missing),
            ),
            missing,
            "fact",
            f"assay run --resume {evidence.run.info.id}{evidence.budget()}",
        )


def _finding(
    subject: str, claim: str, outcomes: list[Outcome], severity: Literal["problem", "fact"], remedy: str
) -> Finding:
    return Finding(
        id=f"{rule.name}:{subject}",
        rule=rule.name,
        claim=claim,
        severity=severity,
        status="observed",
        evidence=(),
        statistic=text("{count} case|{count} cases", count=len(outcomes)),
        threshold=rule.threshold,
        next=remedy,
    )


def _reasons(outcomes: list[Outcome]) -> str:
    """The most frequent reasons with one case of each."""
    cases: dict[tuple[str, str], list[str]] = {}
    for each in outcomes:
        cases.setdefault((each.status, each.reason or ""), []).append(each.case)
    ranked = sorted(cases.items(), key=lambda item: -len(item[1]))
    shown = [_reason(_STATUSES.get(status, status), reason, names) for (status, reason), names in ranked]
    others = len(shown) - _SHOWN
    rest = text("{count} other reason|{count} other reasons", count=others) if others > 0 else ""
    return joined("; ", [*shown[:_SHOWN], rest])


def _reason(status: str, reason: str, names: list[str]) -> str:
    told = text("{status}: {reason}", status=status, reason=reason) if status else reason
    if len(names) == 1:
        return text("{reason} ({case})", reason=told, case=names[0])
    return text("{reason} ({case} and {count} more)", reason=told, case=names[0], count=len(names) - 1)


rule = Rule("not_measured", text("Did every case of the plan end well?"), text("every case complete"), _assess)
