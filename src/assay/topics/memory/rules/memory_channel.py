"""A NUMA node whose memory is slower than that of similar nodes: a channel may be missing."""

import math
from collections.abc import Iterable

import numpy as np

from assay.analyse.comparisons import own_node
from assay.analyse.estimates import Measured
from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.experiments import retest, retest_pair
from assay.analyse.possible import without_memory_nodes
from assay.analyse.statistics import hodges_lehmann
from assay.model.quantity import Quantity
from assay.model.result import Finding
from assay.model.text import cli, text
from assay.topics.memory.far import is_bound

_SHARE = 0.95


def _assess(evidence: Evidence) -> Iterable[Finding]:
    groups = _groups(evidence)
    if not groups:
        yield rule.not_assessed(
            text("Fewer than two NUMA nodes were measured with their own memory"),
            cli("run", "memory"),
            without_memory_nodes(evidence.run),
        )
    for group in groups:
        for node, measured in group.items():
            others = [other for each, other in group.items() if each != node]
            effect = _against_others(measured, others)
            if effect and math.exp(effect.hi) < _SHARE:
                yield _finding(node, measured, others, effect)


def _finding(node: int, measured: Measured, others: list[Measured], effect: Quantity) -> Finding:
    share, low, high = map(math.exp, effect)
    end = (
        text("upper bound (95 %)")
        if effect.confidence
        else text("largest ratio of {blocks} blocks", blocks=len(measured.launches))
    )
    ordered = sorted((other.estimate for other in others), key=lambda each: each.median or 0.0)
    again = retest_pair((measured.estimate, ordered[len(ordered) // 2]), _SHARE, "below")
    return rule.finding(
        measured.estimate.id,
        claim=text(
            "NUMA node {node} reaches {share} of the local memory bandwidth of the other nodes.",
            node=node,
            share=f"{share:.2f}",
        ),
        severity="problem",
        status="observed" if effect.confidence else "candidate",
        evidence=(measured.estimate.id,),
        numbers=numbers((share, low, high), _SHARE),
        statistic=text(
            "{end} of node {node} / median of the others {ratio}", end=end, node=node, ratio=f"{high:.3g}"
        ),
        rivals=(
            text("another program on that node"),
            text("a slower memory module or mixed modules"),
            text("thermal limits"),
        ),
        experiment=None if effect.confidence else retest(again),
        next=text("check whether all channels of this node have the same modules: `sudo dmidecode --type memory`"),
    )


def _groups(evidence: Evidence) -> list[dict[int, Measured]]:
    """Group by measurement: NUMA node -> rate of all of its cores with its own memory; two nodes or more."""
    groups: dict[object, dict[int, Measured]] = {}
    for each in evidence.of_role("memory-rate", main=True):
        estimate = each.estimate
        own = own_node(estimate, evidence.run.machines) if each.launches else None
        policy, word = estimate.placement.policy.policy, estimate.placement.word
        local = policy == "first-touch" or is_bound(estimate, own)
        if own is None or not local or (word.share, word.group) != ("all", "numa"):
            continue
        words = tuple(word for word in estimate.params.values() if isinstance(word, str))
        where = (estimate.placement.hosts, estimate.state)
        key = (estimate.benchmark, policy, words, tuple(estimate.factors.items()), where)
        groups.setdefault(key, {})[own] = each
    return [group for group in groups.values() if len(group) > 1]


def _against_others(measured: Measured, others: list[Measured]) -> Quantity | None:
    """Return the logarithm of a node's rate over the median rate of the other nodes in the same block."""
    rates = [{launch.block: launch.value for launch in other.launches} for other in others]
    ratios = [
        math.log(launch.value / float(np.median(known)))
        for launch in measured.launches
        if (known := [rate[launch.block] for rate in rates if launch.block in rate])
    ]
    return hodges_lehmann(ratios) if ratios else None


rule = Rule(
    "memory_channel",
    text("Is the memory of every NUMA node equally fast?"),
    text("node / median of the others < {share}", share=f"{_SHARE:.2f}"),
    _assess,
)
