"""Straight lines T(s) = a + b s through times of messages: relative residuals, few outliers, nothing negative."""

from typing import NamedTuple

import numpy as np

from assay.analyse.statistics import Samples

#: Residuals count with their square up to so many times the scatter, linearly beyond (P. J. Huber, 1964).
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
    """The best lines with a, b >= 0.

    Unweighted they would only follow the largest messages: each residual is divided by its time.

    Args:
        sizes: in B, shape (points,).
        times: in s, above 0, shape (rows, points).
        inside: 1 for the points of a row that count, else 0, shape (rows, points).
        scatter: relative standard deviation of a time.
        steps: of reweighting; 1 for plain least squares.
    """
    squares = inside / times**2
    weights = squares
    for step in range(steps):
        start, per_byte = _least_squares(sizes, times, weights)
        off = np.abs(1 - (start[:, None] + per_byte[:, None] * sizes) / times) / scatter
        if step < steps - 1:
            weights = squares * np.minimum(1.0, HUBER / np.maximum(off, HUBER))
    bounded = np.minimum(off, HUBER) if steps > 1 else off
    return Lines(start, per_byte, (inside * bounded * (2 * off - bounded)).sum(axis=1))


def _least_squares(sizes: Samples, times: Samples, weights: Samples) -> tuple[Samples, Samples]:
    """Weighted, with a, b >= 0: where one would be negative the optimum has it 0, since the cost is convex."""
    total = weights.sum(axis=1)
    middle, level = (weights @ sizes) / total, (weights * times).sum(axis=1) / total
    away = sizes - middle[:, None]
    spread = (weights * away**2).sum(axis=1)
    slope = (weights * away * (times - level[:, None])).sum(axis=1)
    per_byte = np.divide(slope, spread, out=np.zeros_like(slope), where=spread > 0)
    per_byte = np.maximum(per_byte, 0.0)
    start = level - per_byte * middle
    through = (weights * times) @ sizes
    moment = weights @ sizes**2
    steep = np.divide(through, moment, out=np.zeros_like(through), where=moment > 0)
    return np.maximum(start, 0.0), np.where(start < 0, steep, per_byte)
