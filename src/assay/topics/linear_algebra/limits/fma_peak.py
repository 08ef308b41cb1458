"""A library's rate of operations: the rate that the same cores reach in registers, measured in this run."""

from assay.analyse.bounds import Bounds, Law, describe
from assay.analyse.parts import part, scope_of_cores
from assay.model.result import Estimate, Limit
from assay.model.text import text


def peaks(estimate: Estimate, bounds: Bounds) -> list[Estimate]:
    """The best rates in registers in its precision, on its cores of each host; none where one was not measured."""
    found = [bounds.best_flops(each) for each in estimate.by_host]
    known = [each for each in found if each and each.median]
    return known if len(known) == len(found) else []


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """The peaks of all of its hosts together."""
    best, machine = peaks(estimate, bounds), bounds.machine(estimate)
    if not best:
        return None
    which = describe(best[0])
    scope = scope_of_cores(part(estimate, machine.topology).cores, machine.topology) if machine else "cores"
    value = sum(each.median or 0.0 for each in best)
    if len(best) == 1:
        of = text("the best rate in registers on these cores ({which})", which=which)
        return Limit(value, "measured", of, "flop-rate", scope, measured_by=best[0].id)
    of = text(
        "the sum of the best rates in registers on these cores of each of {count} nodes ({which})",
        count=len(best),
        which=which,
    )
    return Limit(value, "measured", of, "flop-rate", scope if scope == "machine" else "cores")


law = Law(("fma-peak",), _limit)
