"""Values on the axis at which the better of two curves changes."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from assay.compare.records import Crossover, Curve, PairPoint
from assay.model.quantity import Quantity
from assay.model.result import Comparison

#: The scatter of figures without samples is unknown: curves with a smaller difference count as equal.
_UNKNOWN = 0.05


def crossovers(a: Curve, b: Curve, points: Sequence[PairPoint]) -> Iterator[Crossover]:
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
