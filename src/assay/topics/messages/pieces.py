"""Piecewise latency and bandwidth: T(s) = a_k + b_k s between the sizes at which the protocol changes."""

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assay.analyse.statistics import Samples, partition
from assay.topics.messages.lines import Lines, lines

Indices = NDArray[np.intp]

#: Fewest points of a piece.
FEWEST = 4
#: Cost of a break in units of ln n, added to the cost of `Lines`: 2 ln n invents breaks.
PENALTY = 4
#: Least relative scatter of times: smaller values have no practical meaning.
LEAST_SCATTER = 0.015


def edges(sizes: Samples, times: Samples, off: float) -> list[int]:
    """Return where pieces begin and the last one ends, as indices: the partition of least cost.

    Args:
        sizes: ascending, `FEWEST` or more.
        times: in s, one for each size.
        off: their scatter, see `scatter.weighed`.
    """
    n = sizes.size
    begins, ends = segments(n)
    found = lines(sizes, np.broadcast_to(times, (begins.size, n)), inside(begins, ends, n), off)
    cost = np.full((n + 1, n + 1), math.inf)
    cost[begins, ends] = found.cost
    return [0, *(end for _, end in partition(cost, PENALTY * math.log(n)))]


def refit(sizes: Samples, times: Samples, cut: list[int], off: float) -> Lines:
    """Fit the lines of given pieces to each row of times: arrays of shape (rows, pieces)."""
    every = np.ones_like(times)
    parts = [
        lines(sizes[begin:end], times[:, begin:end], every[:, begin:end], off) for begin, end in pairwise(cut)
    ]
    return Lines(*(np.stack(each, axis=1) for each in zip(*parts, strict=True)))


def fitted(sizes: Samples, cut: list[int], law: Lines) -> Samples:
    """Return the time of the law at every size, shape (rows, points)."""
    counts = np.diff(cut)
    return np.repeat(law.start, counts, axis=1) + np.repeat(law.per_byte, counts, axis=1) * sizes


@lru_cache(maxsize=64)
def segments(n: int) -> tuple[Indices, Indices]:
    """Return begin and end of every piece that `n` sizes allow."""
    every = [(begin, end) for begin in range(n) for end in range(begin + FEWEST, n + 1)]
    begins, ends = (np.array(each) for each in zip(*every, strict=True))
    begins.flags.writeable = ends.flags.writeable = False
    return begins, ends


def inside(begins: Indices, ends: Indices, n: int) -> Samples:
    """Return 1 for the sizes of each piece, else 0, shape (pieces, n)."""
    at = np.arange(n)
    return ((at >= begins[:, None]) & (at < ends[:, None])).astype(np.float64)
