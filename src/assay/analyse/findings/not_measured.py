"""What the plan promised and the run does not hold."""

from collections.abc import Iterable
from typing import Literal

from assay.analyse.evidence import Evidence, Rule
from assay.model.result import Finding, Outcome

_SHOWN = 3


def _assess(evidence: Evidence) -> Iterable[Finding]:
    wrong = [each for each in evidence.outcomes if each.status in {"failed", "invalid"}]
    missing = [each for each in evidence.outcomes if each.status not in {"complete", "failed", "invalid"}]
    if wrong:
        yield _finding(
            "wrong",
            f"{len(wrong)} of {len(evidence.outcomes)} cases gave no valid figure: {_reasons(wrong)}.",
            wrong,
            "problem",
            "assay show last --json  (status and reason)",
        )
    if missing:
        yield _finding(
            "missing",
            f"{len(missing)} of {len(evidence.outcomes)} cases were not measured: {_reasons(missing)}.",
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
        statistic=f"{len(outcomes)} cases",
        threshold=rule.threshold,
        next=remedy,
    )


def _reasons(outcomes: list[Outcome]) -> str:
    """The most frequent reasons with one case of each."""
    cases: dict[str, list[str]] = {}
    for each in outcomes:
        cases.setdefault(f"{each.status}: {each.reason}", []).append(each.case)
    ranked = sorted(cases.items(), key=lambda item: -len(item[1]))
    shown = [
        f"{reason} ({names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''})"
        for reason, names in ranked
    ]
    return "; ".join([*shown[:_SHOWN], *([f"{len(shown) - _SHOWN} other reasons"] if len(shown) > _SHOWN else [])])


rule = Rule("not_measured", "Did every case of the plan end well?", "every case complete", _assess)
