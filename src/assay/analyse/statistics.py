"""Intervals, trends and paired ratios without an assumption of normality."""

import math
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.model.quantity import CONFIDENCE, Basis, Quantity

Samples = NDArray[np.float64]

_TAIL = (1 - CONFIDENCE) / 2
#: The 97.5 % quantile of the normal distribution.
NORMAL = 1.959964
#: Smaller differences have no practical meaning (docs/comparing.md).
MARGIN = 0.01
#: Fewer samples have no 99th percentile.
FEWEST_FOR_TAIL = 1000
#: Points of the integral of a density.
_ANGLES = 20_001
#: Precision of the ends of a share.
_SHARE_STEP = 1e-9
#: Maximum number of points for Kendall's exact distribution; beyond, the normal law is good to three digits.
_EXACT_KENDALL = 60


@cache
def median_rank(n: int) -> int:
    """Return rank l, from 1, of the order statistics x(l), x(n+1-l) that contain the median with 95 %; else 0.

    The largest l with binomial cdf(l-1; n, 1/2) <= 2.5 %. Source: J.-Y. Le Boudec, Performance Evaluation of
    Computer and Communication Systems, 2010, theorem 2.1 and its table for 95 %.
    """
    first = max(0, n // 2 - 5 * math.isqrt(n) - 1)  # ten standard deviations below the middle: nothing lies there
    k = np.arange(first + 1, n // 2 + 1)
    start = math.lgamma(n + 1) - math.lgamma(first + 1) - math.lgamma(n - first + 1) - n * math.log(2)
    log_mass = start + np.concatenate(([0.0], np.cumsum(np.log((n - k + 1) / k))))
    inside = int(np.searchsorted(np.cumsum(np.exp(log_mass)), _TAIL, side="right"))
    return first + inside if inside else 0


def median_interval(samples: ArrayLike, unit: str = "") -> Quantity:
    """Return the median with its 95 % interval by order statistics; with the range for 5 samples or fewer."""
    return _intervals(np.asarray(samples, dtype=np.float64)[None, :], unit)[0]


@cache
def student(free: float, tail: float = _TAIL) -> float:
    """Return the quantile of Student's t with so many degrees of freedom that this share exceeds: 2.5 %.

    With t = sqrt(free) tan(x), the density is proportional to cos(x)^(free - 1).
    """
    x = np.linspace(0, np.pi / 2, _ANGLES)
    density = np.cos(x) ** (free - 1)
    within = np.concatenate(([0.0], np.cumsum((density[1:] + density[:-1]) / 2)))
    return math.sqrt(free) * math.tan(float(np.interp(1 - 2 * tail, within / within[-1], x)))


def chi_square(free: int, z: float) -> float:
    """Return the quantile of chi-square with so many degrees of freedom that has the tail of a normal z.

    Within 1.3 % from 8 degrees of freedom on. Source: E. B. Wilson, M. M. Hilferty, The Distribution of
    Chi-Square, Proceedings of the National Academy of Sciences 17, 1931.
    """
    spread = 2 / (9 * free)
    return free * (1 - spread + z * math.sqrt(spread)) ** 3


def share_of(count: int, of: int) -> Quantity:
    """Return a share of independent trials with its exact 95 % interval, by the tails of the binomial.

    Source: C. J. Clopper, E. S. Pearson, The use of confidence or fiducial limits illustrated in the case of the
    binomial, Biometrika 26, 1934.
    """

    def at_most(most: int, share: float) -> float:
        binomials = (math.lgamma(of + 1) - math.lgamma(k + 1) - math.lgamma(of - k + 1) for k in range(most + 1))
        yes, no = math.log(share), math.log1p(-share)
        return math.fsum(math.exp(each + k * yes + (of - k) * no) for k, each in enumerate(binomials))

    def end(most: int, tail: float) -> float:
        """The share for which at most so many successes have this probability."""
        low, high = 0.0, 1.0
        while high - low > _SHARE_STEP:
            middle = (low + high) / 2
            low, high = (middle, high) if at_most(most, middle) > tail else (low, middle)
        return low

    lo = end(count - 1, 1 - _TAIL) if count else 0.0
    hi = end(count, _TAIL) if count < of else 1.0
    return Quantity(count / of, lo, hi, "", "interval")


def stacked(series: Sequence[Samples]) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
    """Stack series of equal length, so that thousands take a few steps: their places, and a row for each."""
    places: dict[int, list[int]] = {}
    for place, values in enumerate(series):
        places.setdefault(values.size, []).append(place)
    for equal in places.values():
        yield equal, np.array([series[place] for place in equal])


def median_intervals(series: Sequence[Samples], unit: str = "") -> list[Quantity]:
    """Return `median_interval` of each series; no series is empty."""
    found: dict[int, Quantity] = {}
    for places, rows in stacked(series):
        found |= zip(places, _intervals(rows, unit), strict=True)
    return [found[place] for place in range(len(series))]


def _intervals(rows: NDArray[np.float64], unit: str = "") -> list[Quantity]:
    """`median_interval` of each row."""
    ordered = np.sort(rows, axis=1)
    rank = median_rank(ordered.shape[1])
    outer = max(rank, 1) - 1
    basis = basis_of(ordered.shape[1], rank)
    middles, lows, highs = _middle(ordered), ordered[:, outer], ordered[:, -1 - outer]
    ends = zip(middles.tolist(), lows.tolist(), highs.tolist(), strict=True)
    return [Quantity(middle, low, high, unit, basis) for middle, low, high in ends]


def basis_of(count: int, interval: float) -> Basis:
    """Return the basis of the ends of so many values; `interval`: whether there is an interval."""
    if interval:
        return "interval"
    return "single" if count == 1 else "range"


def sorted_median(ordered: Samples) -> float:
    """Return the median of samples in ascending order."""
    return float(_middle(ordered))


def _middle(ordered: Samples) -> Samples:
    """Medians along the last axis, along which values ascend."""
    middle = ordered.shape[-1] // 2
    if ordered.shape[-1] % 2:
        return ordered[..., middle]
    found: Samples = (ordered[..., middle - 1] + ordered[..., middle]) / 2
    return found


def medians(values: ArrayLike) -> Samples:
    """Return the medians along the last axis, as `np.median`, which imports masked arrays: 10 ms of `show`."""
    return _middle(np.sort(np.asarray(values, dtype=np.float64), axis=-1))


def quantiles(values: ArrayLike, shares: Sequence[float]) -> list[float]:
    """Return the quantiles at these shares, as `np.quantile`: linear between neighbours. See `medians`."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    ranks = np.multiply(shares, ordered.size - 1)
    return [float(each) for each in np.interp(ranks, np.arange(ordered.size), ordered)]


@lru_cache(maxsize=64)
def pairs_of(n: int, apart: int = 0) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the indices of every pair of n things with a distance of `apart` or more."""
    one, other = np.triu_indices(n, apart)
    one.flags.writeable = other.flags.writeable = False
    return one, other


def theil_sen(x: ArrayLike, y: ArrayLike) -> float:
    """Return the median of the slopes between all pairs of points; x has at least two distinct values."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    one, other = pairs_of(x.size, 1)
    run, rise = x[other] - x[one], y[other] - y[one]
    return float(medians(rise[run != 0] / run[run != 0]))


def kendall(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Return Kendall's tau-b and its two-sided p: exact without ties up to 60 points, else normal.

    Source: M. G. Kendall, Rank Correlation Methods, 1970, chapters 4 and 5.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n = x.size
    one, other = pairs_of(n, 1)
    score = float(np.sum(np.sign(x[other] - x[one]) * np.sign(y[other] - y[one])))
    pairs = n * (n - 1) / 2
    ties = [np.unique(values, return_counts=True)[1] for values in (x, y)]
    tied_x, tied_y = (float(np.sum(t * (t - 1)) / 2) for t in ties)
    if pairs in (tied_x, tied_y):
        return 0.0, 1.0
    tau = score / math.sqrt((pairs - tied_x) * (pairs - tied_y))
    if not tied_x and not tied_y and n <= _EXACT_KENDALL:
        discordant = round((pairs - abs(score)) / 2)
        return tau, min(1.0, 2 * float(np.sum(_inversions(n)[: discordant + 1])))
    return tau, math.erfc(abs(score) / math.sqrt(2 * _kendall_variance(n, ties[0], ties[1])))


def _kendall_variance(n: int, ties_x: NDArray[np.intp], ties_y: NDArray[np.intp]) -> float:
    tx, ty = ties_x.astype(float), ties_y.astype(float)
    spread = n * (n - 1) * (2 * n + 5) - sum(float(np.sum(t * (t - 1) * (2 * t + 5))) for t in (tx, ty))
    twos = float(np.sum(tx * (tx - 1)) * np.sum(ty * (ty - 1))) / (2 * n * (n - 1))
    threes = float(np.sum(tx * (tx - 1) * (tx - 2)) * np.sum(ty * (ty - 1) * (ty - 2)))
    return spread / 18 + twos + threes / (9 * n * (n - 1) * (n - 2))


@cache
def _inversions(n: int) -> Samples:
    """The probability of each number of discordant pairs among all orders of n things."""
    mass = np.ones(1)
    for size in range(2, n + 1):
        mass = np.convolve(mass, np.full(size, 1 / size))
    return mass


@cache
def signed_rank_masses(n: int) -> Samples:
    """The probability of each value 0 .. n(n+1)/2 of Wilcoxon's signed-rank sum of n differences without ties."""
    mass = np.ones(1)
    for rank in range(1, n + 1):
        mass = np.convolve(mass, np.concatenate(([0.5], np.zeros(rank - 1), [0.5])))
    return mass


@cache
def signed_rank(n: int) -> int:
    """Return rank k of the Walsh averages w(k), w(M+1-k) that contain the shift with 95 %; 0 below 6 pairs.

    The largest k with P(W <= k-1) <= 2.5 % for Wilcoxon's signed-rank sum W. Source: M. Hollander, D. A. Wolfe,
    E. Chicken, Nonparametric Statistical Methods, 2014, section 3.3.
    """
    return int(np.searchsorted(np.cumsum(signed_rank_masses(n)), _TAIL, side="right"))


def hodges_lehmann(differences: ArrayLike) -> Quantity:
    """Return the median of the Walsh averages of paired differences, with the exact signed-rank interval.

    For fewer than 6 pairs, `lo` and `hi` are the smallest and the largest difference.
    """
    values = np.asarray(differences, dtype=np.float64)
    one, other = pairs_of(values.size)
    walsh = np.sort((values[one] + values[other]) / 2)
    rank = signed_rank(values.size)
    outer = max(rank, 1) - 1
    basis = basis_of(values.size, rank)
    return Quantity(sorted_median(walsh), float(walsh[outer]), float(walsh[-1 - outer]), basis=basis)


Verdict = Literal["faster", "slower", "trivially different", "equivalent", "inconclusive"]


def verdict(lo: float, hi: float, confidence: float | None, floor: float = 0.0) -> Verdict:
    """Return the verdict on the interval [lo, hi] of a speed-up (above 1 is faster), with a margin of 1 %.

    A range without confidence is inconclusive. No difference is claimed that does not exceed `floor`, the
    resolution of the machine; but two figures within this resolution are not therefore equivalent.
    """
    margin = 1 + max(MARGIN, floor)
    if confidence is None:
        return "inconclusive"
    if lo > margin:
        return "faster"
    if hi < 1 / margin:
        return "slower"
    if lo >= 1 / (1 + MARGIN) and hi <= 1 + MARGIN:
        differs = lo > 1 + floor or hi < 1 / (1 + floor)
        return "trivially different" if differs else "equivalent"
    return "inconclusive"


def partition(costs: Samples, penalty: float, outside: float = math.inf) -> list[tuple[int, int]]:
    """Return the segments [begin, end) of least total cost, by dynamic programming.

    Args:
        costs: of the segment [row, column), shape (points + 1, points + 1); infinite if it is not allowed.
        penalty: of each segment.
        outside: cost of a point in no segment.
    """
    n = len(costs) - 1
    best, before = np.zeros(n + 1), np.zeros(n + 1, dtype=np.intp)
    for end in range(1, n + 1):
        whole = best[:end] + costs[:end, end] + penalty
        begin = int(np.argmin(whole))
        inside = whole[begin] < best[end - 1] + outside
        best[end], before[end] = (whole[begin], begin) if inside else (best[end - 1] + outside, -1)
    parts, end = [], n
    while end:
        if before[end] >= 0:
            parts.append((int(before[end]), end))
        end = int(before[end]) if before[end] >= 0 else end - 1
    return parts[::-1]


def percentile(ordered: Samples, share: float) -> float:
    """Return the smallest sample that at least `share` of the samples do not exceed; samples ascend."""
    return float(ordered[max(0, math.ceil(share * ordered.size - 1e-9) - 1)])
