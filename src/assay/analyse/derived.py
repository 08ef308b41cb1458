"""Figures that follow from others, as publications state them: shares, losses, speed-ups, differences.

A derivation describes its operands as figures, not by name: `assay.analyse.operands` finds them in any run or
reference. `evaluate` computes the figure with its interval: block by block where both operands were measured in
the same blocks, and as the comparison of two runs where they are of two systems.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

import msgspec

from assay.analyse import aspects, imported, matching, operands, slowest
from assay.analyse.comparisons.judging import Pair, between_runs, difference_between_runs
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.history import BetweenRuns
from assay.analyse.operands import Figures, MissingError, select
from assay.analyse.statistics import median_interval
from assay.model.comparison import Comparison
from assay.model.conclusion import Choice, Region
from assay.model.derivation import Derivation, Operand
from assay.model.grouping import grouped
from assay.model.imported import LOWER, RANGE_END, Figure
from assay.model.quantity import Basis, Quantity, exact
from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.text import listed, text

#: Of the nodes, the one whose best figure is worst.
WORST_NODE = "worst node"
_SYSTEM = "system"
_ANYWHERE = Region()


class Value(NamedTuple):
    """An operand, or what follows from operands.

    Attributes:
        quantity: with its ends.
        launches: its values launch by launch; one for an imported or an exact value.
        of: ids of the estimates that it was computed from.
        is_exact: whether it is a fact of the machine, such as its nominal peak, which no launch changes. A single
            launch is not exact.
        choices: of each operand, which of several figures was taken.
        system: name of the other reference that an operand is of; empty for the run itself.
        measured: an operand that a run measured, its launches as in `launches`.
        comparison: of the operands, if they are of runs of two systems.
    """

    quantity: Quantity
    launches: tuple[LaunchMedian, ...]
    of: tuple[str, ...] = ()
    is_exact: bool = False
    choices: tuple[Choice, ...] = ()
    system: str = ""
    measured: Measured | None = None
    comparison: Comparison | None = None


def evaluate(
    derivation: Derivation,
    figures: Figures,
    others: Mapping[str, Figures] = {},
    unit: str | None = None,
    region: Region = _ANYWHERE,
) -> Value:
    """Return the figure that follows from those of a run or a reference.

    Args:
        derivation: how.
        figures: of the system.
        others: name of another reference -> its figures.
        unit: of the result; None: that of the operands, or none of a ratio.
        region: where a source says that a curve is best: there, and beyond its end, it must have been measured.

    Raises:
        MissingError: an operand has no figure, or they have no such relation.
    """
    systems = sorted(
        {each.factors.get(_SYSTEM, "") for each in derivation.operands if each.reference not in others}
    )
    if len(systems) > 1 and not figures.exact and _SYSTEM not in {each.name for each in figures.run.plan.factors}:
        raise MissingError(text("it needs two operating systems: {a} and {b}", a=systems[0], b=systems[1]))
    for operand in derivation.operands:
        _system(operand, figures, others)
    if derivation.along:
        return _extreme(derivation, figures, others) if derivation.b else _best_at(derivation, figures, region)
    if derivation.b is None:
        return value(derivation.a, figures, others)
    both = _within_node(derivation.a, derivation.b, figures)
    a, b = both or (value(operand, figures, others) for operand in derivation.operands)
    return _combined(derivation.operation, a, b, unit, _between(a, b, others))._replace(choices=_choices(a, b))


def _within_node(a: Operand, b: Operand, figures: Figures) -> tuple[Value, Value] | None:
    """The values of two operands on the same node, where each would be the best of another one; else None.

    Half of the cores of one node over all of another one is also a ratio of the two nodes.
    """
    if any(each.reference or each.take == WORST_NODE or each.aspect in aspects.OF_MACHINES for each in (a, b)):
        return None
    of_a, of_b = select(figures, a), select(figures, b)
    alone, other = (_hosts(_taken(each, found)) for each, found in ((a, of_a), (b, of_b)))
    common = set(map(_hosts, of_a)) & set(map(_hosts, of_b))
    if alone == other or len(alone) != 1 or len(other) != 1 or not any(len(hosts) == 1 for hosts in common):
        return None
    first = _taken(a, [each for each in of_a if _hosts(each) in common and len(_hosts(each)) == 1])
    second = _taken(b, [each for each in of_b if _hosts(each) == _hosts(first)])
    return _chosen(first, of_a, a, figures.run), _chosen(second, of_b, b, figures.run)


def _hosts(measured: Measured) -> tuple[str, ...]:
    return measured.estimate.placement.hosts


def value(operand: Operand, figures: Figures, others: Mapping[str, Figures] = {}) -> Value:
    """Return the value of an operand; raises as `evaluate`."""
    figures = _system(operand, figures, others)
    if operand.aspect in aspects.OF_MACHINES:
        return _exact(aspects.of_machine(operand, figures.run))
    found = select(figures, operand)
    return _chosen(_taken(operand, found), found, operand, figures.run)


def _chosen(taken: Measured, among: Sequence[Measured], operand: Operand, run: Run) -> Value:
    """The value of one of several figures, with what tells it from the others."""
    return _value(taken, operand, run)._replace(choices=(_choice(taken.estimate, among),))


def _choices(a: Value, b: Value) -> tuple[Choice, ...]:
    """What tells both from others; both name their memory if one was chosen by it and they differ in it."""
    choices = (*a.choices, *b.choices)
    if not (a.measured and b.measured and any(each.memory for each in choices)):
        return choices
    memories = [each.estimate.placement.memory for each in (a.measured, b.measured)]
    if len(set(memories)) == 1:
        return choices
    named = zip(choices, memories, strict=True)
    return tuple(msgspec.structs.replace(each, memory=memory) for each, memory in named)


def _choice(taken: Estimate, among: Iterable[Measured]) -> Choice:
    every = [each.estimate for each in among]
    placed, are_alone = taken.placement, all(len(each.placement.hosts) == 1 for each in every)
    return Choice(
        taken.benchmark,
        {
            name: value
            for name, value in taken.params.items()
            if any(each.params.get(name) != value for each in every)
        },
        placed.label if any(each.placement.label != placed.label for each in every) else "",
        placed.memory if any(each.placement.memory != placed.memory for each in every) else "",
        {
            name: level
            for name, level in taken.factors.items()
            if any(each.factors.get(name) != level for each in every)
        },
        placed.hosts if are_alone and any(each.placement.hosts != placed.hosts for each in every) else (),
    )


def _system(operand: Operand, figures: Figures, others: Mapping[str, Figures]) -> Figures:
    """The figures of the system that an operand is of."""
    if operand.reference and operand.reference not in others:
        raise MissingError(text("it needs the other system: {name}", name=operand.reference))
    return others[operand.reference] if operand.reference else figures


def _taken(operand: Operand, found: Sequence[Measured]) -> Measured:
    """One of several: the best, the worst, or the one at the largest value of an axis.

    The best is that of `matching.best_of`. The worst has an interval, if any has one, and if no other one is
    beyond it in all launches.
    """
    if operand.take == "best":
        return found[matching.best_of([each.estimate for each in found])]
    sure = [each for each in found if each.estimate.value and each.estimate.value.has_interval] or found
    if operand.take == "worst":
        is_beyond = matching.is_beyond(found[-1].estimate, sure[-1].estimate, best=False)
        return found[-1] if is_beyond else sure[-1]
    found = sure if operand.take == WORST_NODE else found
    if operand.take == WORST_NODE:
        nodes = grouped(found, lambda each: each.estimate.placement.hosts)
        if len(nodes) == 1:
            raise MissingError(text("it needs several nodes"))
        return [of_node[0] for of_node in nodes.values()][-1]
    return max(found, key=lambda each: aspects.coordinate(each.estimate, operand.take))


def _value(measured: Measured, operand: Operand, run: Run) -> Value:
    estimate = measured.estimate
    if operand.aspect in slowest.ASPECTS:
        return _of_threads(operand.aspect, measured)
    if operand.aspect != "value":
        quantity = aspects.of_estimate(operand, estimate, run)
        return _exact(quantity, (estimate.id,), is_exact=operand.aspect in aspects.EXACT)
    quantity = estimate.value or exact(0.0)
    launches = measured.launches
    if operand.per:
        count = aspects.processors(operand, estimate, run)
        quantity = quantity.over(count, quantity.unit)
        launches = tuple(msgspec.structs.replace(one, value=one.value / count) for one in launches)
    placed = Measured(msgspec.structs.replace(estimate, value=quantity), launches)
    of_run = None if run.imported else placed
    return Value(quantity, launches, (estimate.id,), system=operand.reference, measured=of_run)


def _of_threads(aspect: str, measured: Measured) -> Value:
    """What the slowest thread is, launch by launch."""
    launches = tuple(
        msgspec.structs.replace(one, value=slowest.of_launch(aspect, one.threads))
        for one in measured.launches
        if one.threads
    )
    if not launches:
        raise MissingError(text("its threads are not timed"))
    return Value(median_interval([each.value for each in launches]), launches, (measured.estimate.id,))


def _exact(quantity: Quantity | str, of: tuple[str, ...] = (), *, is_exact: bool = True) -> Value:
    if isinstance(quantity, str):
        raise MissingError(quantity)
    return Value(quantity, (LaunchMedian(0, None, quantity.value),), of, is_exact)


_OPERATIONS: Mapping[str, Callable[[float, float], float]] = {
    "ratio": lambda a, b: a / b,
    "difference": lambda a, b: a - b,
    "lowest": lambda a, b: a / b,
    "highest": lambda a, b: a / b,
}


def _between(a: Value, b: Value, others: Mapping[str, Figures]) -> BetweenRuns | None:
    """How the operands vary from run to run, `run` of the first one."""
    name = a.system or b.system
    known = others[name].between if name in others else None
    return known._replace(run=known.base, base=known.run) if known and a.system else known


def _combined(
    operation: str, a: Value, b: Value, unit: str | None = None, between: BetweenRuns | None = None
) -> Value:
    """Combine two operands block by block, or of two systems as their runs are compared; else only their ends."""
    combine = _OPERATIONS[operation]
    unit = (a.quantity.unit if operation == "difference" else "") if unit is None else unit
    if operation != "difference" and not b.quantity.lo > 0:
        raise MissingError(text("the base of the ratio is 0"))
    of = (*a.of, *b.of)
    whole = combine(a.quantity.value, b.quantity.value)
    if "imported" in {a.quantity.basis, b.quantity.basis} and not (a.quantity.has_ends or b.quantity.has_ends):
        return Value(Quantity(whole, whole, whole, unit, "imported"), (LaunchMedian(0, None, whole),), of)
    if a.is_exact and b.is_exact:
        return _exact(exact(whole, unit), of)
    if both := _blocks(a, b):
        launches = tuple(LaunchMedian(block, None, combine(*values)) for block, values in both.items())
        return Value(median_interval([each.value for each in launches], unit), launches, of)
    if a.system != b.system and a.measured and b.measured:
        pair = Pair(a.measured, b.measured)
        if compared := between_runs((pair,), between)[0]:
            ratio = compared.value
            found = difference_between_runs(pair, between, compared) if operation == "difference" else ratio
            found = msgspec.structs.replace(found, unit=unit)
            return Value(found, (LaunchMedian(0, None, found.value),), of, comparison=compared)
    if not all(each.quantity.has_ends or each.is_exact for each in (a, b)):  # a single launch has no ends
        return Value(exact(whole, unit), (LaunchMedian(0, None, whole),), of)
    ends = sorted(combine(x, y) for x in a.quantity.parts[1:] for y in b.quantity.parts[1:])
    basis: Basis = "range" if "range" in {a.quantity.basis, b.quantity.basis} else "derived"
    return Value(Quantity(whole, ends[0], ends[-1], unit, basis), (LaunchMedian(0, None, whole),), of)


def _blocks(a: Value, b: Value) -> dict[int, tuple[float, float]]:
    """Block -> both values, of the common blocks; an exact value is that of each block of the other operand."""
    of_a, of_b = (
        {block: median(one.value for one in of) for block, of in grouped(each.launches, _block).items()}
        for each in (a, b)
    )
    if b.is_exact:
        of_b = dict.fromkeys(of_a, b.quantity.value)
    elif a.is_exact:
        of_a = dict.fromkeys(of_b, a.quantity.value)
    return {block: (of_a[block], of_b[block]) for block in sorted(of_a.keys() & of_b.keys())}


def _block(launch: LaunchMedian) -> int:
    return launch.block


def _along(derivation: Derivation, operand: Operand, figures: Figures) -> dict[float, Measured]:
    """Value of the axis -> the figure there, one of several as the operand says, in ascending order."""
    every = select(figures, operand)
    if figures.exact and not all(derivation.along in each.estimate.params for each in every):
        raise MissingError(text("its source states no values of {axis}", axis=derivation.along))
    found = grouped(every, lambda each: aspects.coordinate(each.estimate, derivation.along))
    return {at: _taken(operand, found[at]) for at in sorted(found)}


def _best_at(derivation: Derivation, figures: Figures, region: Region) -> Value:
    found = _along(derivation, derivation.a, figures)
    if not figures.exact:
        _reached(derivation, figures, found, region)
    best = max(found, key=lambda at: found[at].estimate.merit)
    if len(found) == 1:
        raise MissingError(text("it was measured at one value of {axis} only", axis=derivation.along))
    of, ends = tuple(each.estimate.id for each in found.values()), found[best].estimate.value
    values = [each.estimate.value for each in found.values()]
    if ends is None or not all(each and each.has_ends for each in values):
        return Value(exact(best), (LaunchMedian(0, None, best),), of)
    equal = [at for at in found if _may_equal(found[at].estimate.value, ends)]
    sure = all(each and each.has_interval for each in values)
    quantity = Quantity(best, min(equal), max(equal), basis="interval" if sure else "range")
    return Value(quantity, (LaunchMedian(0, None, best),), of)


def _reached(derivation: Derivation, figures: Figures, found: Collection[float], region: Region) -> None:
    """Refuse a curve that was not measured in a region, and beyond its end where the source measured it."""
    least, most = (region.most if region.least is None else region.least), region.most
    if least is None:
        return
    needed = [] if any(at >= least and (most is None or at <= most) for at in found) else [least]
    asked = operands.counts(derivation.a) if derivation.along == "nodes" else ()
    if most is not None and max(found) < (beyond := min((at for at in asked if at > most), default=most)):
        needed.append(beyond)
    if needed:
        raise operands.without(derivation, figures, max(needed))


def _may_equal(one: Quantity | None, other: Quantity) -> bool:
    """Whether the ends of two figures overlap, so that either may be the better one."""
    return one is not None and one.lo <= other.hi and other.lo <= one.hi


def _extreme(derivation: Derivation, figures: Figures, others: Mapping[str, Figures]) -> Value:
    """The lowest or highest ratio over all values of an axis that both have."""
    a, b = derivation.operands
    sides = [_system(each, figures, others) for each in (a, b)]
    of_a, of_b = (_along(derivation, each, side) for each, side in zip((a, b), sides, strict=True))
    if alone := sorted(of_a.keys() ^ of_b.keys()):
        points = listed(f"{at:g}" for at in alone)
        raise MissingError(
            text("of {axis} {points} only one side was measured", axis=derivation.along, points=points)
        )
    ratios = [
        _combined("ratio", one, other, between=_between(one, other, others))._replace(
            choices=(Choice(a.benchmark, {derivation.along: int(at) if at.is_integer() else at}),)
        )
        for at in of_a.keys() & of_b.keys()
        for one, other in ((_value(of_a[at], a, sides[0].run), _value(of_b[at], b, sides[1].run)),)
    ]
    if not ratios:
        raise MissingError(text("the two have no value of {axis} in common", axis=derivation.along))
    extreme = min if derivation.operation == "lowest" else max
    return extreme(ratios, key=lambda each: each.quantity.value)


def figures_of(reference: Run, own: Figures) -> list[tuple[Measured, Figure, Measured | str]]:
    """Return the derived figures of a reference, each with that of a run, or the reason why it has none.

    Both have one measurand.
    """
    return [
        (each, figure, found if isinstance(found, str) else _measured(each.estimate, found))
        for each, figure, found in values_of(reference, own)
    ]


def values_of(reference: Run, own: Figures) -> list[tuple[Measured, Figure, Value | str]]:
    """The same, with what each follows from."""
    return [
        (each, figure, _own(each.estimate, derivation, own))
        for each, figure in imported.printed(reference)
        if (derivation := each.estimate.derivation) and each.launches
    ]


def _as_printed(printed: Estimate) -> Region:
    """Where a source says that a curve is best; at a lower end, or beyond it."""
    if printed.value is None:
        return _ANYWHERE
    return Region(printed.value.lo, None if printed.params.get(RANGE_END) == LOWER else printed.value.hi)


def is_sure(found: Value) -> bool:
    """Whether its ends are an interval. Only facts of the machine need none."""
    return found.is_exact or found.quantity.has_interval


def _own(printed: Estimate, derivation: Derivation, own: Figures) -> Value | str:
    try:
        return evaluate(derivation, own, unit=printed.unit, region=_as_printed(printed))
    except MissingError as missing:
        reason: str = missing.args[0]  # a text, which pages translate
        return reason


def _measured(printed: Estimate, found: Value) -> Measured:
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
