"""Relative scatter of message times around the law of their curve, by which breaks are weighed."""

import math

import numpy as np

from assay.analyse.statistics import Samples, medians
from assay.topics.messages.lines import lines
from assay.topics.messages.pieces import FEWEST, LEAST_SCATTER, inside, segments

#: Mean squares of two degrees of freedom have their median at ln 2 times their mean.
_MEDIAN_OF_MEAN = math.log(2)
#: A few sizes may lie on a line by chance, so the scatter of n sizes is multiplied by 1 + 4 (8/n)^(4/3): with 5 %
#: of noise a break is then invented in at most 1 of 1,000 curves of 8 to 24 sizes (docs/models.md).
_CHANCE, _OF, _POWER = 4.0, 8.0, 4 / 3
#: Launches show the scatter of a size without its curve. If the curve shows no more than this many times that ...
_EXPLAINED = 2
#: ... the larger of both is multiplied by this factor instead.
_SURE = 1.5


def weighed(sizes: Samples, times: Samples, launches: float | None = None) -> float:
    """Return the relative scatter by which breaks are weighed, at least 1.5 %.

    Args:
        sizes: ascending, shape (points,), `FEWEST` or more.
        times: shape (points,).
        launches: relative scatter of a time that launches show; None without launches.
    """
    shown = min(_near(sizes, times), _freest(sizes, times))
    if launches is not None and shown <= _EXPLAINED * launches:
        return max(LEAST_SCATTER, _SURE * max(shown, launches))
    return max(LEAST_SCATTER, (1 + _CHANCE * math.pow(_OF / sizes.size, _POWER)) * shown)


def left(sizes: Samples, times: Samples, fitted: Samples, cut: list[int]) -> float:
    """Return the relative scatter around the fitted law, at least 1.5 %; a single outlier does not count."""
    free = times.size - 2 * (len(cut) - 1)
    off = math.sqrt(float(((1 - fitted / times) ** 2).sum()) / free)
    return max(LEAST_SCATTER, min(off, _near(sizes, times)))


def _near(sizes: Samples, times: Samples) -> float:
    """Return the median scatter of lines through every `FEWEST` neighbours: an outlier affects few of them."""
    begins = np.arange(sizes.size - FEWEST + 1)
    found = lines(sizes, np.tile(times, (begins.size, 1)), inside(begins, begins + FEWEST, sizes.size), 1.0, 1)
    return math.sqrt(float(medians(found.cost)) / (FEWEST - 2) / _MEDIAN_OF_MEAN)


def _freest(sizes: Samples, times: Samples) -> float:
    """Return the least scatter of any partition into pieces, per degree of freedom: steps do not count in it.

    With few sizes a step affects most neighbourhoods, and so their median.
    """
    n = sizes.size
    begins, ends = segments(n)
    squares = np.full((n + 1, n + 1), math.inf)
    every = np.broadcast_to(times, (begins.size, n))
    squares[begins, ends] = lines(sizes, every, inside(begins, ends, n), 1.0, 1).cost
    best = np.full(n + 1, math.inf)
    best[0] = 0.0
    least = math.inf
    for count in range(1, n // FEWEST + 1):
        best = (best[:, None] + squares).min(axis=0)
        least = min(least, float(best[n]) / (n - 2 * count))
    return math.sqrt(least)
