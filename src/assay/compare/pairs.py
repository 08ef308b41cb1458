"""Pairs of curves of the same quantity, compared at each value of their axis."""

import itertools
from collections.abc import Hashable, Iterator, Sequence
from functools import partial

import msgspec

from assay.analyse.comparisons.effects import adjusted, compare, compare_unpaired, difference
from assay.compare.crossovers import crossovers
from assay.compare.curves import MeasuredCurve, stateless
from assay.compare.records import PLACE, PROGRAM, RUN, CurvePair, MessageCurve, PairPoint
from assay.model.grouping import grouped
from assay.report import messages

#: If more curves differ in one word, each is compared with the first one only.
_FEW = 3
#: Level of a factor that an imported command line does not set.
DEFAULT = "default"


def across(sides: Sequence[Sequence[MeasuredCurve]]) -> list[CurvePair]:
    """Pair the curves of each run with those of the first: same place and factors, else the best curve of each.

    States of machines are ignored: near and far mean nothing on another machine.
    """
    found: list[CurvePair] = []
    for judged in sides[1:]:
        of_judged = grouped(judged, _kind)
        for key, of_base in grouped(sides[0], _kind).items():
            found += _matched(of_judged.get(key, ()), of_base)
    return _adjusted(found)


def within(curves: Sequence[MeasuredCurve]) -> list[CurvePair]:
    """Pair curves of messages of one run that differ in the place, one factor, or the program (MPI or TCP).

    Tables of other tools may also differ in an axis that our benchmark lacks, such as the number of ranks.
    """
    found = []
    for differ, group in _differing(curves):
        pairs = itertools.combinations(group, 2) if len(group) <= _FEW else ((group[0], g) for g in group[1:])
        different = ((one, base) for base, one in pairs if _level(one, differ) != _level(base, differ))
        found += [pair for one, base in different if (pair := _pair(one, base, differ, exact=True))]
    return _adjusted(found)


def _kind(found: MeasuredCurve) -> Hashable:
    """Return what two curves must share to be drawn in one chart."""
    curve = found.curve
    if isinstance(curve, MessageCurve):
        return curve.benchmark, curve.pattern, curve.between, frozenset(curve.params.items())
    return curve.benchmark, curve.kernel, curve.metric, curve.axis


def _matched(ones: Sequence[MeasuredCurve], others: Sequence[MeasuredCurve]) -> Iterator[CurvePair]:
    """Pairs of the same place and factors; if there are none, the best curve of both."""
    exact = False
    for one, other in itertools.product(ones, others):
        states = {one.curve.state, other.curve.state}
        if _partners(one) == _partners(other) and (None in states or len(states) == 1):
            pair = _pair(one, other, RUN, exact=True)
            exact = exact or pair is not None
            if pair:
                yield pair
    if ones and not exact and (pair := _pair(_best(ones), _best(others), RUN, exact=False)):
        yield pair


def _partners(found: MeasuredCurve) -> Hashable:
    """Return the place, factors, memory and params, without factors that a command line does not set."""
    curve = found.curve
    factors = frozenset(item for item in curve.factors.items() if item[1] != DEFAULT)
    if isinstance(curve, MessageCurve):
        return curve.place, factors
    return curve.place, factors, curve.memory, frozenset(curve.params.items())


def _best(curves: Sequence[MeasuredCurve]) -> MeasuredCurve:
    """Return the curve with the best end: the smallest size for times of messages, else the largest value."""

    def rank(found: MeasuredCurve) -> tuple[int, float]:
        smallest = found.curve.better == "lower" and isinstance(found.curve, MessageCurve)
        return len(found.members) > 1, found.members[0 if smallest else -1].estimate.merit

    return max(curves, key=rank)


def _differing(curves: Sequence[MeasuredCurve]) -> Iterator[tuple[str, tuple[MeasuredCurve, ...]]]:
    """Groups of curves that differ in one word only, with that word."""
    factors = dict.fromkeys(name for each in curves for name in each.curve.factors)
    foreign = dict.fromkeys(
        name
        for curve in (each.curve for each in curves)
        for name in curve.params.keys() - curve.declared.units.keys()
    )
    for differ in (PLACE, PROGRAM, *factors, *foreign):
        for group in grouped(curves, partial(_rest, differ=differ)).values():
            distinct = _distinct(group) if differ == PLACE else group
            if len(distinct) > 1:
                yield differ, distinct


def _distinct(group: Sequence[MeasuredCurve]) -> tuple[MeasuredCurve, ...]:
    """Return the curves without those at the partners of another one that also states their cores."""
    ends = {each.curve.id: messages.ends(each.members[0].estimate) for each in group}
    stated = {(partners, "") for partners, cores in ends.values() if cores}
    return tuple(each for each in group if ends[each.curve.id] not in stated)


def _rest(found: MeasuredCurve, differ: str) -> Hashable:
    """Return all words of a curve of messages except one."""
    curve = found.curve
    factors = frozenset(item for item in curve.factors.items() if item[0] != differ)
    params = frozenset(item for item in curve.params.items() if item[0] != differ)
    kind = isinstance(curve, MessageCurve) and (curve.pattern, curve.between)
    program, label = ("" if differ == PROGRAM else curve.benchmark), ("" if differ == PLACE else curve.label)
    return kind, params, program, curve.state, factors, label, differ in curve.factors | curve.params


def _pair(one: MeasuredCurve, other: MeasuredCurve, differ: str, *, exact: bool) -> CurvePair | None:
    """Compare two curves at the values that both have; None if they share no value."""
    bases = dict(zip(other.curve.at, other.members, strict=True))
    points = []
    for at, each in zip(one.curve.at, one.members, strict=True):
        base = bases.get(at)
        if base is None:
            continue
        a, b = (stateless(each), stateless(base)) if differ == RUN else (each, base)
        comparison = compare_unpaired(a, b) if differ == RUN else compare(a, b)
        if comparison:
            words = {"differ": differ, "level": _level(one, differ), "base": _level(other, differ)}
            comparison = msgspec.structs.replace(comparison, **words)
            points.append(PairPoint(at, comparison, difference(a, b, paired=differ != RUN)))
    if not points:
        return None
    crossed = tuple(crossovers(one.curve, other.curve, points))
    return CurvePair(one.curve.id, other.curve.id, differ, exact, tuple(points), crossed)


def _level(found: MeasuredCurve, differ: str) -> str:
    curve = found.curve
    words = {RUN: curve.run, PLACE: curve.label, PROGRAM: curve.benchmark}
    return words[differ] if differ in words else str((curve.factors | curve.params).get(differ, ""))


def _adjusted(found: list[CurvePair]) -> list[CurvePair]:
    """Adjust p among all comparisons; a claim that does not survive this is withdrawn."""
    every = iter(adjusted([point.comparison for pair in found for point in pair.points], binding=True))
    return [
        msgspec.structs.replace(
            pair, points=tuple(msgspec.structs.replace(point, comparison=next(every)) for point in pair.points)
        )
        for pair in found
    ]
