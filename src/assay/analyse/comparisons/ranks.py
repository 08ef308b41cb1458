"""Estimates of differences with exact intervals by ranks, and what a machine shows without any difference."""

import itertools
import math
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from assay.analyse.statistics import (
    Samples,
    basis_of,
    medians,
    pairs_of,
    sorted_median,
)
from assay.model.quantity import CONFIDENCE, Quantity

_TAIL = (1 - CONFIDENCE) / 2
#: Fewer launches on either side have no interval between runs.
FEWEST_LAUNCHES = 4
#: Maximum number of differences for which all patterns of signs are tried; size of the random drawing for more.
_ALL_SIGNS = 10
_DRAWN = 1000


@cache
def mann_whitney_masses(m: int, n: int) -> Samples:
    """Return the probability of each value 0 .. mn of Mann and Whitney's U of m and n values without ties.

    Counts by the Gaussian binomial, multiplied out factor by factor. Source: as for `shift`.
    """
    counts = [1] + [0] * (m * n)
    for k in range(1, m + 1):
        for at in range(m * n, n + k - 1, -1):  # times (1 - q^(n+k))
            counts[at] -= counts[at - n - k]
        for at in range(k, m * n + 1):  # by (1 - q^k)
            counts[at] += counts[at - k]
    return np.asarray(counts, dtype=np.float64) / math.comb(m + n, m)


def shift(a: ArrayLike, b: ArrayLike) -> Quantity:
    """Return the median of all differences a - b with the exact Mann-Whitney interval.

    With fewer than 4 values on either side the ends are the smallest and the largest difference.
    Source: M. Hollander, D. A. Wolfe, E. Chicken, Nonparametric Statistical Methods, 2014, sections 4.1 to 4.3.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    differences = np.sort(np.subtract.outer(a, b), axis=None)
    middle = sorted_median(differences)
    if min(a.size, b.size) < FEWEST_LAUNCHES:
        basis = basis_of(differences.size, 0)
        return Quantity(middle, float(differences[0]), float(differences[-1]), basis=basis)
    rank = int(np.searchsorted(np.cumsum(mann_whitney_masses(a.size, b.size)), _TAIL, side="right"))
    return Quantity(middle, float(differences[rank - 1]), float(differences[-rank]), basis="interval")


def null_effects(differences: ArrayLike) -> Samples:
    """Return |Hodges-Lehmann effects| of the differences of A against A with all other signs, ascending.

    The order of two equal cases in a block is chance, so each difference could have the other sign. These are the
    effects that the machine shows without any cause. Up to 10 differences all patterns of signs are tried, for
    more a random drawing (seed 1).
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.size <= _ALL_SIGNS:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=values.size)))
    else:
        signs = np.random.default_rng(1).choice((1.0, -1.0), (_DRAWN, values.size))
    flipped = signs * values
    one, other = pairs_of(values.size)
    effects: Samples = np.sort(np.abs(medians((flipped[:, one] + flipped[:, other]) / 2)))
    return effects
