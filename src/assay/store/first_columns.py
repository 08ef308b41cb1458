"""The first form of columns, which earlier versions wrote and this one reads: MessagePack in zlib.

A column of integers is its smallest value and the differences to it: byte 0 of all of them first, then byte 1 ...
Durations that are whole nanoseconds are differences to the smallest of their series, starts the time since the
end of the previous sample. All other doubles are stored as their bits, starts relative to the end of the one
before.
"""

import zlib
from array import array
from functools import lru_cache
from itertools import islice
from typing import TypeVar

import msgspec
import numpy as np

from assay.model.samples import SampleTable
from assay.store.columns import NANO, Counted, Floats, Head, Ints, chained

_WORD = 8
_BITS = 2**64 - 1

_Kind = TypeVar("_Kind", bound=msgspec.Struct)


class Column(msgspec.Struct, frozen=True, array_like=True):
    """Integers: the smallest, their number, and the bytes of the differences to it, plane by plane."""

    least: int
    count: int
    planes: bytes

    def values(self) -> Ints:
        """The integers, shape (n,)."""
        rest = np.zeros((self.count, _WORD), dtype=np.uint8)
        if self.planes:
            planes = np.frombuffer(self.planes, dtype=np.uint8).reshape(-1, self.count)
            rest[:, : len(planes)] = planes.T
        return rest.reshape(-1).view("<u8").astype(np.uint64).view(np.int64) + np.int64(self.least)


class _SeriesColumns(msgspec.Struct, frozen=True, array_like=True):
    """A table of series without its samples; `rank` as differences from one series to the next."""

    kernels: tuple[str, ...]
    kernel: Column
    rank: Column
    phase: Column
    stop: Column
    iterations: Column
    counts: Column


class _Durations(msgspec.Struct, frozen=True, array_like=True):
    """Samples of all series: ns above the `least` of each non-empty series; if that is None, bits of doubles."""

    least: Column | None
    values: Column


class _Starts(msgspec.Struct, frozen=True, array_like=True):
    """Starts of all series: the first of each; for the others, the time since the end of the previous sample."""

    first: Column
    steps: Column


class _Counted(msgspec.Struct, frozen=True, array_like=True):
    """Traffic of a case: indices of its hosts among the shared ones, as differences, and their counters."""

    seconds: float
    payload: float
    hosts: Column
    sent: Column
    received: Column
    sums: dict[str, int]
    #: For each host: cpus, seconds used, seconds stolen.
    spent: tuple[tuple[int, float, float], ...] = ()
    #: For each host: seconds that the ranks used.
    own: tuple[float, ...] = ()


class _Head(msgspec.Struct, frozen=True, array_like=True):
    """A case without its samples: indices of its ranks among the shared ones, as differences."""

    ranks: Column
    series: _SeriesColumns
    traffic: _Counted | None


def loosened(packed: bytes, kind: type[_Kind]) -> _Kind:
    """The value in compressed bytes."""
    return msgspec.msgpack.decode(zlib.decompress(packed), type=kind)


def head(part: bytes) -> Head:
    """The head in the first part."""
    held = loosened(part, _Head)
    ranks, traffic = np.cumsum(held.ranks.values()), held.traffic
    if traffic is None:
        return Head(ranks, None)
    hosts = np.cumsum(traffic.hosts.values()).tolist()
    counters = traffic.sent.values().tolist(), traffic.received.values().tolist()
    plain = traffic.seconds, traffic.payload, traffic.sums, traffic.spent, traffic.own
    return Head(ranks, Counted(*plain, hosts, *counters))


@lru_cache(maxsize=4)
def table(first: bytes, durations: bytes) -> SampleTable:
    """The table of series with its samples; the last few tables are cached."""
    rows, held = loosened(first, _Head).series, loosened(durations, _Durations)
    counts = rows.counts.values()
    whole = _whole(counts, held)
    return SampleTable(
        rows.kernels,
        kernel=rows.kernel.values(),
        rank=np.cumsum(rows.rank.values()),
        phase=rows.phase.values(),
        stop=rows.stop.values(),
        iterations=rows.iterations.values(),
        counts=counts,
        seconds=held.values.values().view(np.float64) if whole is None else whole / NANO,
    )


def _whole(counts: Ints, held: _Durations) -> Ints | None:
    """Durations in nanoseconds; None if they are stored as bits of doubles."""
    if held.least is None:
        return None
    return held.values.values() + np.repeat(held.least.values(), counts[counts > 0])


def starts(first: bytes, durations: bytes, third: bytes) -> Floats:
    """The starts of the samples of a table, shape (samples,)."""
    samples, held = table(first, durations), loosened(third, _Starts)
    begins, apart = held.first.values(), held.steps.values()
    whole = _whole(samples.counts, loosened(durations, _Durations))
    if whole is not None:
        return chained(samples.counts, whole, begins, apart)
    return _chained_bits(samples, begins, ((apart >> np.int64(1)) & np.int64(2**63 - 1)) ^ -(apart & np.int64(1)))


def _chained_bits(samples: SampleTable, first: Ints, apart: Ints) -> Floats:
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
