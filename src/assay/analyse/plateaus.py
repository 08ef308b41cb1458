"""Plateaus of a curve: where it is level, by an exact optimal partition with points that belong to none."""

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from assay.analyse.statistics import Samples, medians, theil_sen

#: How far points of one plateau scatter (in ln); a point counts for this many squares of it at most.
_SCATTER = 0.04
_MOST = 9.0
#: What a plateau costs, times ln n, and what a point between two plateaus does.
_PENALTY = 4.0
_BETWEEN = 7.0
#: A plateau has so many points, and spans this much of an octave.
FEWEST = 3
_LEAST_OCTAVE = 0.6
#: What rises by more along its length is a slope; neighbours that differ by less are one plateau.
STEP = math.log(1.15)
#: The same for what is shorter than an octave: the foot and the shoulder of a slope are nearly level.
_SHORT_RISE = math.log(1.09)


def plateaus(values: Samples, octave: float) -> list[tuple[int, int]]:
    """Begin and end (exclusive) of the rising plateaus of a curve.

    A plateau is level and lies more than 15 % above the one before. The last one may creep: a curve that ends is
    all that is known of what comes after.

    Args:
        values: logarithms, in the order of the abscissa.
        octave: points for each doubling of the abscissa.
    """
    found: list[tuple[int, int]] = []
    parts = [part for part in partition(values) if part[1] - part[0] >= _LEAST_OCTAVE * octave]
    for number, (begin, end) in enumerate(parts):
        most = STEP if end - begin > octave else _SHORT_RISE
        if _rise(values[begin:end]) > most and number < len(parts) - 1:
            continue
        if found and float(medians(values[begin:end])) <= _level(values, found[-1]) + STEP:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found


def _level(values: Samples, part: tuple[int, int]) -> float:
    return float(medians(values[slice(*part)]))


def _rise(values: Samples) -> float:
    """What a straight line rises along the points: the median slope, which outliers do not turn."""
    return theil_sen(np.arange(values.size), values) * (values.size - 1)


def partition(values: Samples, scatter: float = _SCATTER, fewest: int = FEWEST) -> list[tuple[int, int]]:
    """Plateaus of least cost, of `fewest` points or more; points between them belong to none.

    Args:
        values: logarithms, in the order of the abscissa.
        scatter: how far points of one plateau scatter.
        fewest: points of a plateau.
    """
    n = values.size
    costs = _costs(values, scatter, fewest)
    best = np.zeros(n + 1)
    before = np.zeros(n + 1, dtype=np.intp)
    for end in range(1, n + 1):
        best[end], before[end] = best[end - 1] + _BETWEEN, -1
        if end >= fewest:
            begin = int(np.argmin(best[: end - fewest + 1] + costs[: end - fewest + 1, end]))
            cost = best[begin] + costs[begin, end] + _PENALTY * math.log(n)
            if cost < best[end]:
                best[end], before[end] = cost, begin
    parts, end = [], n
    while end:
        if before[end] >= 0:
            parts.append((int(before[end]), end))
        end = end - 1 if before[end] < 0 else int(before[end])
    return parts[::-1]


def _costs(values: Samples, scatter: float, fewest: int) -> NDArray[np.float64]:
    """Cost of the points of each plateau [begin, end): squares around its median, each of 9 at most."""
    n = values.size
    costs = np.full((n + 1, n + 1), np.inf)
    for length in range(fewest, n + 1):
        windows = sliding_window_view(values, length)
        squares = ((windows - medians(windows)[:, None]) / scatter) ** 2
        begin = np.arange(n - length + 1)
        costs[begin, begin + length] = np.minimum(squares, _MOST).sum(axis=1)
    return costs
