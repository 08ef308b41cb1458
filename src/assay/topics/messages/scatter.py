"""How far times of messages lie off the law of their curve: what a break is weighed with, and must not inflate."""

import math

import numpy as np

from assay.analyse.statistics import Samples, medians
from assay.topics.messages.lines import lines
from assay.topics.messages.pieces import FEWEST, LEAST_SCATTER, inside, segments

#: Mean squares of two degrees of freedom have their median at ln 2 times their mean.
_MEDIAN_OF_MEAN = math.log(2)
#: A few sizes may lie on a line by chance. So they are weighed with 1 + 4 (8/n)^(4/3) times what n of them show:
#: with 5 % of noise a break is then invented in 1 of 1,000 curves of 8 to 24 sizes at most (docs/models.md).
_CHANCE, _OF, _POWER = 4.0, 8.0, 4 / 3
#: Launches tell how far a size scatters, without its curve. Where the curve shows no more than this times that ...
_EXPLAINED = 2
#: ... this many times it suffices.
_SURE = 1.5


def weighed(sizes: Samples, times: Samples, launches: float | None = None) -> float:
    """What breaks are weighed with, relative, 1.5 % at least.

    Args:
        sizes: ascending, shape (points,), `FEWEST` or more.
        times: shape (points,).
        launches: scatter of a time as launches show it, relative; None where there are none.
    """
    shown = min(_near(sizes, times), _freest(sizes, times))
    if launches is not None and shown <= _EXPLAINED * launches:
        return max(LEAST_SCATTER, _SURE * max(shown, launches))
    return max(LEAST_SCATTER, (1 + _CHANCE * math.pow(_OF / sizes.size, _POWER)) * shown)


def left(sizes: Samples, times: Samples, said: Samples, cut: list[int]) -> float:
    """How far times lie off the law that was found, relative, 1.5 % at least; a single one does not count."""
    free = times.size - 2 * (len(cut) - 1)
    off = math.sqrt(float(((1 - said / times) ** 2).sum()) / free)
    return max(LEAST_SCATTER, min(off, _near(sizes, times)))


def _near(sizes: Samples, times: Samples) -> float:
    """From lines through every `FEWEST` neighbours: the median, since a time far off spoils a few of them."""
    begins = np.arange(sizes.size - FEWEST + 1)
    found = lines(sizes, np.tile(times, (begins.size, 1)), inside(begins, begins + FEWEST, sizes.size), 1.0, 1)
    return math.sqrt(float(medians(found.cost)) / (FEWEST - 2) / _MEDIAN_OF_MEAN)


def _freest(sizes: Samples, times: Samples) -> float:
    """The least mean square that any partition into pieces leaves, for each degree of freedom: no step is in it.

    Of few sizes a step spoils most neighbourhoods, and their median with them.
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
