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
#: All patterns of signs of so many differences are tried, of more a drawing.
_ALL_SIGNS = 10
_DRAWN = 1000


def signed_rank_p(differences: ArrayLike) -> float:
    """Exact two-sided p of Wilcoxon's signed-rank test that the differences lie around 0.

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
    """Probability of each value 0 .. mn of Mann and Whitney's U of m and n values without ties.

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
    """How much larger a is than b: median of all differences, exact Mann-Whitney interval, two-sided p.

    With fewer than 4 values on either side there is none: then the ends are the least and the largest difference.
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
    """How many are above 0, those that are 0 counting half."""
    return int(np.count_nonzero(differences > 0)) + int(np.count_nonzero(differences == 0)) / 2


def _two_sided(masses: Samples, least: float) -> float:
    return min(1.0, 2 * float(masses[: math.floor(least) + 1].sum()))


def benjamini_yekutieli(p: Sequence[float]) -> list[float]:
    """Adjusted p, in the order given: claims with at most q are false in a share of q, whatever depends on what.

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
    """|Hodges-Lehmann effects| that differences of A against A would have shown with any other signs, ascending.

    Which of two equal things comes first in a block is chance, so each difference could as well have had the other
    sign: these are the effects that the machine shows where there is none. All patterns of up to 10 signs, a
    drawing (seed 1) of more.
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
