"""Places of a law that are slower than their like: pairs of cores, pairs of nodes. Pure functions."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from assay.model.law import Point
from assay.model.text import Text, joined, text

#: Median absolute deviations, and share, by which a whole interval has to lie beyond the usual.
DEVIATIONS = 6
LOW = 0.10
#: So many places are needed to know what is usual.
FEWEST = 6
#: So many are named.
_SHOWN = 3


def slow(points: Sequence[Point], better: str) -> list[Point]:
    """Those whose whole interval is slower than the median of all, by 6 deviations and by 10 %.

    Args:
        points: of like places.
        better: `lower` or `higher`.
    """
    values = np.array([point.value.value for point in points])
    usual = float(np.median(values))
    beyond = max(DEVIATIONS * float(np.median(np.abs(values - usual))), LOW * usual)
    if better == "lower":
        return [point for point in points if point.value.lo > usual + beyond]
    return [point for point in points if point.value.hi < usual - beyond]


def common_end(pairs: Sequence[Point]) -> object:
    """The end, `a` or `b`, that several pairs have in common; None where they have none, or are one alone."""
    ends = Counter(point.at[end] for point in pairs for end in ("a", "b"))
    most, count = ends.most_common(1)[0] if ends else (None, 0)
    return most if count == len(pairs) > 1 else None


def first_few(named: Sequence[str]) -> Text:
    """The worst three of things in words, in their order, and how many more there are."""
    shown = joined(", ", named[:_SHOWN])
    beyond = len(named) - _SHOWN
    return text("{some} and {count} more", some=shown, count=beyond) if beyond > 0 else shown
