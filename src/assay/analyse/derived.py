"""Figures that follow from others, as publications state them: shares, losses, speed-ups, differences.

A derivation describes its operands as figures, not by name. `select` finds them in any run or reference: as two
figures of two systems meet. `evaluate` computes the figure with its interval: block by block where both operands
were measured in the same blocks.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

import msgspec

from assay.analyse import aspects, imported, matching, taken
from assay.analyse.curves import headline
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.statistics import median_interval
from assay.model.derivation import Derivation, Operand
from assay.model.grouping import grouped
from assay.model.imported import UNSTATED, Figure, Table
from assay.model.left_out import Folded, LeftOut
from assay.model.measurands import FACTOR_ROLES
from assay.model.placement import parsed
from assay.model.quantity import Quantity, exact
from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.text import text

#: Of the nodes, the one whose best figure is worst.
WORST_NODE = "worst node"
_SYSTEM, _TWO = "system", 2
#: Word for a level of a factor whose levels differ from system to system -> the level among those of a run.
_OF_VARIED: Mapping[str, Callable[[Sequence[str]], str]] = {
    "any": lambda _levels: "",
    "largest": lambda levels: max(levels, key=_number),
    "smallest": lambda levels: min(levels, key=_number),
}


def _number(level: str) -> float:
    return float(level) if level.replace(".", "", 1).isdigit() else 0.0


class MissingError(Exception):
    """A derived figure that a system does not have; the message is the reason."""


class Figures(NamedTuple):
    """The figures of a run or of a reference, in which operands are looked for.

    Attributes:
        run: that has them.
        measured: headline figures.
        networks: network as a reference names it -> the one of this run that is taken for it.
        exact: whether operands are found by the words that the source has, not by what these mean.
    """

    run: Run
    measured: Sequence[Measured]
    networks: Mapping[str, str] = {}
    exact: bool = False


class Value(NamedTuple):
    """An operand, or what follows from operands.

    Attributes:
        quantity: with its ends.
        launches: its values launch by launch; one for an imported or an exact value.
        of: ids of the estimates that it was computed from.
    """

    quantity: Quantity
    launches: tuple[LaunchMedian, ...]
    of: tuple[str, ...] = ()


def of_reference(run: Run) -> Figures:
    """Return the figures that a reference or an import states itself."""
    if run.imported is None:
        return Figures(run, ())
    return Figures(run, imported.measured(run, run.imported), exact=True)


def select(figures: Figures, operand: Operand) -> list[Measured]:
    """Return the figures that an operand describes, the best first; of those that fit only in part the nearest.

    Raises:
        MissingError: there is none.
    """
    if figures.exact:
        stated = [each for each in figures.measured if each.launches and _is_stated(operand, each.estimate)]
        if not stated:
            raise MissingError(_why(operand, figures.run))
        return sorted(stated, key=lambda each: -each.estimate.merit)
    words = parsed(operand.placement).each_over
    if len(words) > 1:
        found = [each for word in words for each in _some(figures, operand, word)]
        if not found:
            raise MissingError(_why(operand, figures.run))
        return found
    seeking = _described(operand, figures)
    fitting = [
        (price, each)
        for each in figures.measured
        if each.launches
        and _quantity(each.estimate) == _quantity(seeking)
        and _has_levels(operand, each.estimate, figures.run)
        and aspects.is_where(operand, each.estimate, figures.run)
        and _is_part(operand, each.estimate)
        and _is_layout(operand, each.estimate, figures.run)
        and (price := matching.cost(seeking, each.estimate)) is not None
    ]
    if not fitting:
        raise MissingError(_why(operand, figures.run))
    least = min(price for price, _ in fitting)
    nearest = [each for price, each in fitting if price == least]
    return sorted(nearest, key=lambda each: -each.estimate.merit)


def _is_stated(operand: Operand, estimate: Estimate) -> bool:
    """Whether a printed figure has the words of an operand; derived ones by their metric."""
    words = (
        (operand.kernel or estimate.kernel, estimate.kernel),
        (operand.metric or headline(estimate), estimate.metric),
        (operand.placement or estimate.placement.label, estimate.placement.label),
        (operand.memory or estimate.placement.memory, estimate.placement.memory),
    )
    return (
        operand.benchmark == estimate.benchmark
        and all(wanted == found for wanted, found in words)
        and operand.params.items() <= estimate.params.items()
        and operand.factors.items() <= estimate.factors.items()
    )


def _some(figures: Figures, operand: Operand, word: str) -> list[Measured]:
    """The same at one of several numbers of nodes; none where there is none."""
    try:
        return select(figures, msgspec.structs.replace(operand, placement=word))
    except MissingError:
        return []


def evaluate(
    derivation: Derivation, figures: Figures, others: Mapping[str, Figures] = {}, unit: str | None = None
) -> Value:
    """Return the figure that follows from those of a run or a reference.

    Args:
        derivation: how.
        figures: of the system.
        others: name of another reference -> its figures.
        unit: of the result; None: that of the operands, or none of a ratio.

    Raises:
        MissingError: an operand has no figure, or they have no such relation.
    """
    systems = sorted({operand.factors.get(_SYSTEM, "") for operand in derivation.operands})
    if len(systems) > 1 and not figures.exact and _SYSTEM not in {each.name for each in figures.run.plan.factors}:
        raise MissingError(text("it needs two operating systems: {a} and {b}", a=systems[0], b=systems[1]))
    for operand in derivation.operands:
        _system(operand, figures, others)
    if derivation.operation == "best at":
        return _best_at(derivation, figures)
    if derivation.along:
        return _extreme(derivation, figures, others)
    a, *b = (value(operand, figures, others) for operand in derivation.operands)
    if not b:
        return a
    return _combined(derivation.operation, a, b[0], unit)


def value(operand: Operand, figures: Figures, others: Mapping[str, Figures] = {}) -> Value:
    """Return the value of an operand; raises as `evaluate`."""
    figures = _system(operand, figures, others)
    if operand.aspect in aspects.OF_MACHINES:
        return _exact(aspects.of_machine(operand, figures.run))
    found = select(figures, operand)
    return _value(_taken(operand, found), operand, figures.run)


def _system(operand: Operand, figures: Figures, others: Mapping[str, Figures]) -> Figures:
    """The figures of the system that an operand is of."""
    if operand.reference and operand.reference not in others:
        raise MissingError(text("it needs the other system: {name}", name=operand.reference))
    return others[operand.reference] if operand.reference else figures


def _taken(operand: Operand, found: Sequence[Measured]) -> Measured:
    """One of several: the best, the worst, or the one at the largest value of an axis."""
    if operand.take in {"best", "worst"}:
        return found[0 if operand.take == "best" else -1]
    if operand.take == WORST_NODE:
        nodes = grouped(found, lambda each: each.estimate.placement.hosts)
        if len(nodes) == 1:
            raise MissingError(text("it needs several nodes"))
        return [of_node[0] for of_node in nodes.values()][-1]
    return max(found, key=lambda each: aspects.coordinate(each.estimate, operand.take))


def _value(measured: Measured, operand: Operand, run: Run) -> Value:
    estimate = measured.estimate
    if operand.aspect != "value":
        quantity = aspects.of_estimate(operand, estimate, run)
        return _exact(quantity, (estimate.id,))
    quantity = estimate.value or exact(0.0)
    launches = measured.launches
    if operand.per:
        count = aspects.processors(operand, estimate, run)
        quantity = quantity.over(count, quantity.unit)
        launches = tuple(msgspec.structs.replace(one, value=one.value / count) for one in launches)
    return Value(quantity, launches, (estimate.id,))


def _exact(quantity: Quantity | str, of: tuple[str, ...] = ()) -> Value:
    if isinstance(quantity, str):
        raise MissingError(quantity)
    return Value(quantity, (LaunchMedian(0, None, quantity.value),), of)


_OPERATIONS: Mapping[str, Callable[[float, float], float]] = {
    "ratio": lambda a, b: a / b,
    "difference": lambda a, b: a - b,
    "lowest": lambda a, b: a / b,
    "highest": lambda a, b: a / b,
}


def _combined(operation: str, a: Value, b: Value, unit: str | None = None) -> Value:
    """Combine two operands block by block; without common blocks their ends, which says more than it must."""
    combine = _OPERATIONS[operation]
    unit = (a.quantity.unit if operation == "difference" else "") if unit is None else unit
    if operation != "difference" and not b.quantity.lo > 0:
        raise MissingError(text("the base of the ratio is 0"))
    of = (*a.of, *b.of)
    whole = combine(a.quantity.value, b.quantity.value)
    if "imported" in {a.quantity.basis, b.quantity.basis} and not (a.quantity.has_ends or b.quantity.has_ends):
        return Value(Quantity(whole, whole, whole, unit, "imported"), (LaunchMedian(0, None, whole),), of)
    if both := _blocks(a, b):
        launches = tuple(LaunchMedian(block, None, combine(*values)) for block, values in both.items())
        return Value(median_interval([each.value for each in launches], unit), launches, of)
    ends = sorted(combine(x, y) for x in a.quantity.parts[1:] for y in b.quantity.parts[1:])
    quantity = Quantity(whole, ends[0], ends[-1], unit, "derived" if ends[0] < ends[-1] else "single")
    return Value(quantity, (LaunchMedian(0, None, whole),), of)


def _blocks(a: Value, b: Value) -> dict[int, tuple[float, float]]:
    """Block -> both values, of the common blocks; an exact value is that of each block of the other operand."""
    of_a, of_b = (
        {block: median(one.value for one in of) for block, of in grouped(each.launches, _block).items()}
        for each in (a, b)
    )
    if b.quantity.basis == "single" and len(of_b) == 1:
        of_b = dict.fromkeys(of_a, b.quantity.value)
    elif a.quantity.basis == "single" and len(of_a) == 1:
        of_a = dict.fromkeys(of_b, a.quantity.value)
    return {block: (of_a[block], of_b[block]) for block in sorted(of_a.keys() & of_b.keys())}


def _block(launch: LaunchMedian) -> int:
    return launch.block


def _along(derivation: Derivation, operand: Operand, figures: Figures) -> dict[float, Measured]:
    """Value of the axis -> the best figure there, in ascending order."""
    found = grouped(select(figures, operand), lambda each: aspects.coordinate(each.estimate, derivation.along))
    return {at: found[at][0] for at in sorted(found)}


def _best_at(derivation: Derivation, figures: Figures) -> Value:
    found = _along(derivation, derivation.a, figures)
    best = max(found, key=lambda at: found[at].estimate.merit)
    if len(found) == 1:
        raise MissingError(text("it was measured at one value of {axis} only", axis=derivation.along))
    of, ends = tuple(each.estimate.id for each in found.values()), found[best].estimate.value
    if ends is None or not ends.has_ends:
        return _exact(exact(best), of)
    equal = [at for at in found if _may_equal(found[at].estimate.value, ends)]
    quantity = Quantity(best, min(equal), max(equal), basis="interval" if ends.has_interval else "range")
    return Value(quantity, (LaunchMedian(0, None, best),), of)


def _may_equal(one: Quantity | None, other: Quantity) -> bool:
    """Whether the ends of two figures overlap, so that either may be the better one."""
    return one is not None and one.lo <= other.hi and other.lo <= one.hi


def _extreme(derivation: Derivation, figures: Figures, others: Mapping[str, Figures]) -> Value:
    """The lowest or highest ratio over all values of an axis that both have."""
    a, b = derivation.operands
    sides = [_system(each, figures, others) for each in (a, b)]
    of_a, of_b = (_along(derivation, each, side) for each, side in zip((a, b), sides, strict=True))
    ratios = [
        _combined("ratio", _value(of_a[at], a, sides[0].run), _value(of_b[at], b, sides[1].run))
        for at in of_a.keys() & of_b.keys()
    ]
    if not ratios:
        raise MissingError(text("the two have no value of {axis} in common", axis=derivation.along))
    extreme = min if derivation.operation == "lowest" else max
    return extreme(ratios, key=lambda each: each.quantity.value)


def figures_of(reference: Run, own: Figures) -> list[tuple[Measured, Measured | str]]:
    """Return the derived figures of a reference, each with that of a run, or the reason why it has none.

    Both have one measurand.
    """
    if reference.imported is None:
        return []
    printed = imported.measured(reference, reference.imported)
    return [
        (each, _own(each.estimate, derivation, own))
        for each in printed
        if (derivation := each.estimate.derivation) and each.launches
    ]


def _own(printed: Estimate, derivation: Derivation, own: Figures) -> Measured | str:
    try:
        found = evaluate(derivation, own, unit=printed.unit)
    except MissingError as missing:
        return str(missing.args[0])
    if found.quantity.value <= 0:
        return text("it has the opposite sign here: {value}", value=f"{found.quantity.value:.3g} {printed.unit}")
    launches = len(found.launches) if found.quantity.has_ends else 0
    estimate = msgspec.structs.replace(
        printed,
        value=found.quantity,
        launches=launches,
        printed=None,
        limit=None,
        reason=None,
    )
    return Measured(estimate, found.launches)


def _quantity(estimate: Estimate) -> tuple[str, str, str]:
    return estimate.measurand.program, estimate.measurand.kernel, estimate.measurand.metric


def _described(operand: Operand, figures: Figures) -> Estimate:
    """An estimate without a value, of what an operand describes, as if a source had stated it."""
    declared = figures.run.plan.declared(operand.benchmark)
    if not declared.is_known:
        raise MissingError(_why(operand, figures.run))
    kernel = operand.kernel or declared.main_kernel
    metric = operand.metric or declared.headline_name(kernel, operand.params, "")
    unit = next((each.unit for each in declared.metrics if each.name == metric), "")
    figure = Figure(kernel, metric, unit, 1.0, "1")
    any_memory = operand.memory.endswith("*")
    table = Table(
        source="",
        where="",
        tool="",
        benchmark=operand.benchmark,
        figures=(figure,),
        params=operand.params,
        factors=_levels(operand, figures),
        placement=operand.placement or UNSTATED,
        memory="first-touch" if any_memory else operand.memory or "first-touch",
    )
    (found,) = imported.estimates_of(table, declared)
    if any_memory:
        places = msgspec.structs.replace(found.measurand.places, memory=UNSTATED)
        found = msgspec.structs.replace(found, measurand=msgspec.structs.replace(found.measurand, places=places))
    return found


def _levels(operand: Operand, figures: Figures) -> dict[str, str]:
    """Levels of factors, with the names of this system's networks."""
    name = operand.factors.get(taken.NETWORK, "")
    chosen = {each: level for each, level in operand.factors.items() if each != taken.NETWORK}
    others = {each: level for each, varied in chosen.items() if (level := _level(each, varied, figures.run))}
    if name in {"fastest", "slowest"}:
        networks = taken.by_rate(figures.measured)
        if len(networks) <= 1 and figures.run.imported:
            return others
        if len(networks) <= 1:
            raise MissingError(text("it needs two networks: --vary network=NAME,NAME"))
        return {**others, taken.NETWORK: networks[0 if name == "fastest" else -1]}
    own = figures.networks.get(name, name)
    return others | ({taken.NETWORK: own} if own and own != UNSTATED else {})


def _level(factor: str, wanted: str, run: Run) -> str:
    """The level of a factor: `largest` and `smallest` of those that were varied; empty for `any` of them."""
    if wanted not in _OF_VARIED:
        return wanted
    levels = next((each.levels for each in run.plan.factors if each.name == factor), ())
    if len(levels) < _TWO:
        raise MissingError(text("{factor} was not varied: --vary {factor}", factor=factor))
    return _OF_VARIED[wanted](levels)


def _has_levels(operand: Operand, estimate: Estimate, run: Run) -> bool:
    """Whether a figure is at the levels that an operand names; parts of the system meet by role elsewhere."""
    if run.imported:
        return True
    others = {name: level for name, level in operand.factors.items() if name not in FACTOR_ROLES}
    wanted = {name: own for name, level in others.items() if (own := _level(name, level, run))}
    return wanted.items() <= estimate.factors.items()


def _is_part(operand: Operand, estimate: Estimate) -> bool:
    """Whether a figure is of a part of the kind that the word names, if it names no certain one."""
    word = parsed(operand.placement)
    if word.form != "group" or word.index is not None:
        return True
    return estimate.measurand.places.part.startswith(word.group)


def _is_layout(operand: Operand, estimate: Estimate, run: Run) -> bool:
    """Whether a printed figure is of the ranks that an operand counts, if it counts them."""
    return (
        not run.imported
        or parsed(operand.placement).form != "ranks"
        or estimate.placement.label == operand.placement
    )


def _why(operand: Operand, run: Run) -> str:
    """The reason why a run has no figure of an operand: that of its plan, if it has one."""
    left = next((each for each in run.plan.left_out if _is_of(each, operand)), None)
    if left:
        return left.reason
    folded = next((each for each in run.plan.folded if _is_folded(each, operand)), None)
    if folded:
        return text(
            "{request} equals {other} here: {reason}",
            request=folded.request,
            other=folded.into,
            reason=folded.reason,
        )
    varied = next((name for name in operand.factors if name not in {each.name for each in run.plan.factors}), "")
    if varied and not run.imported:
        return text("{factor} was not varied: --vary {factor}", factor=varied)
    return text("it has no figure of {benchmark} at {place}", benchmark=operand.benchmark, place=operand.placement)


def _is_of(left: LeftOut, operand: Operand) -> bool:
    """Whether a plan left out what an operand describes, or its whole benchmark."""
    place = f"{operand.benchmark} at {operand.placement}"
    family = (operand.benchmark, parsed(operand.placement).starred)
    return left.request in {operand.benchmark, place} or left.family[:2] == family


def _is_folded(folded: Folded, operand: Operand) -> bool:
    return folded.labels[0] == operand.placement
