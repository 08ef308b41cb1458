"""One mode or two: Hartigan's dip, with conditions under which two modes are worth reporting.

Source: J. A. Hartigan, P. M. Hartigan, The Dip Test of Unimodality, Annals of Statistics 13, 1985; the loop is
that of their algorithm AS 217 with the corrections of M. Maechler (R package diptest, 2003).
"""

import math

import numpy as np

from assay.analyse.statistics import Samples, sorted_median

#: Two modes are reported from this many samples on ...
FEWEST = 30
#: ... when their medians lie this far apart ...
GAP = 0.02
#: ... the smaller holds this share ...
SMALLER = 0.10
#: ... and one mode would give such a dip less often than this.
SIGNIFICANCE = 0.01
#: Longer samples are thinned to as many evenly spaced order statistics: less dip than chance gives, never more.
_LONGEST = 500

#: Quantiles of sqrt(n) x dip of n uniform samples, 20,000 drawings each (numpy's PCG64, seed n; docs/analysis.md).
_PROBABILITIES = (0.5, 0.9, 0.95, 0.99, 0.999)
_QUANTILES = {
    30: (0.3365, 0.4454, 0.4836, 0.5556, 0.6462),
    50: (0.3457, 0.4591, 0.4972, 0.5704, 0.6648),
    100: (0.3550, 0.4724, 0.5112, 0.5911, 0.6956),
    200: (0.3609, 0.4796, 0.5200, 0.6035, 0.7065),
    500: (0.3680, 0.4896, 0.5289, 0.6135, 0.7349),
}


def two_modes(ordered: Samples) -> tuple[float, float] | tuple[()]:
    """Return the medians of the two modes of samples in ascending order (all above 0); empty for one mode."""
    n = ordered.size
    if n < FEWEST or ordered[0] <= 0:
        return ()
    split = _split(np.log(ordered))
    if min(split, n - split) < SMALLER * n:
        return ()
    lower, upper = sorted_median(ordered[:split]), sorted_median(ordered[split:])
    if upper / lower - 1 < GAP:
        return ()
    thinned = ordered
    if n > _LONGEST:
        thinned = ordered[np.linspace(0, n - 1, _LONGEST).round().astype(np.intp)]
    return (lower, upper) if dip_exceeds(dip(thinned), thinned.size) else ()


def _split(ordered: Samples) -> int:
    """The size of the lower of two groups with the least squares inside them (N. Otsu, 1979)."""
    n = ordered.size
    count = np.arange(1, n)
    total = np.cumsum(ordered - ordered.mean())[:-1]
    return int(np.argmax(total**2 / (count * (n - count)))) + 1


def dip_exceeds(value: float, n: int) -> bool:
    """Whether n samples of one mode have such a dip in less than 1 % of drawings."""
    column = _PROBABILITIES.index(1 - SIGNIFICANCE)
    critical = np.interp(math.log(n), np.log(list(_QUANTILES)), [row[column] for row in _QUANTILES.values()])
    return value * math.sqrt(n) > float(critical)


def dip(ordered: Samples) -> float:
    """Return Hartigan's dip of ascending samples: the least distance to a unimodal distribution function."""
    x = ordered.tolist()
    n = len(x)
    if n < 2 or x[0] == x[-1]:  # noqa: PLR2004 (one sample has one mode)
        return 0.5 / max(n, 1)
    convex, concave = _supports(x, 1), _supports(x, -1)
    low, high, largest = 0, n - 1, 1.0
    while True:
        minorant = _chain(convex, high, low)
        majorant = _chain(concave, low, high)
        distance, left, right = _gap(x, minorant, majorant)
        if distance < largest:
            break
        below = [_sag(x, minorant[i + 1], minorant[i], 1) for i in range(left, len(minorant) - 1)]
        above = [_sag(x, majorant[i], majorant[i + 1], -1) for i in range(right, len(majorant) - 1)]
        largest = max([largest, *below, *above])
        if (low, high) == (minorant[left], majorant[right]):
            break
        low, high = minorant[left], majorant[right]
    return largest / (2 * n)


def _supports(x: list[float], direction: int) -> list[int]:
    """For each index the previous (direction 1) or next (-1) vertex of the hull that ends there.

    The greatest convex minorant of the distribution function seen from the left, the least concave majorant from
    the right.
    """
    last = len(x) - 1
    origin = 0 if direction == 1 else last
    support = list(range(len(x)))
    for j in range(origin + direction, last + 1 if direction == 1 else -1, direction):
        vertex = j - direction
        while vertex != origin:
            earlier = support[vertex]
            if (x[j] - x[vertex]) * (vertex - earlier) < (x[vertex] - x[earlier]) * (j - vertex):
                break
            vertex = earlier
        support[j] = vertex
    return support


def _chain(support: list[int], start: int, stop: int) -> list[int]:
    """Vertices of a hull from `start` to `stop`."""
    chain = [start]
    while (chain[-1] > stop) if start > stop else (chain[-1] < stop):
        chain.append(support[chain[-1]])
    return chain


def _gap(x: list[float], minorant: list[int], majorant: list[int]) -> tuple[float, int, int]:
    """Largest distance between minorant and majorant at a vertex, and the vertices that bound it."""
    if len(minorant) == 2 and len(majorant) == 2:  # noqa: PLR2004 (both are one straight line)
        return 1.0, len(minorant) - 1, len(majorant) - 1
    distance, left, right = 0.0, len(minorant) - 1, len(majorant) - 1
    ix, iv = len(minorant) - 2, 1
    while True:
        g, m = minorant[ix], majorant[iv]
        if g > m:
            g1 = minorant[ix + 1]
            d = (m - g1 + 1) - (x[m] - x[g1]) * (g - g1) / (x[g] - x[g1])
            iv += 1
            if d >= distance:
                distance, left, right = d, ix + 1, iv - 1
        else:
            m1 = majorant[iv - 1]
            d = (x[g] - x[m1]) * (m - m1) / (x[m] - x[m1]) - (g - m1 - 1)
            ix -= 1
            if d >= distance:
                distance, left, right = d, ix + 1, iv
        ix, iv = max(ix, 0), min(iv, len(majorant) - 1)
        if minorant[ix] == majorant[iv]:
            return distance, left, right


def _sag(x: list[float], begin: int, end: int, sign: int) -> float:
    """Largest distance of the distribution function from one edge of a hull, at least one step."""
    if end - begin <= 1 or x[end] == x[begin]:
        return 1.0
    slope = (end - begin) / (x[end] - x[begin])
    edge, base = x[begin], begin
    return max(1.0, *(sign * (j - base - (x[j] - edge) * slope) + 1 for j in range(begin, end + 1)))
