"""Figures that exceed their limit: one of both is wrong, so no share is shown."""

from collections.abc import Iterable

from assay.analyse.bounds import MOST_SHARE
from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.limits import share
from assay.model import places
from assay.model.grouping import grouped
from assay.model.result import Estimate, Finding, Limit
from assay.model.text import filled, text
from assay.model.units import format_quantity

_OF_BYTES = text("Either the limit is too low, or bytes stayed in a cache.")
_OF_SHAPER = text("A traffic shaper lets a burst pass, so the figure is not a rate of the link.")
_OF_OTHERS = text("The limit is too low: its measurement was disturbed, or is not the fastest possible.")
_WHY = {"memory": _OF_BYTES, "copy": _OF_BYTES, "shaper": _OF_SHAPER}
_CLAIMS = {
    "higher": text(
        "{benchmark} {kernel} on {label} reaches {figure}, more than its limit of {limit}: {of}. {why} "
        "{count} figure has no share.|{benchmark} {kernel} on {label} reaches {figure}, more than its limit "
        "of {limit}: {of}. {why} {count} figures have no share."
    ),
    "lower": text(
        "{benchmark} {kernel} on {label} takes {figure}, less than its limit of {limit}: {of}. {why} "
        "{count} figure is no best one.|{benchmark} {kernel} on {label} takes {figure}, less than its limit "
        "of {limit}: {of}. {why} {count} figures are no best ones."
    ),
}


def _assess(evidence: Evidence) -> Iterable[Finding]:
    exceeded = [(each, each.exceeds) for each in evidence.estimates.values() if each.exceeds]
    for (benchmark, kind), found in grouped(exceeded, lambda each: (each[0].benchmark, each[1].kind)).items():
        shares = [(share(each.median or 0.0, limit, each.better), each, limit) for each, limit in found]
        worst = max(shares, key=lambda each: each[0])
        yield _finding(f"{benchmark}:{kind}", *worst, tuple(each.id for each, _ in found))


def _finding(subject: str, ratio: float, worst: Estimate, limit: Limit, exceeding: tuple[str, ...]) -> Finding:
    return rule.finding(
        subject,
        claim=filled(
            _CLAIMS[worst.better],
            {
                "why": _WHY.get(limit.kind, _OF_OTHERS),
                "count": len(exceeding),
                "benchmark": worst.benchmark,
                "kernel": worst.kernel,
                "label": places.cores(worst.placement.label),
                "figure": format_quantity(worst.median or 0.0, worst.unit),
                "limit": format_quantity(limit.value, worst.unit),
                "of": limit.of,
            },
        ),
        evidence=exceeding,
        numbers=numbers(ratio, MOST_SHARE),
        statistic=text("figure / limit {ratio}", ratio=f"{ratio:.3f}"),
    )


rule = Rule(
    "wrong_limit",
    text("Does any figure exceed its limit?"),
    text("figure / ceiling > {share}", share=f"{MOST_SHARE}"),
    _assess,
    applies=lambda evidence: any(each.limit or each.exceeds for each in evidence.estimates.values()),
)
