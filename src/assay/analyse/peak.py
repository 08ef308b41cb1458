"""The theoretical peak of floating-point operations: cores x clock x units x lanes x 2, each with its source."""

import math
from typing import NamedTuple

from assay.analyse.bounds import Bounds
from assay.model import roles
from assay.model.core_rate import units
from assay.model.machine import Machine
from assay.model.result import Estimate
from assay.model.text import text
from assay.model.units import format_quantity

_BITS = {"fp64": 64, "fp32": 32}
#: Flops of one operation in one lane; divisions, square roots and mixes have no peak of this form.
_FLOPS = {"fma": 2, "add": 1, "multiply": 1}
#: Largest distance of the best rate from a whole number of units that proves this number. An assumption.
_NEAR = 0.05


class Units(NamedTuple):
    """Units of a core and their width; `why` is the source of both, `known` whether the microarchitecture is."""

    of_core: int
    bits: int
    why: str
    known: bool = False


class Rate(NamedTuple):
    """Flops per cycle of a placement at the width, precision and operation of an estimate, and its derivation."""

    per_cycle: float
    derivation: str


def _assumed(machine: Machine) -> Units:
    """Return the units of the microarchitecture, else those that most have: both are assumptions."""
    found = units(machine)
    if found.of:
        return Units(found.of_core, found.bits, text("assumed for {name}", name=found.of), known=True)
    name = machine.fact("processor", "microarchitecture").value
    unknown = str(name) if name else text("this microarchitecture")
    return Units(found.of_core, found.bits, text("assumed: {name} is not in the table", name=unknown))


def rate(estimate: Estimate, machine: Machine, bounds: Bounds) -> Rate | None:
    """Return the flops that the cores of an estimate can do in one cycle; None for mixes, divisions and roots.

    The best measured rate of cores of this kind shows the number of units that it needs at their clock under load:
    those that it keeps busy, or those of the microarchitecture where one unit less could not give it. Of a known
    microarchitecture fewer units are not believed: a rate can be low for other reasons. Of an unknown one only the
    measured rate tells the number: many processors do half as many operations of 512 bits.
    """
    flops = _FLOPS.get(str(roles.level_of(estimate, "instruction-mix")))
    bits = _BITS.get(roles.precision(estimate))
    if flops is None or bits is None or not estimate.placement.cpus:
        return None
    found = _assumed(machine)
    width = str(roles.level_of(estimate, "instruction-width"))
    used = int(width) if width.isdecimal() else bits
    lanes = used // bits
    turns = max(1, used // found.bits)
    cores = _cores(estimate, machine)
    a_cycle = _most_a_cycle(estimate, machine, bounds, lanes)
    if a_cycle and (proven := _proven(a_cycle, found.of_core / turns) if found.known else _needed(a_cycle)):
        found, turns = proven, 1
    derivation = text(
        "{cores} x {units} ({why}) x {lanes} / {turns} (units of {bits} bits) x {operation}"
        if turns > 1
        else "{cores} x {units} ({why}) x {lanes} x {operation}",
        cores=text("{count} core|{count} cores", count=cores),
        units=text("{count} unit|{count} units", count=round(found.of_core)),
        why=found.why,
        lanes=text("{count} lane|{count} lanes", count=lanes),
        turns=turns,
        bits=found.bits,
        operation=text("{count} flop|{count} flops", count=flops),
    )
    return Rate(cores * found.of_core * lanes / turns * flops, derivation)


def _cores(estimate: Estimate, machine: Machine) -> int:
    used = set(estimate.placement.cpus[0])
    return sum(1 for core in machine.topology.cores if used & set(core.cpus))


def _most_a_cycle(estimate: Estimate, machine: Machine, bounds: Bounds, lanes: int) -> float:
    """Return the most operations in a cycle and core, of all cores of its kind; 0 where no clock was measured."""
    most = 0.0
    for best in bounds.best_flops_each(estimate):
        clock, flops = bounds.loaded_clock(best), _FLOPS.get(str(roles.level_of(best, "instruction-mix")))
        if clock and flops and (cores := _cores(best, machine)):
            most = max(most, (best.median or 0.0) / (clock[0] * cores * lanes * flops))
    return most


def _proven(a_cycle: float, known: float) -> Units | None:
    """Return the units of a known microarchitecture that a rate proves; None if it proves fewer than those."""
    count = round(a_cycle)
    if not math.isclose(a_cycle, count, rel_tol=_NEAR):
        count = math.ceil(a_cycle)
        if count != known or a_cycle < (1 + 2 * _NEAR) * (count - 1):
            return None
    if count < known:
        return None
    return Units(count, 0, text("proven by {measured} operations per cycle and core", measured=f"{a_cycle:.2f}"))


def _needed(a_cycle: float) -> Units:
    """Return as many units as a rate needs."""
    count = math.ceil(a_cycle)
    if a_cycle < (1 + 2 * _NEAR) * (count - 1):  # clock and rate are not of the same moment
        count -= 1
    why = text("as many as {measured} operations per cycle and core need", measured=f"{a_cycle:.2f}")
    return Units(max(1, count), 0, why)


def nominal(machine: Machine) -> tuple[float, str] | None:
    """Return the nominal clock (without boost), and its source; None where it is unknown."""
    fact = machine.fact("processor", "nominal frequency")
    if not isinstance(fact.value, int | float) or not fact.value:
        return None
    clock = format_quantity(float(fact.value), "Hz")
    return float(fact.value), text("{clock} nominal ({source})", clock=clock, source=fact.source)
