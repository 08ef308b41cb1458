"""A library's rate of operations: the rate that the same cores reach in registers, measured in this run."""

from assay.analyse.bounds import Bounds, Law, describe
from assay.analyse.parts import part, scope_of_cores
from assay.model.result import Estimate, Limit
from assay.model.text import text


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """The best rate in registers on these cores in this precision; None where none was measured."""
    best, machine = bounds.best_flops(estimate), bounds.machine(estimate)
    if best is None or best.median is None:
        return None
    of = text("the best rate in registers on these cores ({which})", which=describe(best))
    scope = scope_of_cores(part(estimate, machine.topology).cores, machine.topology) if machine else "cores"
    return Limit(best.median, "measured", of, "flop-rate", scope, measured_by=best.id)


law = Law(("fma-peak",), _limit)
