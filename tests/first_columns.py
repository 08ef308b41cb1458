"""The writer of the first form of columns, as version 1 had it: runs of that time must load."""

import zlib

import msgspec
import numpy as np

from assay.model.samples import SampleTable
from assay.store.columns import Floats, Ints
from assay.store.columns import places as _places
from assay.store.first_columns import Column

_NANO = 1e9
_EXACT = 2.0**53
_LEVEL = 6
_WORD = 8


def column(values: Ints) -> Column:
    """The column of `values`, shape (n,)."""
    if not values.size:
        return Column(0, 0, b"")
    least = values.min()
    rest = (values.view(np.uint64) - least.view(np.uint64)).astype("<u8")  # differences wrap, and so do sums
    planes = (int(rest.max()).bit_length() + 7) // 8
    return Column(int(least), values.size, rest.view(np.uint8).reshape(-1, _WORD)[:, :planes].T.tobytes())


def squeezed(value: object) -> bytes:
    """The value as compressed bytes."""
    return zlib.compress(msgspec.msgpack.encode(value), _LEVEL)


def head(table: SampleTable, ranks: Ints) -> bytes:
    """The first part of a case without traffic."""
    plain = (table.phase, table.stop, table.iterations, table.counts)
    rows = (table.kernels, column(table.kernel), column(steps(table.rank)), *map(column, plain))
    return squeezed((column(steps(ranks)), rows, None))


def steps(values: Ints) -> Ints:
    """Differences, the first one from 0: the inverse of `np.cumsum`."""
    found: Ints = values - np.concatenate([np.zeros(1, dtype=np.int64), values])[: values.size]
    return found


def samples(table: SampleTable, starts: Floats) -> tuple[bytes, bytes]:
    """Durations and starts of the samples of a table, both of shape (samples,)."""
    inner, firsts = _places(table.counts)
    seconds, began = _nanoseconds(table.seconds), _nanoseconds(starts)
    if seconds is None or began is None:
        ends = _ends(starts, table.seconds)
        apart = starts.view(np.int64)[inner] - ends[inner - 1]
        zigzag = (apart << 1) ^ (apart >> np.int64(63))
        held = (None, column(table.seconds.view(np.int64)))
        return squeezed(held), squeezed((column(starts.view(np.int64)[firsts]), column(zigzag)))
    least = np.minimum.reduceat(seconds, firsts) if firsts.size else seconds
    rest = seconds - np.repeat(least, table.counts[table.counts > 0])
    apart = began[inner] - began[inner - 1] - seconds[inner - 1]
    return squeezed((column(least), column(rest))), squeezed((column(began[firsts]), column(apart)))


def _ends(starts: Floats, seconds: Floats) -> Ints:
    """Ends of samples, as the bits of doubles."""
    with np.errstate(over="ignore", invalid="ignore"):
        return (starts + seconds).view(np.int64)


def _nanoseconds(seconds: Floats) -> Ints | None:
    """The seconds as integers of nanoseconds; None if they are not exactly equal."""
    with np.errstate(invalid="ignore", over="ignore"):
        whole = np.rint(seconds * _NANO)
        if not np.all(np.abs(whole) < _EXACT):
            return None
    found = whole.astype(np.int64)
    return found if np.array_equal((found / _NANO).view(np.int64), seconds.view(np.int64)) else None
