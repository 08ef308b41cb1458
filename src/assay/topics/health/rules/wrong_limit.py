"""Figures that exceed their limit: one of both is wrong, so no share is shown."""

from collections.abc import Iterable

from assay.analyse.bounds import MOST_SHARE
from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.limits import share
from assay.model import places
from assay.model.grouping import grouped
from assay.model.result import Estimate, Finding, Limit
from assay.model.text import cli, filled, text
from assay.model.units import format_quantity

_OF_BYTES = text("Either the limit is too low, or bytes stayed in a cache.")
_OF_OTHERS = text("The limit is too low: its measurement was disturbed, or is not the fastest possible.")
_OF_SHAPER = text("No burst of the shaper explains it: the limit or the measurement is wrong.")
#: Why, by kind of limit and by the burst of a shaper.
_WHY = {
    ("memory", ""): _OF_BYTES,
    ("copy", ""): _OF_BYTES,
    ("shaper", ""): _OF_SHAPER,
    ("shaper", "fits"): text("The shaper lets a burst pass: the figure is right, and no rate of the link."),
    ("shaper", "unknown"): text("It may be the burst that the shaper lets pass: its bucket is not known."),
}
#: Sizes of messages that a burst changes little.
_LARGE = "1M:64M"
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
    kinds = grouped(exceeded, lambda each: (each[0].benchmark, each[1].kind, each[1].burst))
    for (benchmark, kind, burst), found in kinds.items():
        shares = [(share(each.median or 0.0, limit, each.better), each, limit) for each, limit in found]
        worst = max(shares, key=lambda each: each[0])
        subject = ":".join(filter(None, (benchmark, kind, burst)))
        yield _finding(evidence, subject, worst, tuple(each.id for each, _ in found))


def _finding(
    evidence: Evidence, subject: str, farthest: tuple[float, Estimate, Limit], exceeding: tuple[str, ...]
) -> Finding:
    ratio, worst, limit = farthest
    larger = cli("run", evidence.study(), "-m", _LARGE) if limit.burst == "unknown" else ""
    return rule.finding(
        subject,
        claim=filled(
            _CLAIMS[worst.better],
            {
                "why": _WHY.get((limit.kind, limit.burst), _OF_OTHERS),
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
        next=text("larger messages show the rate of the link: `{command}`", command=larger) if larger else "",
    )


rule = Rule(
    "wrong_limit",
    text("Does any figure exceed its limit?"),
    text("figure / ceiling > {share}", share=f"{MOST_SHARE}"),
    _assess,
    applies=lambda evidence: any(each.limit or each.exceeds for each in evidence.estimates.values()),
)
