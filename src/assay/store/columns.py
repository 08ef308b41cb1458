"""Samples and integers of a case as compressed parts: arrays in NumPy's own format (`numpy.lib.format`).

A part is a zlib stream of arrays, one after the other. Integers have the narrowest type that holds them. A clock
that counts nanoseconds gives doubles n / 1e9: then the integers n are stored, durations as differences to the
shortest of their series, starts as the time since the end of the previous sample. All other doubles are stored as
they are.
"""

import io
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from assay.model.samples import SampleTable

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NANO = 1e9
#: Integers up to here are exact as doubles.
_EXACT = 2.0**53
_LEVEL = 6
_SIGNED, _UNSIGNED = (np.int8, np.int16, np.int32, np.int64), (np.uint8, np.uint16, np.uint32, np.uint64)


class Counted(msgspec.Struct, frozen=True):
    """Traffic of a case.

    Attributes:
        seconds: see `Traffic`; also for `payload`.
        payload: bytes.
        sums: interface -> bytes sent by all hosts.
        spent: for each host cpus, seconds used, seconds stolen.
        own: for each host seconds that the ranks used.
        hosts: index of each host among those of the launch.
        sent: of all interfaces of all hosts.
        received: the same.
    """

    seconds: float
    payload: float
    sums: dict[str, int]
    spent: tuple[tuple[int, float, float], ...]
    own: tuple[float, ...]
    hosts: Sequence[int] = ()
    sent: Sequence[int] = ()
    received: Sequence[int] = ()


class Head(NamedTuple):
    """A case without its samples.

    Attributes:
        ranks: index of each rank among those of the launch.
        traffic: None where none was counted.
    """

    ranks: Ints
    traffic: Counted | None


class _Words(msgspec.Struct, frozen=True):
    """What is no array in the first part."""

    kernels: tuple[str, ...]
    traffic: Counted | None


def packed_head(head: Head, table: SampleTable) -> bytes:
    """The first part: words as JSON, the rows of the table, ranks, then hosts and counters."""
    words, arrays = _Words(table.kernels, None), []
    if counted := head.traffic:
        arrays = [np.diff(_ints(counted.hosts), prepend=0), _ints(counted.sent), _ints(counted.received)]
        words = _Words(table.kernels, msgspec.structs.replace(counted, hosts=(), sent=(), received=()))
    text = np.frombuffer(msgspec.json.encode(words), dtype="S1")
    rows = np.array([table.kernel, table.rank, table.phase, table.stop, table.iterations, table.counts])
    return packed(text, np.diff(rows, prepend=0), np.diff(head.ranks, prepend=0), *arrays)


def head(part: bytes) -> Head:
    """The head in the first part."""
    text, _, ranks, *counters = unpacked(part)
    counted = msgspec.json.decode(text.tobytes(), type=_Words).traffic
    if counted:
        hosts, sent, received = np.cumsum(counters[0]), *counters[1:]
        counted = msgspec.structs.replace(
            counted, hosts=hosts.tolist(), sent=sent.tolist(), received=received.tolist()
        )
    return Head(np.cumsum(ranks), counted)


def packed_samples(table: SampleTable, starts: Floats) -> tuple[bytes, bytes]:
    """The second part, durations, and the third, starts: both of shape (samples,)."""
    seconds, began = _nanoseconds(table.seconds), _nanoseconds(starts)
    if seconds is None or began is None:
        return packed(table.seconds), packed(starts)
    inner, firsts = places(table.counts)
    least = np.minimum.reduceat(seconds, firsts) if firsts.size else seconds
    rest = seconds - np.repeat(least, table.counts[table.counts > 0])
    apart = began[inner] - began[inner - 1] - seconds[inner - 1]
    return packed(least, rest), packed(began[firsts], apart)


@lru_cache(maxsize=4)
def table(first: bytes, durations: bytes) -> SampleTable:
    """The table of series with its samples; the last few tables are cached."""
    text, rows, *_ = unpacked(first)
    kernel, rank, phase, stop, iterations, counts = np.cumsum(rows, axis=1)
    whole = _durations(counts, durations)
    seconds = unpacked(durations)[0] if whole is None else whole / NANO
    kernels = msgspec.json.decode(text.tobytes(), type=_Words).kernels
    return SampleTable(kernels, kernel, rank, phase, stop, iterations, counts, seconds)


def starts(first: bytes, durations: bytes, third: bytes) -> Floats:
    """The starts of the samples of a table, shape (samples,)."""
    counts = table(first, durations).counts
    whole = _durations(counts, durations)
    if whole is None:
        found: Floats = unpacked(third)[0]
        return found
    begins, apart = unpacked(third)
    return chained(counts, whole, begins, apart)


def chained(counts: Ints, durations: Ints, first: Ints, apart: Ints) -> Floats:
    """Starts in seconds from nanoseconds: the first of each series, and the time since the end of the previous."""
    inner, firsts = places(counts)
    rises = np.zeros(durations.size, dtype=np.int64)
    rises[inner] = apart + durations[inner - 1]
    rises[firsts] = first
    summed = np.cumsum(rises)
    return (summed - np.repeat(summed[firsts] - first, counts[counts > 0])) / NANO


def places(counts: Ints) -> tuple[Ints, Ints]:
    """Indices of the samples that follow another one of their series, and of the first ones of a series."""
    filled = counts[counts > 0]
    firsts = np.cumsum(filled) - filled
    follows = np.ones(int(filled.sum()), dtype=bool)
    follows[firsts] = False
    return np.flatnonzero(follows), firsts


def packed(*arrays: NDArray[np.generic]) -> bytes:
    """Arrays as one part; integers are narrowed."""
    file = io.BytesIO()
    for array in arrays:
        npy.write_array(file, _narrowed(array), allow_pickle=False)
    return zlib.compress(file.getvalue(), _LEVEL)


def unpacked(part: bytes) -> list[NDArray[Any]]:
    """The arrays of a part; integers have 64 bits, so that sums with them are exact."""
    content = zlib.decompress(part)
    file, arrays = io.BytesIO(content), []
    while file.tell() < len(content):
        array = npy.read_array(file, allow_pickle=False)
        arrays.append(array.astype(np.int64) if array.dtype.kind in "iu" else array)
    return arrays


def _durations(counts: Ints, part: bytes) -> Ints | None:
    """Durations in nanoseconds; None if they are stored as doubles."""
    least, *rest = unpacked(part)
    if not rest:
        return None
    found: Ints = rest[0] + np.repeat(least, counts[counts > 0])
    return found


def _narrowed(array: NDArray[np.generic]) -> NDArray[np.generic]:
    if array.dtype.kind not in "iu" or not array.size:
        return array
    lowest, highest = int(array.min()), int(array.max())
    kinds = _SIGNED if lowest < 0 else _UNSIGNED
    fitting = (kind for kind in kinds if np.iinfo(kind).min <= lowest and highest <= np.iinfo(kind).max)
    return array.astype(next(fitting))


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def _nanoseconds(seconds: Floats) -> Ints | None:
    """The seconds as integers of nanoseconds; None if they are not exactly equal."""
    with np.errstate(invalid="ignore", over="ignore"):
        whole = np.rint(seconds * NANO)
        if not np.all(np.abs(whole) < _EXACT):
            return None
    found: Ints = whole.astype(np.int64)
    return found if np.array_equal((found / NANO).view(np.int64), seconds.view(np.int64)) else None
