"""How long cores take to hand over a cache line, by what lies between them."""

from collections.abc import Iterable

from assay.analyse.curves import Curve, Known, curves, point
from assay.analyse.statistics import medians
from assay.model.machine import Core, Machine
from assay.model.result import Estimate, Model
from assay.model.text import text

LAW = "core-to-core"
_PAIR = 2
#: What two cores share, nearest first, and how it is called.
_SHARED = (
    ("index", text("same core")),
    ("l3", text("same L3")),
    ("numa", text("same node")),
    ("package", text("same socket")),
)
_FAR = text("other socket")


def fit(known: Known) -> Iterable[Model]:
    """One model for all pairs of a run."""
    pairs = [each for each in known.of("core_to_core") if len(each.estimate.placement.cpus[0]) == _PAIR]
    for curve in curves(pairs, "label"):
        machine = known.machine(curve.members[0].estimate)
        if machine:
            yield _model(curve, machine)


def _model(curve: Curve, machine: Machine) -> Model:
    """Parameters: for each class of pairs the median of their medians, the least and the largest."""
    cores = {cpu: core for core in machine.topology.cores for cpu in core.cpus}
    of_pair = [(each.estimate, _class(each.estimate, cores)) for each in curve.members]
    values: dict[str, list[float]] = {}
    for estimate, kind in of_pair:
        values.setdefault(kind, []).append(estimate.median or 0.0)
    order: list[str] = [*(name for _, name in _SHARED), _FAR]
    parameters = {
        kind: (float(medians(values[kind])), min(values[kind]), max(values[kind]))
        for kind in sorted(values, key=order.index)
    }
    points = tuple(
        point(
            estimate,
            {"a": estimate.placement.cpus[0][0], "b": estimate.placement.cpus[0][1], "class": kind},
            (estimate.median or 0.0) / parameters[kind][0],
        )
        for estimate, kind in of_pair
    )
    residual = max(abs(each.ratio - 1) for each in points if each.ratio is not None)
    of = tuple(estimate.id for estimate, _ in of_pair)
    return Model("/".join([LAW, *curve.marks]), LAW, of, parameters, residual, points=points)


def _class(estimate: Estimate, cores: dict[int, Core]) -> str:
    """What the two cpus share."""
    one, other = (cores.get(cpu) for cpu in estimate.placement.cpus[0])
    for name, kind in _SHARED:
        if one and other and getattr(one, name) == getattr(other, name):
            return kind
    return _FAR
