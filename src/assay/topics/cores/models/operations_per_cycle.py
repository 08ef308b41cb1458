"""Floating-point operations of a core in a cycle, by operation and width; rate and clock are both measured."""

from collections.abc import Iterable

from assay.analyse.clocks import Clocks
from assay.analyse.curves import RunEstimates, curves, figure, point
from assay.analyse.estimates import Measured
from assay.analyse.parts import part
from assay.model import roles
from assay.model.law import Model, Point
from assay.model.quantity import Quantity

LAW = "operations-per-cycle"


class OperationsPerCycle(Model, frozen=True, kw_only=True, tag=LAW):
    """Operations of one core in a cycle of the clock measured together with the same samples.

    This assumes nothing about its units. The value of each point is operations per cycle and core: each number of
    a vector counts, and a fused multiply-add counts as two.

    Attributes:
        most: the largest value of all points.
        cores: number of cores that worked.
    """

    most: Quantity
    cores: int


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit one model for each placement and precision."""
    clocks = Clocks(known)
    for curve in curves(known.of_role("flop-rate"), "mix", "width"):
        first = curve.members[0].estimate
        machine = known.machine(first)
        cores = len(part(first, machine.topology).cores) if machine else 0
        points = tuple(found for each in curve.members if (found := _point(each, cores, clocks)))
        if points:
            yield OperationsPerCycle(
                id="/".join([LAW, *curve.marks]),
                of=tuple(each.estimate for each in points),
                state=curve.state,
                points=points,
                most=max((each.value for each in points), key=lambda value: value.value),
                cores=cores,
            )


def _point(each: Measured, cores: int, clocks: Clocks) -> Point | None:
    """Return the point; None where the number of cores, their clock or the instructions are unknown."""
    estimate, clock = each.estimate, clocks.of_case(each.estimate)
    mix, width = (roles.level_of(estimate, axis) for axis in ("instruction-mix", "instruction-width"))
    if not cores or clock is None or mix is None or width is None:
        return None
    value = figure(estimate).times(clock.inverse("s"), "").over(cores)
    return point(estimate, {"mix": mix, "width": width}, None, value)
