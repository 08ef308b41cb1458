"""One NUMA node whose memory is slower than that of its like: a channel may be missing."""

import math
from collections.abc import Iterable

import numpy as np

from assay.analyse.comparisons import own_node
from assay.analyse.estimates import Measured
from assay.analyse.evidence import Evidence, Rule
from assay.analyse.experiments import anew, repeated
from assay.analyse.possible import without_memory_nodes
from assay.analyse.statistics import Interval, hodges_lehmann
from assay.model.plan import Experiment
from assay.model.result import Finding
from assay.model.text import text

_SHARE = 0.95


def _assess(evidence: Evidence) -> Iterable[Finding]:
    groups = _groups(evidence)
    if not groups:
        yield rule.not_assessed(
            text("Fewer than two NUMA nodes were measured each with its own memory"),
            "assay run memory",
            without_memory_nodes(evidence.run),
        )
    for group in groups:
        for node, measured in group.items():
            others = [other for each, other in group.items() if each != node]
            effect = _against_others(measured, others)
            if effect is None or math.exp(effect.hi) >= _SHARE:
                continue
            end = (
                text("upper bound (95 %)")
                if effect.confidence
                else text("largest ratio of {blocks} blocks", blocks=len(measured.launches))
            )
            yield Finding(
                id=f"{rule.name}:{measured.estimate.id}",
                rule=rule.name,
                claim=text(
                    "The memory of NUMA node {node} gives its own cores {share} of the triad that the other nodes "
                    "give theirs.",
                    node=node,
                    share=f"{math.exp(effect.median):.2f}",
                ),
                severity="problem",
                status="observed" if effect.confidence else "candidate",
                evidence=(measured.estimate.id,),
                statistic=text(
                    "{end} of node {node} / median of the others {ratio}",
                    end=end,
                    node=node,
                    ratio=f"{math.exp(effect.hi):.3g}",
                ),
                threshold=rule.threshold,
                rivals=(
                    text("another program on that node"),
                    text("a slower or mixed memory module"),
                    text("thermal limits"),
                ),
                experiment=None if effect.confidence else _anew(measured, others),
                next=text(
                    "see whether all channels of that node are populated alike: `sudo dmidecode --type memory`"
                ),
            )


def _groups(evidence: Evidence) -> list[dict[int, Measured]]:
    """For each like measurement: NUMA node -> triad of all of its cores with its own memory; two nodes or more."""
    groups: dict[object, dict[int, Measured]] = {}
    for each in evidence.measured:
        estimate = each.estimate
        if (estimate.kernel, estimate.metric) != ("triad", "bandwidth") or not each.launches:
            continue
        own = own_node(estimate, evidence.run.machines)
        local = {"first-touch": "first-touch", f"bind:{own}": "own"}.get(estimate.placement.memory)
        if own is None or local is None or not estimate.placement.label.startswith("all:numa:"):
            continue
        words = tuple(word for word in estimate.params.values() if isinstance(word, str))
        key = (local, words, tuple(estimate.factors.items()), estimate.placement.hosts, estimate.state)
        groups.setdefault(key, {})[own] = each
    return [group for group in groups.values() if len(group) > 1]


def _against_others(measured: Measured, others: list[Measured]) -> Interval | None:
    """Logarithm of a node's rate over the median of the others' in the same block."""
    rates = [{launch.block: launch.value for launch in other.launches} for other in others]
    ratios = [
        math.log(launch.value / float(np.median(known)))
        for launch in measured.launches
        if (known := [rate[launch.block] for rate in rates if launch.block in rate])
    ]
    return hodges_lehmann(ratios) if ratios else None


def _anew(measured: Measured, others: list[Measured]) -> Experiment:
    """The node against the one that is in the middle of the others."""
    ordered = sorted((other.estimate for other in others), key=lambda each: each.median or 0.0)
    return anew(repeated((measured.estimate, ordered[len(ordered) // 2]), _SHARE, "below"))


rule = Rule(
    "memory_channel",
    text("Is the memory of every NUMA node as fast as that of its like?"),
    text("node / median of the others < {share}", share=f"{_SHARE:.2f}"),
    _assess,
)
