"""The share of a node's bandwidth that a single core can draw."""

import math
from collections.abc import Iterable

from assay.analyse.comparisons import CORES, Pair
from assay.analyse.evidence import FEWEST_BLOCKS, Evidence, Rule, decide, lower, paired, standing, upper
from assay.model.result import Finding
from assay.model.text import joined, text
from assay.model.units import format_quantity

#: From here on one core nearly fills the memory's bandwidth.
_MOST = 0.9
#: Two cores of 49.9 % each do fill it.
_ALMOST = 0.1


def _assess(evidence: Evidence) -> Iterable[Finding]:
    # On two cores `half` is one core, and pairs carry that word.
    pairs = [pair for pair in evidence.differing(CORES, "triad") if pair.a.placement.label == "one-core"]
    if not pairs:
        yield rule.not_assessed(
            text("Triad was not measured on one core and on all in {blocks} blocks or more", blocks=FEWEST_BLOCKS),
            "assay run quick",
        )
        return
    # The stores that give all cores most are the ones that one core has to be held against.
    pair = max(pairs, key=lambda pair: pair.b.median or 0)
    if pair.comparison.ratio > 1:
        yield rule.not_assessed(
            text(
                "One core drew {ratio} of what all drew: something else held these back",
                ratio=f"x{pair.comparison.ratio:.2f}",
            ),
            text("measure again while the machine is idle: `{command}`", command="assay run quick"),
        )
        return
    yield _finding(evidence, pair)


def _finding(evidence: Evidence, pair: Pair) -> Finding:
    comparison = pair.comparison
    one, everyone = (format_quantity(each.median or 0, each.unit) for each in (pair.a, pair.b))
    cores = len(pair.b.placement.cpus[0])
    return Finding(
        id=f"{rule.name}:{pair.a.id}",
        rule=rule.name,
        claim=text(
            "One core draws {one} triad, {share} % of the {everyone} of all {cores} cores with the same stores "
            "({ratio}): {meaning}.",
            one=one,
            share=f"{100 * comparison.ratio:.0f}",
            everyone=everyone,
            cores=cores,
            ratio=paired(comparison),
            meaning=_meaning(comparison.lo, comparison.hi),
        ),
        severity="fact",
        status=standing(comparison),
        evidence=(comparison.id, pair.a.id, pair.b.id),
        statistic=joined(", ", (lower(comparison), upper(comparison))),
        threshold=rule.threshold,
        next=decide(evidence, comparison),
    )


def _meaning(lo: float, hi: float) -> str:
    """How many cores it takes, as far as both ends of the ratio agree."""
    if lo > _MOST:
        return text("more cores add little")
    fewest, most = (math.ceil(1 / min(end, 1.0) - _ALMOST) for end in (hi, lo))
    if fewest == most:
        return text("it takes at least {cores} cores to fill the memory's bandwidth", cores=fewest)
    return text(
        "it takes at least {fewest} to {most} cores to fill the memory's bandwidth", fewest=fewest, most=most
    )


rule = Rule(
    "one_core", text("What share of the node's bandwidth can one core draw?"), text("none: a fact"), _assess
)
