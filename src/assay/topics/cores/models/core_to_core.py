"""Time of a cache-line transfer between two cores, by what they share."""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from assay.analyse.curves import Curve, RunEstimates, curves, figure, point, replicates, spread, with_ends
from assay.analyse.estimates import Measured
from assay.analyse.statistics import medians
from assay.model.grouping import grouped
from assay.model.law import Model
from assay.model.machine import Core, Machine
from assay.model.quantity import Quantity
from assay.model.result import Estimate
from assay.model.text import text

LAW = "core-to-core"
_PAIR = 2
#: What two cores share, nearest first, and its name.
_SHARED = (
    ("index", text("same core")),
    ("l3", text("same L3")),
    ("numa", text("same node")),
    ("package", text("same socket")),
)
_FAR = text("other socket")


class PairClass(msgspec.Struct, frozen=True):
    """Pairs of cpus that share the same unit.

    Attributes:
        name: what they share, e.g. `same L3`.
        time: of a transfer, in s: median over the pairs, with the fastest and the slowest pair.
        median: the same median, with the ends that launches give it.
    """

    name: str
    time: Quantity
    median: Quantity


class CoreToCore(Model, frozen=True, kw_only=True, tag=LAW):
    """Cache-line transfers by what two cpus share.

    Attributes:
        classes: the nearest first.
    """

    classes: tuple[PairClass, ...]

    @property
    def headline(self) -> Quantity:
        """Time of the nearest class."""
        return self.classes[0].time


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for all pairs of a run."""
    pairs = [each for each in known.of_role("hand-over-time") if len(each.estimate.placement.cpus[0]) == _PAIR]
    for curve in curves(pairs, "label"):
        machine = known.machine(curve.members[0].estimate)
        if machine:
            yield _model(curve, machine)


def _model(curve: Curve, machine: Machine) -> Model:
    cores = {cpu: core for core in machine.topology.cores for cpu in core.cpus}
    kinds = {each.estimate.id: _class(each.estimate, cores) for each in curve.members}
    of_kind = grouped(curve.members, lambda each: kinds[each.estimate.id])
    order: list[str] = [*(name for _, name in _SHARED), _FAR]
    classes = {kind: _pairs(kind, of_kind[kind]) for kind in sorted(of_kind, key=order.index)}
    points = tuple(
        point(
            each.estimate,
            {"a": each.estimate.placement.cpus[0][0], "b": each.estimate.placement.cpus[0][1], "class": kind},
            (each.estimate.median or 0.0) / classes[kind].time.value,
        )
        for each in curve.members
        for kind in [kinds[each.estimate.id]]
    )
    residual = max(abs(each.ratio - 1) for each in points if each.ratio is not None)
    return CoreToCore(**curve.identity(LAW), residual=residual, points=points, classes=tuple(classes.values()))


def _pairs(kind: str, members: Sequence[Measured]) -> PairClass:
    """Return the class of these pairs; the ends of a single pair are its own."""
    time = spread([each.estimate.median or 0.0 for each in members], "s")
    if len(members) == 1:
        return PairClass(kind, time, figure(members[0].estimate))
    draws, basis = replicates(members)
    # The median pair of each of a few launches may be another one, all beyond the median of the medians.
    return PairClass(kind, time, with_ends(time.value, np.append(medians(draws), time.value), basis, "s"))


def _class(estimate: Estimate, cores: dict[int, Core]) -> str:
    """Return what the two cpus share."""
    one, other = (cores.get(cpu) for cpu in estimate.placement.cpus[0])
    same = (kind for name, kind in _SHARED if one and other and getattr(one, name) == getattr(other, name))
    return next(same, _FAR)
