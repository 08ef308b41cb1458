"""Ratios of two machines (clock, FMA peak, memory rate), and the figures that grew more than these."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.analyse.estimates import Measured
from assay.analyse.statistics import MARGIN
from assay.model import roles
from assay.model.compared import ComparedPair, Growth, Yardstick
from assay.model.comparison import Comparison
from assay.model.errors import UsageError
from assay.model.prices import price
from assay.model.quantity import Quantity, exact
from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.model.units import parse_quantity
from assay.report.statements import NO_SPEED

CLOCK, PEAK, MEMORY, PRICE = "clock", "FMA peak", "memory rate", "node price"
#: Whole machines before single cores.
_PLACES = ("all", "one-core")
_DOUBLE = "fp64"


class Figures(NamedTuple):
    """The figures of two machines whose ratio is a yardstick; `of`: the name of both."""

    name: str
    a: Measured
    b: Measured
    of: str


def figures(sides: tuple[Sequence[Measured], Sequence[Measured]]) -> list[Figures]:
    """Return the figures of the judged run and the base that are yardsticks, if both have them at one place."""
    wanted: tuple[tuple[str, Callable[[Estimate], bool], str], ...] = (
        (CLOCK, _is_clock, text("loaded clock")),
        (PEAK, _is_fma, text("fused multiply-adds")),
        (MEMORY, _is_main_of_memory, ""),
    )
    return [found for name, is_wanted, of in wanted if (found := _figures(name, sides, is_wanted, of))]


def yardsticks(
    runs: tuple[Run, Run],
    found: Iterable[Figures],
    judged: Mapping[tuple[str, str], Comparison | None],
    *,
    one_machine: bool = False,
) -> tuple[Yardstick, ...]:
    """Return the ratios of two machines, as far as both were measured at the same place or sources state them.

    Args:
        runs: the judged one, and the base.
        found: the figures of both.
        judged: the comparison of two figures, by the ids of their estimates.
        one_machine: whether both are of one kind of machine: only their prices may differ.
    """
    ratios = {each.name: _measured(each, comparison) for each in found if (comparison := judged.get(_key(each)))}
    stated = _stated(runs)
    if stated and not one_machine:
        ratios.setdefault(CLOCK, stated)
    if (cost := _prices(runs)) is not None:
        ratios[PRICE] = cost
    return tuple(ratios[name] for name in (CLOCK, PEAK, MEMORY, PRICE) if name in ratios)


def _prices(runs: tuple[Run, Run]) -> Yardstick | None:
    """The prices of a node, if both are stated in one currency."""
    a, b = map(price, runs)
    if a is None or b is None or a.currency != b.currency:
        return None
    ratio = exact(a.amount / b.amount, "")
    return Yardstick(PRICE, a.amount, b.amount, a.currency, ratio, stated=True, of=text("the user's assumption"))


def _key(each: Figures) -> tuple[str, str]:
    return each.a.estimate.id, each.b.estimate.id


def _measured(each: Figures, comparison: Comparison) -> Yardstick:
    a, b = (one.estimate.median or 0.0 for one in (each.a, each.b))
    return Yardstick(each.name, a, b, each.a.estimate.unit, comparison.value, stated=False, of=each.of)


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


def _figures(
    name: str, sides: tuple[Sequence[Measured], Sequence[Measured]], wanted: Callable[[Estimate], bool], of: str
) -> Figures | None:
    """The best figures of both at the first place that both have; `of`: their name, empty for their kernel."""
    for place in _PLACES:
        a, b = (max(_at(place, side, wanted), key=lambda each: each.estimate.rank, default=None) for side in sides)
        if a and b:
            return Figures(name, a, b, joined(", ", (of or a.estimate.kernel, place)))
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
