"""The samples of a case as columns: one row for each series, and the samples of all series in one array."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.model.record import Series

PHASES: tuple[Literal["warmup", "measured"], ...] = ("warmup", "measured")
STOPS: tuple[Literal["precision", "samples", "time", "steady"], ...] = ("precision", "samples", "time", "steady")


class SampleTable(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Samples of all kernels, ranks and phases of a case in one launch.

    Attributes:
        kernels: names.
        kernel: index in `kernels` of each series, shape (series,), like the next five.
        rank: process.
        phase: index in `PHASES`.
        stop: index in `STOPS`.
        iterations: iterations of each sample.
        counts: number of samples.
        seconds: durations of `iterations` iterations, undivided, shape (samples,).
    """

    kernels: tuple[str, ...]
    kernel: NDArray[np.int64]
    rank: NDArray[np.int64]
    phase: NDArray[np.int64]
    stop: NDArray[np.int64]
    iterations: NDArray[np.int64]
    counts: NDArray[np.int64]
    seconds: NDArray[np.float64]

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """Index behind the last sample of each series."""
        return np.cumsum(self.counts)

    def block(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The samples of series with equal counts, shape (rows, samples of each)."""
        count = int(self.counts[rows[0]])
        first = self.ends[rows] - count
        if rows.size == int(rows[-1] - rows[0]) + 1 and int(self.ends[rows[-1]] - first[0]) == count * rows.size:
            return self.seconds[first[0] : first[0] + count * rows.size].reshape(rows.size, count)
        found: NDArray[np.float64] = self.seconds[first[:, None] + np.arange(count)]
        return found

    def measured(self) -> bool:
        """Whether there are samples other than warm-ups."""
        return bool(self.counts[self.phase == PHASES.index("measured")].any())

    def groups(self) -> Iterator[tuple[str, str, NDArray[np.int64]]]:
        """Kernel, phase and rows of its series, in the order in which they were first written."""
        key = self.kernel * len(PHASES) + self.phase
        found, first = np.unique(key, return_index=True)
        for each in found[np.argsort(first)].tolist():
            yield self.kernels[each // len(PHASES)], PHASES[each % len(PHASES)], np.flatnonzero(key == each)


class Tabled(Sequence[Series]):
    """Series that are kept as columns."""

    @property
    @abstractmethod
    def samples(self) -> int:
        """How many samples all of them have."""

    @abstractmethod
    def table(self) -> SampleTable:
        """The columns."""

    @abstractmethod
    def starts(self) -> NDArray[np.float64]:
        """Start of each sample of all series, seconds since the program's start, shape (samples,)."""


def table_of(series: Sequence[Series]) -> SampleTable:
    """The columns of series, in whatever form they are stored."""
    if isinstance(series, Tabled):
        return series.table()
    kernels = tuple(dict.fromkeys(each.kernel for each in series))
    values = [np.asarray(each.seconds, dtype=np.float64) for each in series]
    return SampleTable(
        kernels,
        _whole(kernels.index(each.kernel) for each in series),
        _whole(each.rank for each in series),
        _whole(PHASES.index(each.phase) for each in series),
        _whole(STOPS.index(each.stop) for each in series),
        _whole(each.iterations for each in series),
        _whole(map(len, values)),
        np.concatenate([np.zeros(0), *values]),
    )


def count_of(series: Sequence[Series]) -> int:
    """Samples of all series."""
    return series.samples if isinstance(series, Tabled) else sum(len(each.seconds) for each in series)


def starts_of(series: Sequence[Series]) -> NDArray[np.float64]:
    """Start of each sample of all series, in whatever form they are stored, shape (samples,)."""
    if isinstance(series, Tabled):
        return series.starts()
    return np.concatenate([np.zeros(0), *(np.asarray(each.start_s, dtype=np.float64) for each in series)])


def _whole(values: Iterable[int]) -> NDArray[np.int64]:
    return np.fromiter(values, dtype=np.int64)
