"""The slowest thread of a kernel whose threads wait for each other, and whether it decides the time."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean, median

from assay.analyse.statistics import median_interval
from assay.model.derivation import OF_ITERATION, OVER_MEAN
from assay.model.placed import Placed
from assay.model.result import SlowestThread

ASPECTS = frozenset((OVER_MEAN, OF_ITERATION))


def of_launch(aspect: str, threads: Sequence[float]) -> float:
    """Return an aspect of one launch.

    Args:
        aspect: `OVER_MEAN` or `OF_ITERATION`.
        threads: share of an iteration in which each thread works by itself.
    """
    return max(threads) / fmean(threads) if aspect == OVER_MEAN else max(threads)


def slowest_thread(launches: Sequence[Sequence[float]], placed: Placed) -> SlowestThread | None:
    """Return the thread that was slowest by the median over launches; None if threads were not timed in all.

    Args:
        launches: share of an iteration of each thread, launch by launch.
        placed: where they ran.
    """
    if not launches or not all(launches) or len({len(each) for each in launches}) > 1:
        return None
    middle = [median(of) for of in zip(*launches, strict=True)]
    thread = middle.index(max(middle))
    cpus = placed.cpus[0] if placed.cpus else ()
    times = Counter(each.index(max(each)) for each in map(list, launches))
    over_mean, of_iteration = (
        median_interval([of_launch(aspect, each) for each in launches], "") for aspect in (OVER_MEAN, OF_ITERATION)
    )
    cpu = cpus[thread] if len(cpus) == len(middle) else None
    return SlowestThread(thread, cpu, times[thread], over_mean, of_iteration)
