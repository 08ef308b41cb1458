"""The sample from which a series is steady: segments by optimal partition on mean and variance.

Source: E. Barrett, C. F. Bolz-Tereick, R. Killick, S. Mount, L. Tratt, Virtual Machine Warmup Blows Hot and Cold,
OOPSLA 2017 (the penalty 15 ln n; isolated outliers are ignored in the search for segments).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.analyse.statistics import Samples, medians, stacked

#: Arrays of several dimensions.
Table = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Neighbouring segments whose levels differ by less are joined.
SAME = 0.01
_PENALTY = 15
#: Minimum number of samples in a steady segment, and its minimum share of all: a quarter.
FEWEST = 10
_SHARE = 4
#: Boundaries are between so many blocks of equal length; for up to 64 samples a block is one sample.
_BLOCKS = 64
#: So many series are partitioned together; the tables of more do not fit into a core's caches.
_TOGETHER = 1024
#: With fewer samples the variance of a segment is not reliable.
_SEGMENT = 5
#: Smaller relative variances do not matter (0.1 % squared); with the steps of a clock the variance may be 0.
_FLOOR = 1e-6
_OUTLIER_WINDOW = 200
_OUTLIER_SPREADS = 3
_OUTLIER_RUN = 3


def steady_starts(series: Sequence[Samples]) -> list[int | None]:
    """Return for each series (seconds, in the order taken) the index from which it is steady, or None."""
    starts: list[int | None] = [None] * len(series)
    by_length = sorted(range(len(series)), key=lambda index: series[index].size)  # short series need fewer steps
    for part in (by_length[at : at + _TOGETHER] for at in range(0, len(by_length), _TOGETHER)):
        for index, start in zip(part, _starts([series[index] for index in part]), strict=True):
            starts[index] = start
    return starts


def _starts(series: Sequence[Samples]) -> list[int | None]:
    """The same for series that are partitioned together."""
    blocks, sizes, counts = _blocks(series)
    # series in the last dimension: each step reads memory in order, which halves its time
    totals = np.ascontiguousarray(blocks.cumsum(axis=1).transpose(2, 1, 0))
    lengths = np.array([values.size for values in series])
    best = _partition(totals, _PENALTY * np.log(np.maximum(lengths, 2)))
    starts = _last_levels(totals, best, np.array(counts)) * sizes
    enough = lengths - starts >= np.maximum(FEWEST, lengths / _SHARE)
    return [start if kept else None for start, kept in zip(starts.tolist(), enough.tolist(), strict=True)]


def _blocks(series: Sequence[Samples]) -> tuple[Table, list[int], list[int]]:
    """Count, sum and sum of squares of each block: shape (series, blocks + 1, 3), first block empty.

    Samples are taken relative to the series' median. Second and third result: block length and blocks of each.
    """
    longest = max(values.size for values in series)
    table = np.zeros((len(series), min(_BLOCKS, longest) + 1, 3))
    sizes, counts = [0] * len(series), [0] * len(series)
    for places, rows in stacked(series):
        length = rows.shape[1]
        size = max(1, math.ceil(length / _BLOCKS))
        edges = np.arange(0, length, size)
        for place in places:
            sizes[place], counts[place] = size, edges.size
        if not length:
            continue
        usual = medians(rows)
        relative = rows / np.where(usual == 0, 1, usual)[:, None] - 1
        kept = ~_isolated(relative)
        moments = np.stack((kept, relative * kept, relative**2 * kept), axis=2)
        table[places, 1 : edges.size + 1] = moments if size == 1 else np.add.reduceat(moments, edges, axis=1)
    return table, sizes, counts


def _isolated(rows: Table) -> NDArray[np.bool_]:
    """One or two neighbouring samples far from their window's median: 3 times its 10-90 % spread."""
    far = np.zeros(rows.shape, dtype=bool)
    length = rows.shape[1]
    for start in range(0, length, _OUTLIER_WINDOW):
        window = rows[:, start : start + _OUTLIER_WINDOW]
        ordered = np.sort(window, axis=1)
        count = window.shape[1]
        spread = ordered[:, -1 - count // 10] - ordered[:, count // 10]
        bound = _OUTLIER_SPREADS * np.maximum(spread, math.sqrt(_FLOOR))
        far[:, start : start + count] = np.abs(window - ordered[:, [count // 2]]) > bound[:, None]
    if length >= _OUTLIER_RUN and far.any():
        run = far[:, :-2] & far[:, 1:-1] & far[:, 2:]
        for shift in range(_OUTLIER_RUN):
            far[:, shift : shift + run.shape[1]] &= ~run
    return far


def _partition(totals: Table, penalty: Samples) -> Table:
    """The least cost of each series up to each block edge: optimal partition of all series at once.

    Args:
        totals: counts, sums and sums of squares up to each edge, shape (3, edges, series).
        penalty: of a segment, shape (series,).
    """
    best = np.full(totals.shape[1:], np.inf)
    best[0] = -penalty
    for edge in range(1, len(best)):
        best[edge] = _costs(totals[:, :edge], totals[:, edge], best[:edge]).min(axis=0) + penalty
    return best


def _costs(begins: Table, end: Table, best: Table) -> Table:
    """The cost up to `end` if the last segment begins at each of `begins`, without penalty; see `_partition`."""
    count, mean, variance = end[:, None] - begins
    share = 1 / np.maximum(count, 1)
    mean *= share
    variance *= share
    variance -= np.square(mean, out=mean)
    scale = np.maximum(variance, _FLOOR)
    cost: Table = np.log(scale)
    cost += np.maximum(variance, 0, out=variance) / scale
    cost *= count
    cost += best
    cost[count < _SEGMENT] = np.inf
    return cost


def _last_levels(totals: Table, best: Table, last: Indices) -> Indices:
    """The block at which the last segment of each series begins, joined with earlier segments within 1 %.

    Args:
        totals: see `_partition`.
        best: its result.
        last: the edge at which each series ends.
    """

    def segments(rows: Indices, edges: Indices) -> Indices:
        """The beginnings of the segments that end at these edges."""
        found: Indices = _costs(totals[:, :, rows], totals[:, edges, rows], best[:, rows]).argmin(axis=0)
        return found

    def level(rows: Indices, begin: Indices, end: Indices) -> tuple[Samples, NDArray[np.bool_]]:
        count, total = totals[:2, end, rows] - totals[:2, begin, rows]
        return 1 + total / np.maximum(count, 1), count > 0

    starts = segments(np.arange(last.size), last)
    rows = np.flatnonzero(starts)
    while rows.size:
        begin = starts[rows]
        earlier = segments(rows, begin)
        (before, filled), (after, _) = level(rows, earlier, begin), level(rows, begin, last[rows])
        joined = filled & (np.abs(before / after - 1) <= SAME)
        rows, earlier = rows[joined], earlier[joined]
        starts[rows] = earlier
        rows = rows[earlier > 0]
    return starts
