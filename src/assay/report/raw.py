"""Raw samples inside the page, for a large run a part of its series: a small index and one block of bytes.

Each series keeps its smallest sample (`base`) and the differences to it, in whole nanoseconds, the resolution of
the clock. Byte 0 of every difference comes first, then byte 1 of every one, and so on (`planes` of them): the
high planes are nearly constant and compress to nothing. The block is gzipped and written in base64:

    sample i of all = base(series of i) + sum over k of block[k * samples + i] * 256^k     nanoseconds

The page's own decoder (`templates/report.js`) reads it.
"""

import base64
import gzip
import math
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from assay.model.bracket import Handover
from assay.model.record import Launch
from assay.model.run import Run
from assay.model.samples import PHASES, count_of, table_of

_NANO = 1e9
#: If a run has more samples than the first number, the page has series with about the second number of samples.
_WHOLE, _SOME = 1_000_000, 100_000


class RawSeries(msgspec.Struct, frozen=True, array_like=True):
    """One series of the block; arrays in JSON, in this order.

    Attributes:
        launch: id of the launch.
        attempt: of the launch.
        case: id, empty for the hand-over probe around the launch.
        kernel: name.
        host: node of the rank.
        phase: the probe's are `before` and `after`.
        iterations: of each sample; the time is of all of them together.
        base: smallest sample, ns.
        samples: number of samples.
    """

    launch: str
    attempt: int
    case: str
    kernel: str
    host: str
    phase: Literal["warmup", "measured", "before", "after"]
    iterations: int
    base: int
    samples: int


class RawIndex(msgspec.Struct, frozen=True):
    """The content of the block, in its order; `of`: all samples of the run."""

    schema: int
    samples: int
    planes: int
    series: tuple[RawSeries, ...]
    of: int = 0


def pack(run: Run) -> tuple[bytes, str]:
    """Return the index as JSON and the block as base64 text."""
    total = _count(run)
    series = list(_series(run, math.ceil(total / _SOME) if is_large(run) else 1))
    counts = np.array([len(seconds) for _, seconds in series], dtype=np.intp)
    every = np.rint(np.concatenate([np.zeros(0), *(seconds for _, seconds in series)]) * _NANO).astype(np.uint64)
    filled = counts > 0
    bases = np.zeros(len(series), dtype=np.uint64)
    if filled.any():
        bases[filled] = np.minimum.reduceat(every, (np.cumsum(counts) - counts)[filled])
    every -= np.repeat(bases, counts)
    index = tuple(
        msgspec.structs.replace(entry, base=base, samples=count)
        for (entry, _), base, count in zip(series, bases.tolist(), counts.tolist(), strict=True)
    )
    planes = max(1, (int(every.max()).bit_length() + 7) // 8) if len(every) else 1
    block = b"".join((every >> np.uint64(8 * plane)).astype(np.uint8).tobytes() for plane in range(planes))
    head = RawIndex(1, len(every), planes, index, total)
    return msgspec.json.encode(head), compressed(block)


def is_large(run: Run) -> bool:
    """Whether a page has only a part of its samples."""
    return _count(run) > _WHOLE


def compressed(content: bytes) -> str:
    """Return the content as gzip in base64; equal content gives equal text."""
    return base64.b64encode(gzip.compress(content, compresslevel=6, mtime=0)).decode("ascii")


def _count(run: Run) -> int:
    """The number of samples of a run, with those of the probes."""
    brackets = [records.launch.bracket for records in run.made]
    probes = sum(len(probe.seconds) for each in brackets for probe in each.probes)
    return probes + sum(count_of(case.series) for records in run.made for case in records.cases)


def _series(run: Run, step: int) -> Iterator[tuple[RawSeries, Sequence[float] | npt.NDArray[np.float64]]]:
    """Each `step`-th series of a case, starting at another one in each case; all probes."""
    number = 0
    for records in run.made:
        launch, bracket = records.launch, records.launch.bracket
        if bracket.before:
            yield _probe(launch, "before", bracket.before), bracket.before.seconds
        if bracket.after:
            yield _probe(launch, "after", bracket.after), bracket.after.seconds
        for case in records.cases:
            rows = range(number % step, len(case.series), step)
            number += 1
            if not rows:
                continue
            hosts = {rank.rank: rank.host for rank in case.header.ranks}
            table = table_of(case.series)
            own = launch.id, launch.attempt, case.header.case
            for row in rows:
                rank, end = int(table.rank[row]), int(table.ends[row])
                entry = RawSeries(
                    *own,
                    table.kernels[table.kernel[row]],
                    hosts.get(rank, str(rank)),
                    PHASES[table.phase[row]],
                    int(table.iterations[row]),
                    0,
                    0,
                )
                yield entry, table.seconds[end - int(table.counts[row]) : end]


def _probe(launch: Launch, phase: Literal["before", "after"], probe: Handover) -> RawSeries:
    return RawSeries(launch.id, launch.attempt, "", "handover", "", phase, probe.iterations, 0, 0)
