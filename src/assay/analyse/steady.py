"""Where a series becomes steady: segments by optimal partition on mean and variance.

Source: E. Barrett, C. F. Bolz-Tereick, R. Killick, S. Mount, L. Tratt, Virtual Machine Warmup Blows Hot and Cold,
OOPSLA 2017 (the penalty 15 ln n, isolated outliers left aside while segments are sought).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.analyse.statistics import Samples, medians, stacked

#: Segments whose levels differ by less are one.
SAME = 0.01
_PENALTY = 15
#: A steady segment holds at least so many samples, and a quarter of all.
FEWEST = 10
_SHARE = 4
#: Boundaries are sought between this many blocks of equal length; up to 64 samples a block is one sample.
_BLOCKS = 64
#: So many series go through the partition together: the tables of more do not stay in a core's caches.
_TOGETHER = 1024
#: A segment needs as many samples for its variance to mean something.
_SEGMENT = 5
#: Relative variance below which nothing is of interest (0.1 % squared); a clock's steps may leave none at all.
_FLOOR = 1e-6
_OUTLIER_WINDOW = 200
_OUTLIER_SPREADS = 3
_OUTLIER_RUN = 3


def steady_starts(series: Sequence[Samples]) -> list[int | None]:
    """For each series (seconds, in the order taken) the index from which it is steady; None when it never is."""
    starts: list[int | None] = [None] * len(series)
    by_length = sorted(range(len(series)), key=lambda index: series[index].size)  # short series need fewer steps
    for part in (by_length[at : at + _TOGETHER] for at in range(0, len(by_length), _TOGETHER)):
        for index, start in zip(part, _starts([series[index] for index in part]), strict=True):
            starts[index] = start
    return starts


def _starts(series: Sequence[Samples]) -> list[int | None]:
    """The same for series that go through the partition together."""
    blocks, sizes, counts = _blocks(series)
    lengths = np.array([values.size for values in series])
    before = _partition(blocks, _PENALTY * np.log(np.maximum(lengths, 2)))
    totals = blocks.cumsum(axis=1)
    starts: list[int | None] = []
    for row, length in enumerate(lengths.tolist()):
        start = _last_level(before[row], totals[row], counts[row]) * sizes[row]
        starts.append(start if length - start >= max(FEWEST, length / _SHARE) else None)
    return starts


def _blocks(series: Sequence[Samples]) -> tuple[NDArray[np.float64], list[int], list[int]]:
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


def _isolated(rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Samples far outside their window (3 times its 10-90 % spread from its median) in runs of one or two."""
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


def _partition(blocks: NDArray[np.float64], penalty: Samples) -> NDArray[np.intp]:
    """Optimal partition of every series at once: where the last segment before each block edge begins."""
    # series side by side: each step then walks through memory in order, which halves its time
    counts, totals, squares = np.ascontiguousarray(blocks.cumsum(axis=1).transpose(2, 1, 0))
    edges, series = counts.shape
    best = np.full((edges, series), np.inf)
    best[0] = -penalty
    before = np.zeros((series, edges), dtype=np.intp)
    for edge in range(1, edges):
        count = counts[edge] - counts[:edge]
        enough = count >= _SEGMENT
        divisor = np.where(enough, count, 1)
        mean = (totals[edge] - totals[:edge]) / divisor
        variance = np.maximum((squares[edge] - squares[:edge]) / divisor - mean * mean, 0)
        scale = np.maximum(variance, _FLOOR)
        cost = best[:edge] + count * (np.log(scale) + variance / scale) + penalty
        cost[~enough] = np.inf
        before[:, edge] = cost.argmin(axis=0)
        best[edge] = cost[before[:, edge], np.arange(series)]
    return before


def _last_level(before: NDArray[np.intp], totals: NDArray[np.float64], blocks: int) -> int:
    """The block at which the last segment begins, joined with those before it that lie within 1 %."""
    start = int(before[blocks])
    while start:
        count, total = (totals[blocks] - totals[start])[:2]
        earlier = int(before[start])
        count_earlier, total_earlier = (totals[start] - totals[earlier])[:2]
        level = 1 + total / max(count, 1)
        if not count_earlier or abs((1 + total_earlier / count_earlier) / level - 1) > SAME:
            break
        start = earlier
    return start
