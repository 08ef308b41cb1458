"""Figures of a piecewise law and its curve: rate, half-rate size, saturation, steps; for rows of draws."""

from itertools import pairwise

import numpy as np

from assay.analyse.statistics import Samples
from assay.topics.messages.lines import Lines

#: Saturated: time grows with size by this power or more ...
_SATURATED = 0.95
#: ... at so many sizes one after the other.
_IN_A_ROW = 3


def rate(law: Lines) -> Samples:
    """Return the rate of endless messages: 1 / b of the last piece, in B/s; infinite where that does not grow."""
    last = law.per_byte[:, -1]
    return np.divide(1.0, last, out=np.full_like(last, np.inf), where=last > 0)


def half_size(sizes: Samples, cut: list[int], law: Lines) -> Samples:
    """Return the smallest size at which the law reaches half of its rate; infinite where it does not reach it.

    Of one piece it is a / b (R. W. Hockney, 1994). The last piece has no end.
    """
    half = rate(law) / 2
    found = np.full_like(half, np.inf)
    for piece, (begin, end) in reversed(list(enumerate(pairwise(cut)))):
        left = 1 - np.multiply(
            half, law.per_byte[:, piece], out=np.full_like(half, np.inf), where=np.isfinite(half)
        )
        wanted = np.full_like(half, np.inf)
        np.divide(half * law.start[:, piece], left, out=wanted, where=left > 0)
        wanted = np.maximum(wanted, sizes[begin])
        last = np.inf if end == sizes.size else sizes[end - 1]
        found = np.where(wanted <= last, wanted, found)
    return found


def half_size_measured(sizes: Samples, times: Samples) -> Samples:
    """Return where the curve first reaches half of its highest rate, by a line in logarithms between two sizes."""
    some = sizes > 0
    rates, log_sizes = sizes[some] / times[:, some], np.log(sizes[some])
    half = rates.max(axis=1, keepdims=True) / 2
    at = np.argmax(rates >= half, axis=1)
    below, rows = np.maximum(at - 1, 0), np.arange(times.shape[0])
    low, high = np.log(rates[rows, below]), np.log(rates[rows, at])
    rise = np.where(at > 0, high - low, 1.0)
    part = np.where(at > 0, (np.log(half[:, 0]) - low) / rise, 0.0)
    result: Samples = np.exp(log_sizes[below] + part * (log_sizes[at] - log_sizes[below]))
    return result


def saturation(sizes: Samples, times: Samples) -> Samples:
    """Return the smallest size from which d ln T / d ln s >= 0.95 at three sizes; infinite where there is none."""
    some = sizes > 0
    # A size that is there twice has the mean of its times: no difference of logarithms is divided by nothing.
    distinct, first, equal = np.unique(sizes[some], return_index=True, return_counts=True)
    if distinct.size < _IN_A_ROW:
        return np.full(times.shape[0], np.inf)
    logs = np.add.reduceat(np.log(times[:, some]), first, axis=1) / equal
    steep = np.gradient(logs, np.log(distinct), axis=1) >= _SATURATED
    count = steep.shape[1] - _IN_A_ROW + 1
    run = np.logical_and.reduce([steep[:, first : first + count] for first in range(_IN_A_ROW)])
    return np.where(run.any(axis=1), distinct[np.argmax(run, axis=1)], np.inf)


def steps(sizes: Samples, cut: list[int], law: Lines) -> Samples:
    """Return the ratio of the later piece to the earlier one at each break, shape (rows, breaks); 1 for a bend.

    It is the smaller ratio of those at the last size before the break and at the first size after it: where the
    lines cross between them, nothing jumps.
    """
    found = np.ones((law.start.shape[0], len(cut) - 2))
    for number, first in enumerate(cut[1:-1]):
        at = sizes[first - 1 : first + 1]
        before, after = (
            law.start[:, piece, None] + law.per_byte[:, piece, None] * at for piece in (number, number + 1)
        )
        ratios = after / before
        least, most = ratios.min(axis=1), ratios.max(axis=1)
        found[:, number] = np.where(least > 1, least, np.minimum(most, 1.0))
    return found
