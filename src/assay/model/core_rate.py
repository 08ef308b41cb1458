"""Estimate of the peak floating-point rate of one core from its facts, before any measurement."""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

import msgspec

from assay.model.machine import Machine

#: Fused multiply-add units of a core and their width in bits, by archspec's name of the microarchitecture. From
#: the vendors' optimisation manuals; some processors of a family have one unit fewer, so it is an assumption.
_UNITS = {
    **dict.fromkeys(("haswell", "broadwell", "skylake", "zen2", "zen3", "zen4"), (2, 256)),
    **dict.fromkeys(("skylake_avx512", "cascadelake", "icelake", "sapphirerapids", "zen5", "a64fx"), (2, 512)),
    **dict.fromkeys(("neoverse_n1", "neoverse_n2"), (2, 128)),
    **dict.fromkeys(("neoverse_v1", "neoverse_v2"), (4, 128)),
    "zen": (2, 128),
}
_COMMON = (2, 512)
#: Vector width in bits by instruction set; the first one that the processor has counts.
_WIDTHS = (("avx512f", 512), ("avx", 256), ("sse2", 128))
_DOUBLE_BITS = 64

Clock = Literal["nominal", "highest", "now", "assumed"]
#: Source of the clock -> name of its fact, the best first.
_CLOCKS: Mapping[Clock, str] = {
    "nominal": "nominal frequency",
    "highest": "highest frequency",
    "now": "frequency now",
}


class Units(NamedTuple):
    """Fused multiply-add units of a core and their width; `of` is the microarchitecture, empty for a guess."""

    of_core: int
    bits: int
    of: str


def units(machine: Machine) -> Units:
    """The units of the microarchitecture if known, else the most common ones."""
    name = machine.fact("processor", "microarchitecture").value
    known = name if isinstance(name, str) and name in _UNITS else ""
    return Units(*_UNITS.get(known, _COMMON), known)


class CoreRate(msgspec.Struct, frozen=True):
    """Peak rate of one core in double precision. Plans use it for estimates; figures are never compared with it.

    Attributes:
        units: number of fused multiply-add units.
        bits: vector width of each unit.
        hertz: clock.
        clock: source of the clock; `now` may be that of an idle core.
        of: microarchitecture with such units; empty if they are assumed.
    """

    units: int = _COMMON[0]
    bits: int = 256
    hertz: float = 2.5e9
    clock: Clock = "assumed"
    of: str = ""

    @property
    def flops(self) -> float:
        """Operations per second, at most."""
        return 2 * self.units * (self.bits // _DOUBLE_BITS) * self.hertz


def core_rate(machine: Machine) -> CoreRate:
    """The rate from the expected units, limited to the width of its instructions, and the best known clock."""
    found, assumed = units(machine), CoreRate()
    instructions = machine.fact("processor", "vector instructions").value
    has = instructions if isinstance(instructions, list) else ()
    widest = next((bits for name, bits in _WIDTHS if name in has), found.bits if found.of else assumed.bits)
    hertz, clock = next(_clocks(machine), (assumed.hertz, assumed.clock))
    return CoreRate(found.of_core, min(found.bits, widest), hertz, clock, found.of)


def _clocks(machine: Machine) -> Iterator[tuple[float, Clock]]:
    """The known clocks, the best first."""
    for clock, name in _CLOCKS.items():
        value = machine.fact("processor", name).value
        if isinstance(value, int | float) and value > 0:
            yield float(value), clock
