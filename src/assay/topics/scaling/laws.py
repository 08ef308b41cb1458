"""Laws of speed-ups by number of cores: the serial fraction, universal scalability, and numbers of events."""

import math
from typing import NamedTuple

import numpy as np

from assay.analyse.statistics import Samples
from assay.model.quantity import CONFIDENCE, Quantity


def karp_flatt(speed_up: Quantity, factor: float) -> Quantity:
    """Return the serial fraction of a speed-up s on p times the cores: (1/s - 1/p) / (1 - 1/p).

    It falls as the speed-up rises, so its ends change places. It is negative where the speed-up is superlinear.
    Source: A. H. Karp, H. P. Flatt, Measuring parallel processor performance, Communications of the ACM 33, 1990.
    """
    value, lo, hi = ((1 / part - 1 / factor) / (1 - 1 / factor) for part in speed_up)
    return Quantity(value, hi, lo, basis=speed_up.basis)


def serial_fraction(speed_up: Quantity, factor: float) -> Quantity | None:
    """Return the fraction of Karp and Flatt; None without an interval, or where it is wider than 1."""
    fraction = karp_flatt(speed_up, factor) if speed_up.has_interval else None
    return fraction if fraction and fraction.hi - fraction.lo < 1 else None


def most_events(count: int) -> float:
    """Return the upper end of the exact 95 % interval of a Poisson mean after `count` events.

    Source: F. Garwood, Fiducial limits for the Poisson distribution, Biometrika 28, 1936. With a mean m, at most
    `count` events have the probability exp(-m) (1 + m + ... + m^count / count!); the result is the m where that is
    2.5 %.
    """
    seen = np.arange(count + 1)
    factorials = np.concatenate(([0.0], np.cumsum(np.log(seen[1:]))))
    low, high = float(count), count + 6 * math.sqrt(count + 1) + 6
    while high - low > 1e-9 * high:
        mean = (low + high) / 2
        few = float(np.exp(seen * math.log(mean) - mean - factorials).sum())
        low, high = (mean, high) if few > (1 - CONFIDENCE) / 2 else (low, mean)
    return high


class Usl(NamedTuple):
    """Coefficients of s(p) = p / (1 + sigma (p - 1) + kappa p (p - 1)), each an array over draws.

    Source: N. J. Gunther, Guerrilla Capacity Planning, Springer, 2007, chapter 4.
    """

    sigma: Samples
    kappa: Samples

    def speed_up(self, factor: float) -> Samples:
        """Return the speed-up on `factor` times the cores."""
        found: Samples = factor / (1 + self.sigma * (factor - 1) + self.kappa * factor * (factor - 1))
        return found

    @property
    def most(self) -> Samples:
        """Factor of cores with the highest speed-up; infinite where kappa is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Samples = np.sqrt(np.maximum(1 - self.sigma, 0) / self.kappa)
        return np.where(self.kappa > 0, found, np.inf)


def usl(factors: Samples, speed_ups: Samples, weights: Samples | None = None, *, coherent: bool = True) -> Usl:
    """Fit the law to each row by least squares of p / s - 1, with sigma, kappa >= 0.

    Args:
        factors: factors of cores, all above 1, shape (points,).
        speed_ups: speed-ups, shape (draws, points).
        weights: weights of the points; by default efficiencies, for relative errors. Gunther has equal weights.
        coherent: whether kappa is fitted; without it the law is that of Amdahl.
    """
    weights = speed_ups / factors if weights is None else weights
    a = weights * (factors - 1)
    b = weights * factors * (factors - 1)
    y = weights * (factors / speed_ups - 1)
    aa, bb, ab = (np.einsum("dp,dp->d", one, other) for one, other in ((a, a), (b, b), (a, b)))
    ay, by = (np.einsum("dp,dp->d", one, y) for one in (a, b))
    alone = np.maximum(ay / aa, 0)
    none = np.zeros_like(alone)
    if not coherent:
        return Usl(alone, none)
    other = np.maximum(by / bb, 0)
    determinant = aa * bb - ab**2
    with np.errstate(divide="ignore", invalid="ignore"):
        sigma, kappa = (ay * bb - by * ab) / determinant, (by * aa - ay * ab) / determinant
    inside = (determinant > 1e-12 * aa * bb) & (sigma >= 0) & (kappa >= 0)
    # Outside, the minimum is on one of the two borders: the one with the smaller sum of squares.
    first = aa * alone**2 - 2 * ay * alone <= bb * other**2 - 2 * by * other
    return Usl(
        np.where(inside, sigma, np.where(first, alone, none)),
        np.where(inside, kappa, np.where(first, none, other)),
    )
