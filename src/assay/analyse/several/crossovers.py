"""Sizes of messages at which the better of two curves changes."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from assay.model.result import Comparison
from assay.model.several import AtSize, Crossover, Way

#: Without samples nobody knows how far figures scatter: curves nearer than this are not told apart.
_UNKNOWN = 0.05


def crossovers(a: Way, b: Way, points: Sequence[AtSize]) -> Iterator[Crossover]:
    """Each size between two where one curve is certainly better before and the other after.

    Where both have intervals these decide, beyond the margin of a comparison; else a difference of 5 % of all
    launches. Sizes in
    between at which nothing can be told widen the range of the size.
    """
    last: AtSize | None = None
    for at, point in enumerate(points):
        side = _side(point.comparison)
        if side and point.bytes:
            if last and side != _side(last.comparison):
                between = [each for each in points[:at] if each.bytes > last.bytes]
                yield _crossover(a, b, [last, *between, point])
            last = point


def _side(each: Comparison) -> int:
    """1 where the ratio is above 1, -1 below, 0 where that cannot be told."""
    if each.confidence is None:
        low, high = math.log(each.lo) - math.log1p(_UNKNOWN), math.log(each.hi) + math.log1p(_UNKNOWN)
    else:
        low, high = math.log(each.lo) - math.log1p(each.margin), math.log(each.hi) + math.log1p(each.margin)
    return 1 if low > 0 else -1 if high < 0 else 0


def _crossover(a: Way, b: Way, points: Sequence[AtSize]) -> Crossover:
    first, last = points[0], points[-1]
    higher_first = first.comparison.ratio > 1
    a_first = higher_first == (a.better == "higher")
    before, after = (a.id, b.id) if a_first else (b.id, a.id)
    certain = all(each.comparison.confidence is not None for each in (first, last))
    return Crossover((_where_equal(points), float(first.bytes), float(last.bytes)), before, after, certain)


def _where_equal(points: Sequence[AtSize]) -> float:
    """Where the logarithm of the ratio passes 0 for the first time, by a line in the logarithm of the size."""
    logs = [(math.log(each.bytes), math.log(each.comparison.ratio)) for each in points]
    for (x, y), (next_x, next_y) in pairwise(logs):
        if y == 0 or (y > 0) != (next_y > 0):
            return math.exp(x + (next_x - x) * (y / (y - next_y) if y != next_y else 0.0))
    return math.exp(logs[-1][0])
