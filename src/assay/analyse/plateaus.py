"""Plateaus of a curve: where it is level, by an exact optimal partition; some points belong to no plateau."""

import math

import msgspec
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from assay.analyse import statistics
from assay.analyse.statistics import Samples, medians, theil_sen
from assay.model.law import Model
from assay.model.quantity import Quantity

CACHE_PLATEAUS = "cache-plateaus"
#: How far points of one plateau scatter (in ln); a point counts for this many squares of it at most.
_SCATTER = 0.04
_MOST = 9.0
#: Cost of a plateau, times ln n, and of a point between two plateaus.
_PENALTY = 4.0
_BETWEEN = 7.0
#: A plateau has so many points, and spans this many octaves.
FEWEST = 3
_LEAST_OCTAVES = 0.5
#: A part that rises by more is a slope; neighbours that differ by less are one plateau.
STEP = math.log(1.15)
#: The same for parts shorter than an octave: the foot and the shoulder of a slope are nearly level.
_SHORT_RISE = math.log(1.09)


class Boundary(msgspec.Struct, frozen=True):
    """Where a plateau ends.

    Attributes:
        size: in B; its ends are the last size on the plateau and the first beyond it.
        cause: what ends there: a cache (`L2`), `TLB`, or nothing that is known.
        cache_bytes: size of that cache.
    """

    size: Quantity
    cause: str = ""
    cache_bytes: int | None = None


class Plateau(msgspec.Struct, frozen=True):
    """Sizes that are copied at one rate.

    Attributes:
        rate: geometric mean of the medians, with the least and the largest.
        end: where the rate falls; None where the curve ends first.
    """

    rate: Quantity
    end: Boundary | None


class CachePlateaus(Model, frozen=True, kw_only=True, tag=CACHE_PLATEAUS):
    """Rates of a copy by the caches that hold it, for sizes that are not bound by the cost of a call.

    Attributes:
        offset: between source and target, in B.
        plateaus: by size.
    """

    offset: int
    plateaus: tuple[Plateau, ...]

    @property
    def headline(self) -> Quantity:
        """Rate of the first plateau."""
        return self.plateaus[0].rate


def plateaus(values: Samples, octaves: Samples) -> list[tuple[int, int]]:
    """Return begin and end (exclusive) of the rising plateaus of a curve.

    A plateau is level and lies more than 15 % above the one before. The last one may rise: nothing is known beyond
    the end of a curve.

    Args:
        values: logarithms, in the order of the abscissa.
        octaves: the abscissa, as its logarithm to base 2, ascending.
    """
    found: list[tuple[int, int]] = []
    parts = [part for part in partition(values) if _span(octaves, part) >= _LEAST_OCTAVES]
    for part in parts:
        begin, end = part
        span = _span(octaves, part)
        # Rise of a straight line along the points: outliers do not change the median slope.
        rise = theil_sen(octaves[begin:end], values[begin:end]) * span
        if rise > (STEP if span >= 1 else _SHORT_RISE) and part != parts[-1]:
            continue
        if found and medians(values[begin:end]) <= medians(values[slice(*found[-1])]) + STEP:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found


def _span(octaves: Samples, part: tuple[int, int]) -> float:
    begin, end = part
    return float(octaves[end - 1] - octaves[begin])


def partition(values: Samples, scatter: float = _SCATTER, fewest: int = FEWEST) -> list[tuple[int, int]]:
    """Return the plateaus of least cost, of `fewest` points or more; points between them belong to none.

    Args:
        values: logarithms, in the order of the abscissa.
        scatter: how far points of one plateau scatter.
        fewest: points of a plateau.
    """
    return statistics.partition(_costs(values, scatter, fewest), _PENALTY * math.log(values.size), _BETWEEN)


def _costs(values: Samples, scatter: float, fewest: int) -> NDArray[np.float64]:
    """Return the cost of each plateau [begin, end): squares around its median, each 9 at most."""
    n = values.size
    costs = np.full((n + 1, n + 1), np.inf)
    for length in range(fewest, n + 1):
        windows = sliding_window_view(values, length)
        squares = ((windows - medians(windows)[:, None]) / scatter) ** 2
        begin = np.arange(n - length + 1)
        costs[begin, begin + length] = np.minimum(squares, _MOST).sum(axis=1)
    return costs
