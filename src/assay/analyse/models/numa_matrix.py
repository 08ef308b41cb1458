"""Bandwidth and latency between the cores of each memory node and the memory of each."""

import re
from collections.abc import Iterable, Sequence

from assay.analyse.comparisons import own_node
from assay.analyse.curves import Curve, Known, curves, figure, point
from assay.analyse.nodes import Nodes
from assay.analyse.statistics import kendall, medians
from assay.model.result import Estimate, Model

LAW = "numa-matrix"
_BOUND = re.compile(r"bind:(\d+)")
_INDEX = re.compile(r":\d+$")
#: With fewer different distances there is no rank to agree with.
_FEWEST_DISTANCES = 2


def fit(known: Known) -> Iterable[Model]:
    """One model for bandwidth and one for latency, for each kind of placement and words among the params."""
    for what, measured in (("bandwidth", known.of("stream", "triad")), ("latency", known.of("latency"))):
        bound = [each for each in measured if _cell(each.estimate, known)]
        for kind in dict.fromkeys(_kind(each.estimate) for each in bound):
            for curve in curves((each for each in bound if _kind(each.estimate) == kind), "label", "memory"):
                name = "/".join([LAW, what, kind, *curve.marks])
                yield from _matrix(name, curve, known)


def _kind(estimate: Estimate) -> str:
    """Placement without its index: `all:numa`."""
    return _INDEX.sub("", estimate.placement.label)


def _cell(estimate: Estimate, known: Known) -> tuple[int, int] | None:
    """(cpu node, memory node) of an estimate; None where its cpus or its memory are spread over several."""
    bound = _BOUND.fullmatch(estimate.placement.memory)
    own = own_node(estimate, known.run.machines)
    return (own, int(bound[1])) if bound and own is not None else None


def _matrix(name: str, curve: Curve, known: Known) -> Iterable[Model]:
    """Parameters: each class of cells (median, least and largest ratio to local; values); rank agreement."""
    cells = {cell: each.estimate for each in curve.members if (cell := _cell(each.estimate, known))}
    machine = known.machine(curve.members[0].estimate)
    if machine is None or len({memory for _, memory in cells}) < _FEWEST_DISTANCES:
        return
    nodes = Nodes(machine.topology)
    local = {cpu: estimate for (cpu, memory), estimate in cells.items() if cpu == memory}
    parameters: dict[str, tuple[float, float, float]] = {}
    points = []
    groups: dict[str, list[tuple[float | None, Estimate]]] = {}
    for (cpu, memory), estimate in sorted(cells.items()):
        kind, away = nodes.kind(cpu, memory), nodes.distance(cpu, memory)
        base = local[cpu].median if cpu in local else None
        ratio = estimate.median / base if base and estimate.median is not None else None
        at = {"cpu node": cpu, "memory node": memory} | ({"distance": away} if away is not None else {})
        points.append(point(estimate, {**at, "class": kind}, ratio))
        groups.setdefault(kind, []).append((ratio, estimate))
    for kind, group in groups.items():
        ratios = [ratio for ratio, _ in group if ratio is not None]
        if ratios:
            parameters[kind] = (float(medians(ratios)), min(ratios), max(ratios))
        values = [figure(estimate)[0] for _, estimate in group]
        parameters[f"{kind} value"] = (float(medians(values)), min(values), max(values))
    parameters |= _agreement(cells, nodes)
    of = tuple(each.id for each in cells.values())
    yield Model(name, LAW, of, parameters, None, points=tuple(points))


def _agreement(cells: dict[tuple[int, int], Estimate], nodes: Nodes) -> dict[str, tuple[float, float, float]]:
    """Kendall's tau-b of firmware's distances with what they cost (latency, or bandwidth with its sign turned), p.

    1: cells that firmware calls farther are never better. Nothing where firmware gives no distances.
    """
    pairs = [
        (away, _cost(estimate))
        for (cpu, memory), estimate in cells.items()
        if (away := nodes.distance(cpu, memory)) is not None
    ]
    if len({away for away, _ in pairs}) < _FEWEST_DISTANCES:
        return {}
    tau, p = kendall(*_columns(pairs))
    return {"tau": (tau, tau, tau), "tau p": (p, p, p)}


def _cost(estimate: Estimate) -> float:
    return (estimate.median or 0.0) * (1 if estimate.better == "lower" else -1)


def _columns(pairs: Sequence[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [away for away, _ in pairs], [cost for _, cost in pairs]
