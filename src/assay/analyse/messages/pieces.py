"""Piecewise latency and bandwidth: T(s) = a_k + b_k s between the sizes at which the protocol changes."""

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assay.analyse.messages.lines import Lines, lines
from assay.analyse.statistics import Samples, medians

Indices = NDArray[np.intp]

#: Fewest points of a piece.
FEWEST = 4
#: A break costs so much times ln n of the cost in `Lines`: twice ln n invents breaks (METHODS, 3).
PENALTY = 4
#: What is smaller has no practical meaning: times scatter at least so much.
_LEAST_SCATTER = 0.015
#: Mean squares of two degrees of freedom have their median at ln 2 times their mean.
_MEDIAN_OF_MEAN = math.log(2)


def scatter(sizes: Samples, times: Samples) -> float:
    """How far times lie off lines through their neighbours, relative, 1.5 % at least.

    From the residuals of every `FEWEST` neighbours: their median, since a break spoils a few of them.

    Args:
        sizes: ascending, shape (points,).
        times: shape (points,).
    """
    begins = np.arange(sizes.size - FEWEST + 1)
    near = lines(sizes, np.tile(times, (begins.size, 1)), _inside(begins, begins + FEWEST, sizes.size), 1.0, 1)
    squares = float(medians(near.cost)) / (FEWEST - 2) / _MEDIAN_OF_MEAN
    return max(_LEAST_SCATTER, math.sqrt(squares))


def edges(sizes: Samples, times: Samples, off: float) -> list[int]:
    """Where pieces begin and the last one ends, as indices: the partition of least cost, by dynamic programming.

    Args:
        sizes: ascending, `FEWEST` or more.
        times: of each of them.
        off: their scatter.
    """
    n = sizes.size
    begins, ends = (np.array(each) for each in zip(*_segments(n), strict=True))
    found = lines(sizes, np.broadcast_to(times, (begins.size, n)), _inside(begins, ends, n), off)
    cost = np.full((n + 1, n + 1), math.inf)
    cost[begins, ends] = found.cost
    best, before = np.full(n + 1, math.inf), np.zeros(n + 1, dtype=int)
    best[0] = 0.0
    for end in range(FEWEST, n + 1):
        whole = best + cost[:, end] + PENALTY * math.log(n)
        before[end] = int(np.argmin(whole))
        best[end] = whole[before[end]]
    cut = [n]
    while cut[-1]:
        cut.append(int(before[cut[-1]]))
    return cut[::-1]


def refit(sizes: Samples, times: Samples, cut: list[int], off: float) -> Lines:
    """The lines of the pieces, their ends being given, for each row of times: arrays of shape (rows, pieces)."""
    every = np.ones_like(times)
    parts = [
        lines(sizes[begin:end], times[:, begin:end], every[:, begin:end], off) for begin, end in pairwise(cut)
    ]
    return Lines(*(np.stack(each, axis=1) for each in zip(*parts, strict=True)))


def fitted(sizes: Samples, cut: list[int], law: Lines) -> Samples:
    """What the law says of every size, shape (rows, points)."""
    counts = np.diff(cut)
    return np.repeat(law.start, counts, axis=1) + np.repeat(law.per_byte, counts, axis=1) * sizes


def _segments(n: int) -> list[tuple[int, int]]:
    return [(begin, end) for begin in range(n) for end in range(begin + FEWEST, n + 1)]


def _inside(begins: Indices, ends: Indices, n: int) -> Samples:
    at = np.arange(n)
    return ((at >= begins[:, None]) & (at < ends[:, None])).astype(np.float64)
