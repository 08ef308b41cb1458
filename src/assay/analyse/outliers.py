"""Places of a law that are slower than the others: pairs of cores, pairs of nodes. Pure functions."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from assay.model.law import Point
from assay.model.text import Text, joined, text

#: The whole interval of an outlier is slower than the median by both: median absolute deviations, and a share.
DEVIATIONS = 6
LOW = 0.10
#: With fewer places the median is not reliable.
FEWEST = 6
#: Maximum number of named places.
_SHOWN = 3


def slow(points: Sequence[Point], better: str) -> list[Point]:
    """Return the points whose whole interval is slower than the median of all, by 6 deviations and by 10 %.

    Args:
        points: of comparable places.
        better: `lower` or `higher`.
    """
    values = np.array([point.value.value for point in points])
    usual = float(np.median(values))
    beyond = max(DEVIATIONS * float(np.median(np.abs(values - usual))), LOW * usual)
    if better == "lower":
        return [point for point in points if point.value.lo > usual + beyond]
    return [point for point in points if point.value.hi < usual - beyond]


def common_end(pairs: Sequence[Point]) -> object:
    """Return the end, `a` or `b`, that several pairs share; None if they share none, or there is a single pair."""
    ends = Counter(point.at[end] for point in pairs for end in ("a", "b"))
    most, count = ends.most_common(1)[0] if ends else (None, 0)
    return most if count == len(pairs) > 1 else None


def first_few(named: Sequence[str]) -> Text:
    """Return the first three names in words, and the number of further ones."""
    shown = joined(", ", named[:_SHOWN])
    beyond = len(named) - _SHOWN
    return text("{some} and {count} more", some=shown, count=beyond) if beyond > 0 else shown
