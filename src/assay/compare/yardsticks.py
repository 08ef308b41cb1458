"""Ratios of two machines (clock, FMA peak, memory rate), and the figures that grew more than these."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from assay.analyse.comparisons.effects import compare_unpaired
from assay.analyse.estimates import Measured
from assay.analyse.history import BetweenRuns
from assay.analyse.statistics import MARGIN
from assay.model import roles
from assay.model.compared import ComparedPair, Growth, Yardstick
from assay.model.errors import UsageError
from assay.model.quantity import Quantity, exact
from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.model.units import parse_quantity
from assay.report.statements import NO_SPEED

CLOCK, PEAK, MEMORY = "clock", "FMA peak", "memory rate"
#: Whole machines before single cores.
_PLACES = ("all", "one-core")
_DOUBLE = "fp64"


def yardsticks(
    runs: tuple[Run, Run],
    sides: tuple[Sequence[Measured], Sequence[Measured]],
    between: BetweenRuns | None = None,
) -> tuple[Yardstick, ...]:
    """Return the ratios of two machines, as far as both were measured at the same place or sources state them.

    Args:
        runs: the judged one, and the base.
        sides: the headline figures of both.
        between: the variance from run to run; None if it is unknown.
    """
    found = [
        _measured(CLOCK, sides, between, _is_clock, text("loaded clock")) or _stated(runs),
        _measured(PEAK, sides, between, _is_fma, text("fused multiply-adds")),
        _measured(MEMORY, sides, between, _is_main_of_memory, ""),
    ]
    return tuple(each for each in found if each)


def growth(pairs: Iterable[ComparedPair], found: Sequence[Yardstick]) -> dict[str, dict[str, Growth]]:
    """Return, by id of a comparison of speeds and by yardstick, whether the speed-up is larger."""
    return {
        pair.comparison.id: {each.name: _grown(speed_up(pair), each.ratio) for each in found}
        for pair in pairs
        if found and pair.a.unit not in NO_SPEED
    }


def speed_up(pair: ComparedPair) -> Quantity:
    """Return the speed of the judged one over that of the base."""
    ratio = pair.comparison.value
    return ratio if pair.a.better == "higher" else ratio.inverse("")


def _grown(grew: Quantity, by: Quantity) -> Growth:
    margin = 1 + MARGIN
    if grew.lo > by.hi * margin:
        return "more"
    if grew.hi * margin < by.lo:
        return "less"
    return "equal" if grew.hi <= by.hi * margin and grew.lo * margin >= by.lo else "open"


def _is_clock(estimate: Estimate) -> bool:
    return roles.role(estimate) in {"loaded-clock", "clock"}


def _is_fma(estimate: Estimate) -> bool:
    fused = roles.has_level(estimate.declared, estimate.params, "fused")
    return roles.role(estimate) == "flop-rate" and fused and roles.precision(estimate) == _DOUBLE


def _is_main_of_memory(estimate: Estimate) -> bool:
    return roles.role(estimate) == "memory-rate" and roles.is_main(estimate)


def _measured(
    name: str,
    sides: tuple[Sequence[Measured], Sequence[Measured]],
    between: BetweenRuns | None,
    wanted: Callable[[Estimate], bool],
    of: str,
) -> Yardstick | None:
    """The best figures of both at the first place that both have; `of`: their name, empty for their kernel."""
    for place in _PLACES:
        best = [
            max(_at(place, side, wanted), key=lambda each: each.estimate.merit, default=None) for side in sides
        ]
        if best[0] and best[1] and (comparison := compare_unpaired(best[0], best[1], between)):
            a, b = (each.estimate.median or 0.0 for each in best if each)
            of = joined(", ", (of or best[0].estimate.kernel, place))
            return Yardstick(name, a, b, best[0].estimate.unit, comparison.value, stated=False, of=of)
    return None


def _at(place: str, side: Sequence[Measured], wanted: Callable[[Estimate], bool]) -> Iterator[Measured]:
    return (
        each for each in side if each.launches and each.estimate.placement.label == place and wanted(each.estimate)
    )


def _stated(runs: tuple[Run, Run]) -> Yardstick | None:
    """The nominal clocks, if both are known."""
    a, b = map(_nominal, runs)
    return Yardstick(CLOCK, a, b, "Hz", exact(a / b, ""), stated=True, of=text("nominal")) if a and b else None


def _nominal(run: Run) -> float:
    """The nominal clock in Hz from the facts; 0 if it is unknown."""
    facts = [run.imported.facts] if run.imported else [machine.facts for machine in run.machines.values()]
    fact = next((each.get("processor", {}).get("nominal frequency") for each in facts), None)
    if fact is None or not fact.known:
        return 0.0
    if isinstance(fact.value, int | float):
        return float(fact.value)
    try:
        value, unit = parse_quantity(str(fact.value))
    except UsageError:
        return 0.0
    return value if unit == "Hz" else 0.0
