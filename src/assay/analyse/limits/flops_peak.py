"""Floating-point operations per second: what units and clock allow."""

from assay.analyse.bounds import Bounds, Law, describe
from assay.analyse.peak import nominal, rate
from assay.model.result import Estimate, Limit
from assay.model.units import format_quantity

#: An assumed number of units that a figure exceeds by more than turbo explains is wrong.
_MOST_TURBO = 1.6


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Flops a cycle x the nominal clock, else x the clock measured under load, else the best of this run."""
    machine = bounds.machine(estimate)
    per_cycle = rate(estimate, machine) if machine else None
    if machine and per_cycle:
        clock = nominal(machine) or _loaded(estimate, bounds)
        if clock and (estimate.median or 0.0) <= _MOST_TURBO * per_cycle.per_cycle * clock[0]:
            return Limit(per_cycle.per_cycle * clock[0], "derived", f"{per_cycle.derivation} x {clock[1]}")
    best = bounds.best_flops(estimate)
    if best is None or best.median is None:
        return None
    return Limit(best.median, "measured", f"the best of this run on these cores ({describe(best)})")


def _loaded(estimate: Estimate, bounds: Bounds) -> tuple[float, str] | None:
    clock = bounds.loaded_clock(estimate)
    if clock is None or clock.median is None:
        return None
    return clock.median, f"{format_quantity(clock.median, 'Hz')} (clock under load, measured in this run)"


law = Law(("flops-peak",), _limit)
