"""Pairs of curves of the same quantity: named first, then compared at each value of their axis."""

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from assay.analyse.comparisons.effects import difference
from assay.analyse.estimates import Measured
from assay.compare.curves import MeasuredCurve, stateless
from assay.compare.records import PLACE, PROGRAM, RUN, Crossover, Curve, CurvePair, MessageCurve, PairPoint
from assay.model.comparison import Comparison
from assay.model.grouping import grouped
from assay.model.quantity import Quantity
from assay.report import messages

#: If more curves differ in one word, each is compared with the first one only.
_FEW = 3
#: Level of a factor that an imported command line does not set.
DEFAULT = "default"
#: The scatter of figures without samples is unknown: curves with a smaller difference count as equal.
_UNKNOWN = 0.05


#: Run and estimate of the judged figure, then of the base -> their comparison; None if their states differ.
Judged = Mapping[tuple[str, str, str, str], Comparison | None]


class Matched(NamedTuple):
    """Two curves that are compared; see `CurvePair`."""

    a: MeasuredCurve
    b: MeasuredCurve
    differ: str
    exact: bool

    @property
    def points(self) -> list[tuple[int, Measured, Measured]]:
        """The values that both have, with their figures."""
        bases = dict(zip(self.b.curve.at, self.b.members, strict=True))
        both = [
            (at, each, bases[at]) for at, each in zip(self.a.curve.at, self.a.members, strict=True) if at in bases
        ]
        if self.differ != RUN:
            return both
        return [(at, stateless(each), stateless(base)) for at, each, base in both]

    @property
    def levels(self) -> tuple[str, str]:
        """The words in which the curves differ."""
        return _level(self.a, self.differ), _level(self.b, self.differ)


def across(sides: Sequence[Sequence[MeasuredCurve]]) -> list[Matched]:
    """Pair the curves of each run with those of the first: same place and factors, else the best curve of each.

    States of machines are ignored: near and far mean nothing on another machine.
    """
    found: list[Matched] = []
    for judged in sides[1:]:
        of_judged = grouped(judged, _kind)
        for key, of_base in grouped(sides[0], _kind).items():
            found += _matched(of_judged.get(key, ()), of_base)
    return found


def within(curves: Sequence[MeasuredCurve]) -> list[Matched]:
    """Pair curves of messages of one run that differ in the place, one factor, or the program (MPI or TCP).

    Tables of other tools may also differ in an axis that our benchmark lacks, such as the number of ranks.
    """
    found = []
    for differ, group in _differing(curves):
        pairs = itertools.combinations(group, 2) if len(group) <= _FEW else ((group[0], g) for g in group[1:])
        named = (Matched(one, base, differ, exact=True) for base, one in pairs)
        found += [each for each in named if each.levels[0] != each.levels[1] and each.points]
    return found


def _kind(found: MeasuredCurve) -> Hashable:
    """Return what two curves must share to be drawn in one chart."""
    curve = found.curve
    if isinstance(curve, MessageCurve):
        return curve.benchmark, curve.pattern, curve.between, frozenset(curve.params.items())
    return curve.benchmark, curve.kernel, curve.metric, curve.axis


def _matched(ones: Sequence[MeasuredCurve], others: Sequence[MeasuredCurve]) -> Iterator[Matched]:
    """Pairs of the same place and factors; if there are none, the best curve of both."""
    exact = False
    for one, other in itertools.product(ones, others):
        states = {one.curve.state, other.curve.state}
        if _partners(one) == _partners(other) and (None in states or len(states) == 1):
            pair = Matched(one, other, RUN, exact=True)
            if pair.points:
                exact = True
                yield pair
    if ones and not exact and (best := Matched(_best(ones), _best(others), RUN, exact=False)).points:
        yield best


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


def compared(pair: Matched, judged: Judged) -> CurvePair | None:
    """Return two curves with their comparisons; None if no value of both is compared."""
    runs = pair.a.curve.run, pair.b.curve.run
    points = [
        PairPoint(at, found, difference(a, b, paired=found.blocks > 0 or pair.differ != RUN))
        for at, a, b in pair.points
        if (found := judged.get((runs[0], a.estimate.id, runs[1], b.estimate.id)))
    ]
    if not points:
        return None
    crossed = tuple(_crossovers(pair.a.curve, pair.b.curve, points))
    return CurvePair(pair.a.curve.id, pair.b.curve.id, pair.differ, pair.exact, tuple(points), crossed)


def _crossovers(a: Curve, b: Curve, points: Sequence[PairPoint]) -> Iterator[Crossover]:
    """Each place where one curve is certainly better before, and the other after.

    The intervals decide, beyond the margin of a comparison; without them, a difference of 5 % in all launches.
    Values in between without a certain difference widen the range.
    """
    last: PairPoint | None = None
    for at, point in enumerate(points):
        side = _side(point.comparison)
        if side and point.at:
            if last and side != _side(last.comparison):
                between = [each for each in points[:at] if each.at > last.at]
                yield _crossover(a, b, [last, *between, point])
            last = point


def _side(each: Comparison) -> int:
    """Return 1 if the ratio is above 1, -1 if it is below, 0 if that is uncertain."""
    margin = math.log1p(_UNKNOWN if each.confidence is None else each.margin)
    return 1 if math.log(each.lo) > margin else -1 if math.log(each.hi) < -margin else 0


def _crossover(a: Curve, b: Curve, points: Sequence[PairPoint]) -> Crossover:
    first, last = points[0], points[-1]
    a_first = (first.comparison.ratio > 1) == (a.better == "higher")
    before, after = (a.id, b.id) if a_first else (b.id, a.id)
    certain = all(each.comparison.confidence is not None for each in (first, last))
    at = Quantity(_where_equal(points), float(first.at), float(last.at), basis="range")
    return Crossover(at, before, after, certain)


def _where_equal(points: Sequence[PairPoint]) -> float:
    """Where the logarithm of the ratio first passes 0, linear in the logarithm of the value."""
    logs = [(math.log(each.at), math.log(each.comparison.ratio)) for each in points]
    for (x, y), (next_x, next_y) in pairwise(logs):
        if y == 0 or (y > 0) != (next_y > 0):
            return math.exp(x + (next_x - x) * (y / (y - next_y) if y != next_y else 0.0))
    return math.exp(logs[-1][0])


def _level(found: MeasuredCurve, differ: str) -> str:
    curve = found.curve
    words = {RUN: curve.run, PLACE: curve.label, PROGRAM: curve.benchmark}
    return words[differ] if differ in words else str((curve.factors | curve.params).get(differ, ""))
