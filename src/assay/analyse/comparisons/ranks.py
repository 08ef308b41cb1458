"""Exact rank tests without an assumption of normality, and the price of making many comparisons."""

import itertools
import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from assay.analyse.statistics import (
    Samples,
    basis_of,
    medians,
    pairs_of,
    signed_rank_masses,
    sorted_median,
)
from assay.model.quantity import CONFIDENCE, Quantity

_TAIL = (1 - CONFIDENCE) / 2
#: Fewer launches on either side have no interval between runs.
FEWEST_LAUNCHES = 4
#: Maximum number of differences for which all patterns of signs are tried; size of the random drawing for more.
_ALL_SIGNS = 10
_DRAWN = 1000


def signed_rank_p(differences: ArrayLike) -> float:
    """Return the exact two-sided p of Wilcoxon's signed-rank test for differences around 0.

    The sum of the ranks is the number of positive Walsh averages, those of 0 counting half, so that p and the
    interval of `hodges_lehmann` say the same. Source: M. Hollander, D. A. Wolfe, E. Chicken, Nonparametric
    Statistical Methods, 2014, section 3.1.
    """
    values = np.asarray(differences, dtype=np.float64)
    one, other = pairs_of(values.size)
    walsh = values[one] + values[other]
    total = _above(walsh)
    return _two_sided(signed_rank_masses(values.size), min(total, walsh.size - total))


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


def shift(a: ArrayLike, b: ArrayLike) -> tuple[Quantity, float | None]:
    """Return the median of all differences a - b with the exact Mann-Whitney interval, and the two-sided p.

    With fewer than 4 values on either side the ends are the smallest and the largest difference, and p is None.
    Source: M. Hollander, D. A. Wolfe, E. Chicken, Nonparametric Statistical Methods, 2014, sections 4.1 to 4.3.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    differences = np.sort(np.subtract.outer(a, b), axis=None)
    middle = sorted_median(differences)
    if min(a.size, b.size) < FEWEST_LAUNCHES:
        basis = basis_of(differences.size, 0)
        return Quantity(middle, float(differences[0]), float(differences[-1]), basis=basis), None
    masses = mann_whitney_masses(a.size, b.size)
    rank = int(np.searchsorted(np.cumsum(masses), _TAIL, side="right"))
    larger = _above(differences)
    p = _two_sided(masses, min(larger, differences.size - larger))
    return Quantity(middle, float(differences[rank - 1]), float(differences[-rank]), basis="interval"), p


def _above(differences: Samples) -> float:
    """The number of differences above 0; each 0 counts half."""
    return int(np.count_nonzero(differences > 0)) + int(np.count_nonzero(differences == 0)) / 2


def _two_sided(masses: Samples, least: float) -> float:
    return min(1.0, 2 * float(masses[: math.floor(least) + 1].sum()))


def benjamini_yekutieli(p: Sequence[float]) -> list[float]:
    """Return adjusted p, in order: of claims with p up to q, a share of q is false, under any dependency.

    Source: Y. Benjamini, D. Yekutieli, The control of the false discovery rate in multiple testing under
    dependency, Annals of Statistics 29, 2001, theorem 1.3.
    """
    count = len(p)
    penalty = count * sum(1 / rank for rank in range(1, count + 1))
    falling = sorted(range(count), key=lambda at: p[at], reverse=True)
    scaled = (min(1.0, penalty * p[at] / rank) for rank, at in zip(range(count, 0, -1), falling, strict=True))
    adjusted = dict(zip(falling, itertools.accumulate(scaled, min), strict=True))
    return [adjusted[at] for at in range(count)]


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
