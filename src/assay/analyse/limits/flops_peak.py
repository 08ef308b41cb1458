"""Floating-point operations per second: what units and clock allow."""

from assay.analyse.bounds import Bounds, Law, describe
from assay.analyse.peak import nominal, rate
from assay.model.result import Estimate, Limit

#: An assumed number of units that a figure exceeds by more is wrong: turbo explains so much above the nominal
#: clock, nothing explains more than scatter above the clock under load.
_MOST_TURBO, _SCATTER = 1.6, 1.05


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Flops a cycle x the nominal clock, else x the clock measured under load, else the best of this run."""
    machine = bounds.machine(estimate)
    per_cycle = rate(estimate, machine) if machine else None
    if machine and per_cycle:
        promised = nominal(machine)
        clock, most = (promised, _MOST_TURBO) if promised else (bounds.loaded_clock(estimate), _SCATTER)
        if clock and (estimate.median or 0.0) <= most * per_cycle.per_cycle * clock[0]:
            return Limit(per_cycle.per_cycle * clock[0], "derived", f"{per_cycle.derivation} x {clock[1]}")
    best = bounds.best_flops(estimate)
    if best is None or best.median is None:
        return None
    return Limit(best.median, "measured", f"the best measured on these cores in this run ({describe(best)})")


law = Law(("flops-peak",), _limit)
