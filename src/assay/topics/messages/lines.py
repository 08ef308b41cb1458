"""Straight lines T(s) = a + b s through times of messages: relative residuals, few outliers, nothing negative."""

from typing import NamedTuple

import numpy as np

from assay.analyse.statistics import Samples

#: Residuals count with their square up to this many times the scatter, linearly beyond (P. J. Huber, 1964).
HUBER = 2.0
#: Reweighted least squares of a convex cost: weights settle in a few steps.
_STEPS = 12


class Lines(NamedTuple):
    """Lines, one for each row of times.

    Attributes:
        start: a in s, shape (rows,).
        per_byte: b in s/B.
        cost: sum of squares of relative residuals in units of the scatter, linear beyond the cut of Huber.
    """

    start: Samples
    per_byte: Samples
    cost: Samples


def lines(sizes: Samples, times: Samples, inside: Samples, scatter: float, steps: int = _STEPS) -> Lines:
    """Fit the best lines with a, b >= 0.

    Each residual is divided by its time: unweighted lines follow the largest messages only.

    Args:
        sizes: in B, shape (points,).
        times: in s, above 0, shape (rows, points).
        inside: 1 for the points of a row that count, else 0, shape (rows, points).
        scatter: relative standard deviation of a time.
        steps: of reweighting; 1 for plain least squares.
    """
    squares = inside / times**2
    start, per_byte = _least_squares(sizes, times, squares)
    off = _off(sizes, times, start, per_byte, scatter)
    if steps == 1:
        return Lines(start, per_byte, _of_rows(inside, off * off))
    moving = np.flatnonzero((inside * off > HUBER).any(axis=1))  # the others' weights stay as they are
    if moving.size:
        some, weights = times[moving], squares[moving]
        for _ in range(steps - 1):
            lessened = weights * (HUBER / np.maximum(off[moving], HUBER))
            start[moving], per_byte[moving] = _least_squares(sizes, some, lessened)
            off[moving] = _off(sizes, some, start[moving], per_byte[moving], scatter)
    bounded = np.minimum(off, HUBER)
    return Lines(start, per_byte, _of_rows(inside, bounded * (2 * off - bounded)))


def _off(sizes: Samples, times: Samples, start: Samples, per_byte: Samples, scatter: float) -> Samples:
    """Return relative residuals in units of the scatter, shape (rows, points)."""
    return np.abs(1 - (start[:, None] + per_byte[:, None] * sizes) / times) / scatter


def _of_rows(one: Samples, other: Samples) -> Samples:
    """Return the sum of products of each row; for short rows several times faster than `sum`."""
    found: Samples = np.einsum("rp,rp->r", one, other)
    return found


def _least_squares(sizes: Samples, times: Samples, weights: Samples) -> tuple[Samples, Samples]:
    """Fit weighted lines with a, b >= 0: a negative one is 0 in the optimum, since the cost is convex."""
    total = weights @ np.ones_like(sizes)
    middle, level = (weights @ sizes) / total, _of_rows(weights, times) / total
    away = sizes - middle[:, None]
    pull = weights * away
    spread = _of_rows(pull, away)
    slope = _of_rows(pull, times - level[:, None])
    per_byte = np.divide(slope, spread, out=np.zeros_like(slope), where=spread > 0)
    per_byte = np.maximum(per_byte, 0.0)
    start = level - per_byte * middle
    under = np.flatnonzero(start < 0)
    if under.size:
        some = weights[under]
        through, moment = (some * times[under]) @ sizes, some @ sizes**2
        per_byte[under] = np.divide(through, moment, out=np.zeros_like(through), where=moment > 0)
    return np.maximum(start, 0.0), per_byte
