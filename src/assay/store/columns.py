"""Integers and samples as compressed columns: MessagePack in zlib.

A column of integers is its smallest value and the differences to it: byte 0 of all of them first, then byte 1 ...

Samples are restored bit by bit. A clock that counts nanoseconds gives doubles n / 1e9: then the integers n are
stored, durations as differences to the smallest of their series, starts as the time since the end of the previous
sample. All other doubles are stored as their bits.
"""

import zlib
from array import array
from functools import lru_cache
from itertools import islice
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.model.samples import SampleTable

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_NANO = 1e9
#: Integers up to here are exact as doubles.
_EXACT = 2.0**53
_LEVEL = 6
_WORD = 8
_BITS = 2**64 - 1

_Kind = TypeVar("_Kind", bound=msgspec.Struct)


class Column(msgspec.Struct, frozen=True, array_like=True):
    """Integers: the smallest, their number, and the bytes of the differences to it, plane by plane."""

    least: int
    count: int
    planes: bytes

    @classmethod
    def of(cls, values: Ints) -> "Column":
        """The column of `values`, shape (n,)."""
        if not values.size:
            return cls(0, 0, b"")
        least = values.min()
        rest = (values.view(np.uint64) - least.view(np.uint64)).astype("<u8")  # differences wrap, and so do sums
        planes = (int(rest.max()).bit_length() + 7) // 8
        return cls(int(least), values.size, rest.view(np.uint8).reshape(-1, _WORD)[:, :planes].T.tobytes())

    def values(self) -> Ints:
        """The integers, shape (n,)."""
        rest = np.zeros((self.count, _WORD), dtype=np.uint8)
        if self.planes:
            planes = np.frombuffer(self.planes, dtype=np.uint8).reshape(-1, self.count)
            rest[:, : len(planes)] = planes.T
        return rest.reshape(-1).view("<u8").astype(np.uint64).view(np.int64) + np.int64(self.least)


class SeriesColumns(msgspec.Struct, frozen=True, array_like=True):
    """A table of series without its samples; `rank` as differences from one series to the next."""

    kernels: tuple[str, ...]
    kernel: Column
    rank: Column
    phase: Column
    stop: Column
    iterations: Column
    counts: Column


class Durations(msgspec.Struct, frozen=True, array_like=True):
    """Samples of all series: ns above the `least` of each non-empty series; if that is None, bits of doubles."""

    least: Column | None
    values: Column


class Starts(msgspec.Struct, frozen=True, array_like=True):
    """Starts of all series: the first of each; for the others, the time since the end of the previous sample."""

    first: Column
    steps: Column


def squeezed(value: msgspec.Struct) -> bytes:
    """The value as compressed bytes."""
    return zlib.compress(msgspec.msgpack.encode(value), _LEVEL)


def loosened(packed: bytes, kind: type[_Kind]) -> _Kind:
    """The inverse of `squeezed`."""
    return msgspec.msgpack.decode(zlib.decompress(packed), type=kind)


def series_columns(table: SampleTable) -> SeriesColumns:
    """The rows of a table."""
    plain = (table.phase, table.stop, table.iterations, table.counts)
    return SeriesColumns(
        table.kernels, Column.of(table.kernel), Column.of(steps(table.rank)), *map(Column.of, plain)
    )


def steps(values: Ints) -> Ints:
    """Differences, the first one from 0: the inverse of `np.cumsum`."""
    found: Ints = values - np.concatenate([np.zeros(1, dtype=np.int64), values])[: values.size]
    return found


def samples_columns(table: SampleTable, starts: Floats) -> tuple[Durations, Starts]:
    """Durations and starts of the samples of a table, both of shape (samples,)."""
    inner, firsts = _places(table.counts)
    seconds, began = _nanoseconds(table.seconds), _nanoseconds(starts)
    if seconds is None or began is None:
        ends = _ends(starts, table.seconds)
        apart = starts.view(np.int64)[inner] - ends[inner - 1]
        zigzag = (apart << 1) ^ (apart >> np.int64(63))
        held = Durations(None, Column.of(table.seconds.view(np.int64)))
        return held, Starts(Column.of(starts.view(np.int64)[firsts]), Column.of(zigzag))
    least = np.minimum.reduceat(seconds, firsts) if firsts.size else seconds
    rest = seconds - np.repeat(least, table.counts[table.counts > 0])
    apart = began[inner] - began[inner - 1] - seconds[inner - 1]
    return Durations(Column.of(least), Column.of(rest)), Starts(Column.of(began[firsts]), Column.of(apart))


@lru_cache(maxsize=4)
def table(head: SeriesColumns, durations: bytes) -> SampleTable:
    """The table of series with its samples; the last few tables are cached."""
    counts = head.counts.values()
    held = loosened(durations, Durations)
    values = held.values.values()
    if held.least is None:
        seconds = values.view(np.float64)
    else:
        seconds = (values + np.repeat(held.least.values(), counts[counts > 0])) / _NANO
    return SampleTable(
        head.kernels,
        kernel=head.kernel.values(),
        rank=np.cumsum(head.rank.values()),
        phase=head.phase.values(),
        stop=head.stop.values(),
        iterations=head.iterations.values(),
        counts=counts,
        seconds=seconds,
    )


def starts(samples: SampleTable, durations: bytes, packed: bytes) -> Floats:
    """The starts of the samples of a table, shape (samples,)."""
    whole = loosened(durations, Durations).least is not None
    held = loosened(packed, Starts)
    inner, firsts = _places(samples.counts)
    first, apart = held.first.values(), held.steps.values()
    filled = samples.counts[samples.counts > 0]
    if not whole:
        return _chained(samples, first, ((apart >> np.int64(1)) & np.int64(2**63 - 1)) ^ -(apart & np.int64(1)))
    seconds = np.rint(samples.seconds * _NANO).astype(np.int64)
    rises = np.zeros(samples.seconds.size, dtype=np.int64)
    rises[inner] = apart + seconds[inner - 1]
    rises[firsts] = first
    summed = np.cumsum(rises)
    return (summed - np.repeat(summed[firsts] - first, filled)) / _NANO


def _chained(samples: SampleTable, first: Ints, apart: Ints) -> Floats:
    """Starts stored relative to the end of the previous sample, as bits: a loop over plain numbers."""
    cell = array("d", [0.0])
    bits = memoryview(cell).cast("B").cast("Q")
    lasting, further = iter(samples.seconds.tolist()), iter(apart.tolist())
    found = array("d")
    for count, begins in zip(samples.counts[samples.counts > 0].tolist(), first.tolist(), strict=True):
        bits[0] = begins & _BITS
        found.append(cell[0])
        for lasted, step in zip(islice(lasting, count - 1), islice(further, count - 1), strict=True):
            cell[0] += lasted
            bits[0] = (bits[0] + step) & _BITS
            found.append(cell[0])
        next(lasting)  # skip the last sample, which none follows
    return np.array(found)


def _ends(starts: Floats, seconds: Floats) -> Ints:
    """Ends of samples, as the bits of doubles."""
    with np.errstate(over="ignore", invalid="ignore"):
        return (starts + seconds).view(np.int64)


def _places(counts: Ints) -> tuple[Ints, Ints]:
    """Indices of the samples that follow another one of their series, and of the first ones of a series."""
    filled = counts[counts > 0]
    firsts = np.cumsum(filled) - filled
    follows = np.ones(int(filled.sum()), dtype=bool)
    follows[firsts] = False
    return np.flatnonzero(follows), firsts


def _nanoseconds(seconds: Floats) -> Ints | None:
    """The seconds as integers of nanoseconds; None if they are not exactly equal."""
    with np.errstate(invalid="ignore", over="ignore"):
        whole = np.rint(seconds * _NANO)
        if not np.all(np.abs(whole) < _EXACT):
            return None
    found = whole.astype(np.int64)
    return found if np.array_equal((found / _NANO).view(np.int64), seconds.view(np.int64)) else None
