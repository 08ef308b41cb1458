"""Ratios of two things that differ in one word, measured in the same blocks and the same state of the machine."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence

import msgspec
import numpy as np

from assay import benchmarks
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.statistics import hodges_lehmann, verdict
from assay.model.machine import Machine
from assay.model.result import Comparison, Estimate
from assay.model.run import Run

#: Dimensions that are no axis and no factor.
CORES, MEMORY = "cores", "memory"
_CORES = ("all", "half", "all-threads")


class Pair(msgspec.Struct, frozen=True):
    """Two estimates that differ in one word.

    Attributes:
        differ: name of the axis or factor in which they differ, or `cores` or `memory`.
        a: the one that is judged.
        level: its word.
        b: the base of the ratio.
        comparison: the ratio a / b of the headline metric.
    """

    differ: str
    a: Estimate
    level: str
    b: Estimate
    comparison: Comparison


def pairs(run: Run, measured: Sequence[Measured]) -> list[Pair]:
    """Every two estimates of a headline metric that differ in one word; the base is the usual one of the two.

    Words are the levels of axes without numbers and of factors, `half` and `all-threads` against `all` cores, and
    memory policies against first touch or the cores' own node.
    """
    halves = {folded.into: folded.wish for folded in run.plan.folded if folded.wish.startswith("half")}
    groups: dict[Hashable, list[tuple[str, Measured]]] = {}
    for each in measured:
        if each.launches and each.estimate.metric == benchmarks.get(each.estimate.benchmark).metrics[0].name:
            words = _words(each.estimate, halves)
            for name, word in words.items():
                rest = frozenset((other, level) for other, level in words.items() if other != name)
                key = (name, _fixed(each.estimate, halves), rest)
                groups.setdefault(key, []).append((word, each))
    return [
        pair
        for (name, *_), group in ((key, group) for key, group in groups.items() if isinstance(key, tuple))
        for pair in _against_base(str(name), group, run.machines)
    ]


def _words(estimate: Estimate, halves: Mapping[str, str]) -> dict[str, str]:
    """Dimension -> level, of those along which pairs are made; `halves`: what half of the cores folded into."""
    words = {name: level for name, level in estimate.params.items() if isinstance(level, str)}
    cores = halves.get(estimate.placement.label, estimate.placement.label).partition(":")[0]
    if cores in _CORES:
        words[CORES] = cores
    return words | estimate.factors | {MEMORY: estimate.placement.memory}


def _fixed(estimate: Estimate, halves: Mapping[str, str]) -> Hashable:
    """What must be the same: kernel, host, the part of the machine, numbers that were chosen and not computed."""
    axes = benchmarks.get(estimate.benchmark).axes
    numbers = tuple(
        estimate.params.get(axis.name)
        for axis in axes
        if axis.default is not None and not isinstance(axis.default, str)
    )
    label = halves.get(estimate.placement.label, estimate.placement.label)
    cores, _, part = label.partition(":")
    return (
        estimate.benchmark,
        estimate.kernel,
        estimate.placement.hosts,
        part if cores in _CORES else label,
        numbers,
    )


def _against_base(
    name: str, group: Sequence[tuple[str, Measured]], machines: Mapping[str, Machine]
) -> Iterable[Pair]:
    levels = list(dict.fromkeys(level for level, _ in group))
    if len(levels) == 1:
        return
    base = _base(name, levels, group[0][1].estimate, machines)
    for level, a in group:
        for other, b in group:
            if other == base != level and (comparison := compare(a, b)):
                yield Pair(name, a.estimate, level, b.estimate, comparison)


def _base(name: str, levels: Sequence[str], estimate: Estimate, machines: Mapping[str, Machine]) -> str:
    if name == CORES:
        usual = "all"
    elif name == MEMORY:
        own = own_node(estimate, machines)
        usual = f"bind:{own}" if f"bind:{own}" in levels else "first-touch"
    else:
        axes = {axis.name: axis.default for axis in benchmarks.get(estimate.benchmark).axes}
        usual = str(axes.get(name, levels[0]))
    return usual if usual in levels else levels[0]


def own_node(estimate: Estimate, machines: Mapping[str, Machine]) -> int | None:
    """The NUMA node that all cpus of an estimate belong to; None where they are spread over several."""
    machine = next((machines[host] for host in estimate.placement.hosts if host in machines), None)
    machine = machine or next(iter(machines.values()), None)
    if machine is None or not estimate.placement.cpus:
        return None
    nodes = {core.numa for core in machine.topology.cores if set(core.cpus) & set(estimate.placement.cpus[0])}
    return nodes.pop() if len(nodes) == 1 else None


def compare(a: Measured, b: Measured) -> Comparison | None:
    """The ratio a / b over the blocks that have both, in the same state; None where no block has."""
    if a.estimate.state and b.estimate.state and a.estimate.state != b.estimate.state:
        return None
    state = a.estimate.state or b.estimate.state
    of_a, of_b = (_by_block(each.launches, state) for each in (a, b))
    blocks = sorted(of_a.keys() & of_b.keys())
    if not blocks:
        return None
    effect = hodges_lehmann([math.log(of_a[block] / of_b[block]) for block in blocks])
    ratio, lo, hi = (math.exp(each) for each in (effect.median, effect.lo, effect.hi))
    speed_up = (lo, hi) if a.estimate.better == "higher" else (1 / hi, 1 / lo)
    return Comparison(
        id=f"{a.estimate.id} : {b.estimate.id}",
        a=a.estimate.id,
        b=b.estimate.id,
        ratio=ratio,
        lo=lo,
        hi=hi,
        blocks=len(blocks),
        confidence=effect.confidence,
        verdict=verdict(*speed_up, effect.confidence),
    )


def _by_block(launches: Iterable[LaunchMedian], state: str | None) -> dict[int, float]:
    values: dict[int, list[float]] = {}
    for launch in launches:
        if state is None or launch.state == state:
            values.setdefault(launch.block, []).append(launch.value)
    return {block: float(np.median(each)) for block, each in values.items()}
