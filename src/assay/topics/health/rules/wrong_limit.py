"""Ceilings that figures exceed: one of the two is wrong, so no share is shown."""

from collections.abc import Iterable

from assay.analyse.bounds import MOST_SHARE
from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.limits import share
from assay.model.result import Estimate, Finding, Limit
from assay.model.text import text
from assay.model.units import format_quantity


def _assess(evidence: Evidence) -> Iterable[Finding]:
    exceeded: dict[tuple[str, str], list[Estimate]] = {}
    for measured in evidence.measured:
        estimate = measured.estimate
        if estimate.exceeds:
            exceeded.setdefault((estimate.benchmark, estimate.exceeds.kind), []).append(estimate)
    for (benchmark, kind), estimates in exceeded.items():
        worst = max(estimates, key=lambda each: _share(each, each.exceeds))
        yield _finding(f"{benchmark}:{kind}", worst, estimates)


def _share(estimate: Estimate, limit: Limit | None) -> float:
    return share(estimate.median or 0.0, limit, estimate.better) if limit else 0.0


def _finding(subject: str, worst: Estimate, estimates: list[Estimate]) -> Finding:
    limit = worst.exceeds
    assert limit is not None  # noqa: S101 (only such are gathered)
    return rule.finding(
        subject,
        claim=text(
            "{benchmark} {kernel} at {label} reaches {figure}, more than its limit of {limit}: {of}. Either the "
            "limit is too low, or bytes stayed in a cache. {count} figure has no share.|"
            "{benchmark} {kernel} at {label} reaches {figure}, more than its limit of {limit}: {of}. Either the "
            "limit is too low, or bytes stayed in a cache. {count} figures have no share.",
            count=len(estimates),
            benchmark=worst.benchmark,
            kernel=worst.kernel,
            label=worst.placement.label,
            figure=format_quantity(worst.median or 0.0, worst.unit),
            limit=format_quantity(limit.value, worst.unit),
            of=limit.of,
        ),
        evidence=tuple(each.id for each in estimates),
        numbers=numbers(_share(worst, limit), MOST_SHARE),
        statistic=text("figure / limit {ratio}", ratio=f"{_share(worst, limit):.3f}"),
    )


rule = Rule(
    "wrong_limit",
    text("Does any figure exceed its limit?"),
    text("figure / ceiling > {share}", share=f"{MOST_SHARE}"),
    _assess,
)
