"""Bandwidth and latency between the cores of each memory node and the memory of every node."""

from collections.abc import Iterable, Sequence

import msgspec

from assay.analyse.comparisons import own_node
from assay.analyse.curves import Curve, RunEstimates, curves, point, spread
from assay.analyse.memory_nodes import Nodes, nearness
from assay.analyse.statistics import kendall
from assay.model.grouping import grouped
from assay.model.law import Model, Point
from assay.model.quantity import Quantity
from assay.model.result import Estimate
from assay.model.text import text

LAW = "numa-matrix"
#: Kind of a model, as in its id -> its word.
kinds = {"bandwidth": text("bandwidth"), "latency": text("latency")}
#: With fewer different distances there is no rank to agree with.
_FEWEST_DISTANCES = 2


class NodeClass(msgspec.Struct, frozen=True):
    """Pairs of memory nodes at the same distance.

    Attributes:
        name: the distance in words, e.g. `one hop`.
        value: median over the pairs, with the least and the largest.
        ratio: the same of the ratios to the cores' own memory; None where that was not measured.
    """

    name: str
    value: Quantity
    ratio: Quantity | None


class RankCorrelation(msgspec.Struct, frozen=True):
    """How well firmware's distances rank the pairs: Kendall's tau-b, and its p.

    1: pairs that firmware calls farther are never better.
    """

    tau: float
    p: float


class NumaMatrix(Model, frozen=True, kw_only=True, tag=LAW):
    """Cores of each memory node with the memory of every node.

    Attributes:
        what: `bandwidth` or `latency`.
        classes: classes of pairs, the nearest first.
        agreement: None where firmware gives no two different distances.
    """

    what: str
    classes: tuple[NodeClass, ...]
    agreement: RankCorrelation | None

    @property
    def kind(self) -> str:
        """`bandwidth` or `latency`."""
        return self.what

    @property
    def headline(self) -> Quantity:
        """Ratio of the first class; its value where it has none."""
        return self.classes[0].ratio or self.classes[0].value


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for bandwidth and one for latency, for each kind of placement and words of the params."""
    rates, latencies = known.of_role("memory-rate", main=True), known.of_role("load-latency")
    for what, measured in (("bandwidth", rates), ("latency", latencies)):
        bound = [each for each in measured if _cell(each.estimate, known)]
        # Placements without their index: `all:numa`.
        for kind, members in grouped(bound, lambda each: each.estimate.placement.word.kind).items():
            for curve in curves(members, "label", "memory"):
                yield from _matrix(curve, what, kind, known)


def _cell(estimate: Estimate, known: RunEstimates) -> tuple[int, int] | None:
    """Return (cpu node, memory node); None where the cpus or the memory are spread over several nodes."""
    memory, own = estimate.placement.policy, own_node(estimate, known.run.machines)
    bound = memory.policy == "bind" and len(memory.nodes) == 1
    return (own, memory.nodes[0]) if bound and own is not None else None


def _matrix(curve: Curve, what: str, kind: str, known: RunEstimates) -> Iterable[Model]:
    cells = {cell: each.estimate for each in curve.members if (cell := _cell(each.estimate, known))}
    machine = known.machine(curve.members[0].estimate)
    if machine is None or len({memory for _, memory in cells}) < _FEWEST_DISTANCES:
        return
    nodes = Nodes(machine.topology)
    local = {cpu: estimate for (cpu, memory), estimate in cells.items() if cpu == memory}
    points = []
    near: dict[str, tuple[int, int]] = {}
    for (cpu, memory), estimate in sorted(cells.items()):
        lie, away = nodes.kind(cpu, memory), nodes.distance(cpu, memory)
        base = local[cpu].median if cpu in local else None
        ratio = estimate.median / base if base and estimate.median is not None else None
        at = {"cpu node": cpu, "memory node": memory} | ({"distance": away} if away is not None else {})
        points.append(point(estimate, {**at, "class": lie}, ratio))
        near.setdefault(lie, nearness(lie, away))
    classes = grouped(points, lambda each: str(each.at["class"]))
    yield NumaMatrix(
        **curve.identity(LAW, what, kind),
        points=tuple(points),
        what=what,
        classes=tuple(_class(lie, classes[lie]) for lie in sorted(near, key=lambda each: near[each])),
        agreement=_agreement(cells, nodes),
    )


def _class(name: str, points: Sequence[Point]) -> NodeClass:
    ratios, values = [each.ratio for each in points if each.ratio is not None], [each.value for each in points]
    usual = spread([each.value for each in values], values[0].unit)
    return NodeClass(name, usual, spread(ratios) if ratios else None)


def _agreement(cells: dict[tuple[int, int], Estimate], nodes: Nodes) -> RankCorrelation | None:
    """Compare the distances of firmware with their cost: latency, or negative bandwidth."""
    pairs = [
        (away, (estimate.median or 0.0) * (1 if estimate.better == "lower" else -1))
        for (cpu, memory), estimate in cells.items()
        if (away := nodes.distance(cpu, memory)) is not None
    ]
    if len({away for away, _ in pairs}) < _FEWEST_DISTANCES:
        return None
    return RankCorrelation(*kendall([away for away, _ in pairs], [cost for _, cost in pairs]))
