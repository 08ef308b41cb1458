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
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.statistics import median_interval
from assay.model.derivation import Derivation, Operand
from assay.model.grouping import grouped
from assay.model.imported import UNSTATED, Figure, Table
from assay.model.left_out import Folded, LeftOut
from assay.model.placement import parsed
from assay.model.quantity import Quantity, exact
from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.text import text


class MissingError(Exception):
    """A derived figure that a system does not have; the message is the reason."""


class Figures(NamedTuple):
    """The figures of a run or of a reference, in which operands are looked for.

    Attributes:
        run: that has them.
        measured: headline figures.
        networks: network as a reference names it -> the one of this run that is taken for it.
    """

    run: Run
    measured: Sequence[Measured]
    networks: Mapping[str, str] = {}


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
    return Figures(run, [each for each in imported.measured(run, run.imported) if not each.estimate.derivation])


def select(figures: Figures, operand: Operand) -> list[Measured]:
    """Return the figures that an operand describes, the best first; of those that fit only in part the nearest.

    Raises:
        MissingError: there is none.
    """
    seeking = _described(operand, figures)
    fitting = [
        (price, each)
        for each in figures.measured
        if each.launches
        and _quantity(each.estimate) == _quantity(seeking)
        and aspects.is_where(operand, each.estimate, figures.run)
        and _is_part(operand, each.estimate)
        and (price := matching.cost(seeking, each.estimate)) is not None
    ]
    if not fitting:
        raise MissingError(_why(operand, figures.run))
    least = min(price for price, _ in fitting)
    nearest = [each for price, each in fitting if price == least]
    return sorted(nearest, key=lambda each: -each.estimate.merit)


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
    if operand.reference:
        if operand.reference not in others:
            raise MissingError(text("it is a figure of another system: {name}", name=operand.reference))
        figures = others[operand.reference]
    if operand.aspect in aspects.OF_MACHINES:
        return _exact(aspects.of_machine(operand, figures.run))
    found = select(figures, operand)
    return _value(_taken(operand, found), operand, figures.run)


def _taken(operand: Operand, found: Sequence[Measured]) -> Measured:
    """One of several: the best, the worst, or the one at the largest value of an axis."""
    if operand.take in {"best", "worst"}:
        return found[0 if operand.take == "best" else -1]
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
    return _exact(exact(best), tuple(each.estimate.id for each in found.values()))


def _extreme(derivation: Derivation, figures: Figures, others: Mapping[str, Figures]) -> Value:
    """The lowest or highest ratio over all values of an axis that both have."""
    a, b = derivation.operands
    sides = [figures if not each.reference else others[each.reference] for each in (a, b)]
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
    if name in {"fastest", "slowest"}:
        networks = taken.by_rate(figures.measured)
        if len(networks) <= 1 and figures.run.imported:
            return {each: level for each, level in operand.factors.items() if each != taken.NETWORK}
        if len(networks) <= 1:
            raise MissingError(text("it needs two networks: --vary network=NAME,NAME"))
        return {**operand.factors, taken.NETWORK: networks[0 if name == "fastest" else -1]}
    others = {each: level for each, level in operand.factors.items() if each != taken.NETWORK}
    own = figures.networks.get(name, name)
    return others | ({taken.NETWORK: own} if own and own != UNSTATED else {})


def _is_part(operand: Operand, estimate: Estimate) -> bool:
    """Whether a figure is of a part of the kind that the word names, if it names no certain one."""
    word = parsed(operand.placement)
    if word.group not in {"numa", "socket", "l3"} or word.index is not None:
        return True
    return estimate.measurand.places.part.startswith(word.group)


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
    return left.family[:2] == (operand.benchmark, parsed(operand.placement).starred) or left.request.startswith(
        f"{operand.benchmark} at {operand.placement}"
    )


def _is_folded(folded: Folded, operand: Operand) -> bool:
    return folded.labels[0] == operand.placement
