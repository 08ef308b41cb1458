"""The simulated clock and the samples that a program would take on it."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from assay.simulation.law import Law
from assay.simulation.request import Request

_Samples = NDArray[np.float64]
#: A sample lasts at least this long, 100 times the clock's resolution.
_LEAST_SAMPLE_S = 2e-6
#: First samples against the steady ones: caches and pages are cold.
_WARMING = np.array([1.6, 1.15, 1.04] + [1.0] * 10)
_UNSTEADY_SAMPLES = 40
_GRID = 1.5
_NANO = 1e9
#: 2.5 % on each side, kept in whole numbers.
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
        """When the slowest rank is through."""
        return float((self.start_s[:, -1] + self.seconds[:, -1]).max())


def speed(law: Law, times: _Samples) -> _Samples:
    """Factor on every rate at `times` on the machine's clock: state, drift and foreign load."""
    factors = np.full(times.shape, law.speed[next(iter(law.handover))])
    for at_s, state in law.flips:
        factors[times >= at_s] = law.speed[state]
    for burst in law.bursts:
        factors[(times >= burst.start_s) & (times < burst.end_s)] *= 1 - burst.share
    return factors * (1 - law.steal) / (1 + law.drift * times)


def state(law: Law, time: float) -> str:
    """The state that holds at `time`."""
    current = next(iter(law.handover))
    for at_s, name in law.flips:
        if time >= at_s:
            current = name
    return current


#: Of the time of a case, when it never gets steady: that of the native programs.
_WARM_UP_SHARE = 0.2


@dataclass(frozen=True)
class Sampler:
    """Draws samples of one case.

    Attributes:
        law: of the machine.
        request: stopping rule.
        rng: source of the noise.
        launched_s: machine's clock when the program started; `start_s` of samples count from it.
    """

    law: Law
    request: Request
    rng: np.random.Generator
    launched_s: float

    def phases(self, iteration_s: _Samples, clock_s: float, seconds: float, *, unsteady: bool) -> list[Phase]:
        """Warm-up, then measured samples of a kernel whose iteration lasts `iteration_s` on each rank."""
        count = _UNSTEADY_SAMPLES if unsteady else len(_WARMING)
        shape = np.linspace(1, 2, count) if unsteady else _WARMING
        warmup = _warmup_in_time(self._take(iteration_s, clock_s, shape), _WARM_UP_SHARE * seconds)
        ended = clock_s + warmup.end_s - (clock_s - self.launched_s)
        tilt = np.linspace(2, 3, self.request.max_samples) if unsteady else np.ones(self.request.max_samples)
        taken = self._take(iteration_s, ended, tilt)
        n, stop = self._stop(taken, seconds - (ended - clock_s))
        measured = Phase(taken.iterations, stop, taken.start_s[:, :n], taken.seconds[:, :n])
        return [
            Phase(warmup.iterations, "time" if unsteady else warmup.stop, warmup.start_s, warmup.seconds),
            measured,
        ]

    def _take(self, iteration_s: _Samples, clock_s: float, shape: _Samples) -> Phase:
        iterations = max(1, math.ceil(_LEAST_SAMPLE_S / float(iteration_s.min())))
        noise = self.rng.lognormal(0.0, self.law.noise, (len(iteration_s), len(shape)))
        quiet = iterations * iteration_s[:, None] * shape * noise
        # Durations depend on the state at their start, starts on the durations before: one step settles it but for
        # the sample in which a flip falls.
        begun = clock_s + np.cumsum(quiet, axis=1) - quiet
        begun = clock_s + _start_times(quiet / speed(self.law, begun))
        lasting = quiet / speed(self.law, begun)
        begun = clock_s - self.launched_s + _start_times(lasting)
        return Phase(iterations, "", self._read(begun), self._read(lasting))

    def _read(self, times: _Samples) -> _Samples:
        """What the clock shows."""
        return np.rint(times * _NANO) / _NANO if self.law.nanoseconds else times

    def _stop(self, taken: Phase, seconds: float) -> tuple[int, str]:
        """How many samples are taken and why no more: looked at n = 10, 15, 23, 34 ... only."""
        first = taken.seconds[0]
        within = max(1, int(np.searchsorted(np.cumsum(first), seconds)))
        n = self.request.min_samples
        while n < min(within, self.request.max_samples):
            ordered = np.sort(first[:n])
            low = interval_rank(n)
            half = (ordered[n - low] - ordered[low - 1]) / 2 if low else math.inf
            if half <= self.request.precision * (ordered[(n - 1) // 2] + ordered[n // 2]) / 2:
                return n, "precision"
            n = math.ceil(n * _GRID)
        return (self.request.max_samples, "samples") if within >= self.request.max_samples else (within, "time")


def _warmup_in_time(warmup: Phase, seconds: float) -> Phase:
    """A warm-up that ends in time, as the programs end it: steady, or when its share of the time is over."""
    whole = warmup.seconds.shape[1]
    n = max(1, min(whole, int(np.searchsorted(np.cumsum(warmup.seconds[0]), seconds))))
    return Phase(
        warmup.iterations, "steady" if n == whole else "time", warmup.start_s[:, :n], warmup.seconds[:, :n]
    )


def _start_times(durations: _Samples) -> _Samples:
    """When each of consecutive durations starts, from 0."""
    result: _Samples = np.cumsum(durations, axis=1) - durations
    return result


@cache
def interval_rank(n: int) -> int:
    """Largest rank l with binomial cdf(l - 1; n, 1/2) <= 2.5 %, 0 where there is none."""
    total, rank = 0, 0
    while (total := total + math.comb(n, rank)) * _ONE_IN <= 2**n:
        rank += 1
    return rank
