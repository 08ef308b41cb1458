"""The simulated clock and the samples that a program takes with it."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from assay.simulation.law import Law
from assay.simulation.request import Request

_Samples = NDArray[np.float64]
#: A sample lasts at least this long, 100 times the resolution of the clock. If the law has a least time of
#: sampling, it is divided into this number of samples, each longer by the margin.
_LEAST_SAMPLE_S = 2e-6
_USUAL_SAMPLES = 50
_MARGIN = 1.2
#: First samples over the steady ones: caches and pages are cold.
_WARMING = np.array([1.6, 1.15, 1.04])
#: Samples of each of the two medians that agree within this share once a kernel is warm.
_WINDOW, _STEADY = 5, 0.01
#: Share of the time of a case for warm-up if it never gets steady, as in the native programs.
_WARM_UP_SHARE = 0.2
_GRID = 1.5
_NANO = 1e9
#: 2.5 % on each side, as a whole number.
_ONE_IN = 40


@dataclass(frozen=True)
class Phase:
    """One phase of one kernel: samples of all ranks, shape (ranks, n)."""

    iterations: int
    stop: str
    start_s: _Samples
    seconds: _Samples

    @property
    def end_s(self) -> float:
        """Return when the slowest rank ends."""
        return float((self.start_s[:, -1] + self.seconds[:, -1]).max())


def speed(law: Law, times: _Samples) -> _Samples:
    """Return the factor on every rate at `times` on the clock of the machine: state, drift and foreign load."""
    factors = np.full(times.shape, law.speed[next(iter(law.handover))])
    for at_s, state in law.flips:
        factors[times >= at_s] = law.speed[state]
    for burst in law.bursts:
        factors[(times >= burst.start_s) & (times < burst.end_s)] *= 1 - burst.share
    return factors * (1 - law.steal) / (1 + law.drift * times)


def state(law: Law, time: float) -> str:
    """Return the state at `time`."""
    current = next(iter(law.handover))
    for at_s, name in law.flips:
        if time >= at_s:
            current = name
    return current


@dataclass(frozen=True)
class Sampler:
    """Draws samples of one case.

    Attributes:
        law: law of the machine.
        request: stopping rule.
        rng: source of the noise.
        launched_s: clock of the machine when the program started; `start_s` of samples count from it.
    """

    law: Law
    request: Request
    rng: np.random.Generator
    launched_s: float

    def phases(self, iteration_s: _Samples, clock_s: float, seconds: float) -> list[Phase]:
        """Take warm-up, then measured samples of a kernel whose iteration lasts `iteration_s` on each rank."""
        least_s = min(self.law.sampled_s, seconds / 2)
        warm = np.ones(self.request.max_samples if least_s else 2 * _WINDOW)
        target_s = max(_LEAST_SAMPLE_S, _MARGIN * least_s / _USUAL_SAMPLES)
        iterations = max(1, math.ceil(target_s / float(iteration_s.min())))
        warmup = self._take(iteration_s, iterations, clock_s, np.concatenate((_WARMING, warm)))
        warmup = _warmed(warmup, _WARM_UP_SHARE * seconds, looks=bool(least_s))
        ended = clock_s + warmup.end_s - (clock_s - self.launched_s)
        taken = self._take(iteration_s, iterations, ended, np.ones(self.request.max_samples))
        n, stop = self._stop(taken, seconds - (ended - clock_s), least_s)
        measured = Phase(taken.iterations, stop, taken.start_s[:, :n], taken.seconds[:, :n])
        return [warmup, measured]

    def _take(self, iteration_s: _Samples, iterations: int, clock_s: float, shape: _Samples) -> Phase:
        noise = self.rng.lognormal(0.0, self.law.noise, (len(iteration_s), len(shape)))
        quiet = iterations * iteration_s[:, None] * shape * noise
        # Durations depend on the state at their start, and starts on earlier durations: one step is exact but for
        # the sample with a flip.
        begun = clock_s + np.cumsum(quiet, axis=1) - quiet
        begun = clock_s + _start_times(quiet / speed(self.law, begun))
        lasting = quiet / speed(self.law, begun)
        begun = clock_s - self.launched_s + _start_times(lasting)
        return Phase(iterations, "", self.read(begun), self.read(lasting))

    def read(self, times: _Samples) -> _Samples:
        """Return times as the clock counts them."""
        return np.rint(times * _NANO) / _NANO if self.law.nanoseconds else times

    def _stop(self, taken: Phase, seconds: float, least_s: float) -> tuple[int, str]:
        """Return the number of samples and why they end: checked at n = 10, 15, 23, 34 ... after `least_s`."""
        first = taken.seconds[0]
        sampled_s = np.cumsum(first)
        within = max(1, int(np.searchsorted(sampled_s, seconds)))
        n = self.request.min_samples
        while n < min(within, self.request.max_samples):
            if sampled_s[n - 1] >= least_s and self._is_precise(np.sort(first[:n])):
                return n, "precision"
            n = math.ceil(n * _GRID)
        return (self.request.max_samples, "samples") if within >= self.request.max_samples else (within, "time")

    def _is_precise(self, ordered: _Samples) -> bool:
        n, low = ordered.size, interval_rank(ordered.size)
        middle = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
        half = (ordered[n - low] - ordered[low - 1]) / 2 if low else math.inf
        return bool(half <= self.request.precision * middle)


def _warmed(taken: Phase, seconds: float, *, looks: bool) -> Phase:
    """Return the warm-up of these samples, which ends when it is steady or when its share of the time is over.

    With `looks` it is steady when the last samples agree, as in the programs; else after all samples.
    """
    first = taken.seconds[0]
    n = max(1, min(first.size, int(np.searchsorted(np.cumsum(first), seconds))))
    stop = "steady" if n == first.size and not looks else "time"
    for end in range(2 * _WINDOW, n + 1, _WINDOW) if looks else ():
        earlier, later = np.sort(first[end - 2 * _WINDOW : end].reshape(2, _WINDOW))[:, _WINDOW // 2]
        if abs(later - earlier) <= _STEADY * earlier:
            n, stop = end, "steady"
            break
    return Phase(taken.iterations, stop, taken.start_s[:, :n], taken.seconds[:, :n])


def _start_times(durations: _Samples) -> _Samples:
    """Return when each of consecutive durations starts, from 0."""
    result: _Samples = np.cumsum(durations, axis=1) - durations
    return result


@cache
def interval_rank(n: int) -> int:
    """Return the largest rank l with binomial cdf(l - 1; n, 1/2) <= 2.5 %, 0 where there is none."""
    total, rank = 0, 0
    while (total := total + math.comb(n, rank)) * _ONE_IN <= 2**n:
        rank += 1
    return rank
