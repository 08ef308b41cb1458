"""The share of a node's bandwidth that a single core can draw."""

import math
from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule
from assay.model.result import Estimate, Finding
from assay.model.units import format_quantity

#: From here on one core nearly fills the memory's bandwidth.
_MOST = 0.9
#: Two cores of 49.9 % each do fill it.
_ALMOST = 0.1


def _assess(evidence: Evidence) -> Iterable[Finding]:
    triads = evidence.estimates("stream", "triad")
    one = _best(triads, "one-core")
    everyone = _best(triads, "all")
    if one is None or everyone is None or not one.median or not everyone.median:
        yield rule.not_assessed("triad was not measured on one core and on all", "assay run quick")
        return
    share = one.median / everyone.median
    cores = len(everyone.placement.cpus[0])
    yield Finding(
        id=f"{rule.name}:{one.id}",
        rule=rule.name,
        claim=f"One core draws {format_quantity(one.median, one.unit)} triad, {100 * share:.0f} % of the "
        f"{format_quantity(everyone.median, everyone.unit)} of all {cores} cores: {_meaning(share)}.",
        severity="fact",
        status="observed",
        evidence=(one.id, everyone.id),
        statistic=f"one core / all, best of each: {share:.3g}",
        threshold=rule.threshold,
    )


def _meaning(share: float) -> str:
    if share > _MOST:
        return "more cores add little"
    return f"it takes at least {math.ceil(1 / share - _ALMOST)} cores to fill the memory's bandwidth"


def _best(triads: list[Estimate], label: str) -> Estimate | None:
    return max(
        (each for each in triads if each.placement.label == label), key=lambda each: each.median or 0, default=None
    )


rule = Rule("one_core", "What share of the node's bandwidth can one core draw?", "none: a fact", _assess)
