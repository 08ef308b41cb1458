"""The limit of a library's rate of operations: the rate of the same cores in registers, measured in this run."""

from assay.analyse.bounds import Bounds, Law, describe
from assay.analyse.parts import part, scope_of_cores
from assay.model.result import Estimate, Limit
from assay.model.text import text


def peaks(estimate: Estimate, bounds: Bounds) -> list[Estimate]:
    """Return the best rate in registers on its cores of each host, in its precision; none where one is missing."""
    best = [bounds.best_flops(each) for each in estimate.by_host]
    known = [each for each in best if each and each.median]
    return known if len(known) == len(best) else []


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Return the sum of the peaks of its hosts."""
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
