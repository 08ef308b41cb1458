"""Floating-point operations per second: limited by units and clock."""

from assay.analyse.bounds import MOST_SHARE, Bounds, Law, describe
from assay.analyse.parts import part, scope_of_cores
from assay.analyse.peak import nominal, rate
from assay.model.machine import Machine
from assay.model.result import Estimate, Limit, Scope
from assay.model.text import joined, text
from assay.model.units import format_quantity
from assay.topics.cores.benchmarks.flops import OF_OWN_UNIT

#: A figure that exceeds the peak at the nominal clock by more disproves the number of units: turbo is less.
_MOST_TURBO = 1.6


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Return flops per cycle x the nominal clock, else x the clock under load, else the best rate of this run.

    Divisions and roots are compared with the best of their own kind, of any width.

    The peak at the nominal clock is a reference, since turbo may exceed it. A peak that the figure exceeds by more
    is not used, and the limit says so.
    """
    unused: str = ""
    machine = bounds.machine(estimate)
    scope = scope_of(estimate, machine)
    per_cycle = rate(estimate, machine, bounds) if machine else None
    if machine and per_cycle:
        promised = nominal(machine)
        clock, most = (promised, _MOST_TURBO) if promised else (bounds.loaded_clock(estimate), MOST_SHARE)
        if clock:
            of = text("{work} x {clock}", work=per_cycle.derivation, clock=clock[1])
            value = per_cycle.per_cycle * clock[0]
            peak = Limit(value, "derived", of, "flop-rate", scope, reference=clock is promised)
            if (estimate.median or 0.0) <= most * peak.value:
                return peak
            unused = text(
                "more than {peak}, {of}, so this limit is not used",
                peak=format_quantity(peak.value, estimate.unit),
                of=peak.of,
            )
    own = estimate.params.get("mix") in OF_OWN_UNIT
    best = bounds.best_of_mix(estimate) if own else bounds.best_flops(estimate)
    if best is None or best.median is None:
        return None
    of = text("the best measured on these cores in this run ({which})", which=describe(best))
    return Limit(best.median, "measured", joined("; ", (of, unused)), "flop-rate", scope, measured_by=best.id)


def scope_of(estimate: Estimate, machine: Machine | None) -> Scope:
    """Return which part of the machine the cores of an estimate are."""
    if machine is None:
        return "cores"
    return scope_of_cores(part(estimate, machine.topology).cores, machine.topology)


def _given(estimate: Estimate, bounds: Bounds, given: Limit) -> Limit | None:
    """Return the part of a limit given for all cores: the share of the used ones, where all are of one kind."""
    machine = bounds.machine(estimate)
    if machine is None:
        return None
    every = machine.topology.cores
    used = len(part(estimate, machine.topology).cores)
    if used == len(every):
        return given
    if not used or len({core.kind for core in every}) > 1:
        return None
    of = text("{of}, {used} of {all} cores", of=given.of, used=used, all=len(every))
    return Limit(given.value * used / len(every), given.source, of, given.kind, scope_of(estimate, machine))


law = Law(("flops-peak",), _limit, given=_given)
