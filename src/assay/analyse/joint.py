"""Ranks that work on one thing together: their samples as one, and the way that their messages took."""

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from assay.analyse.statistics import Samples
from assay.model.record import Rank, Series, Traffic
from assay.model.run import CaseRecords

#: What stands for a sample of many ranks: the time of the slowest of them, or the mean.
SLOWEST, MEAN = "slowest", "mean"


class Part(NamedTuple):
    """Samples of one phase of a kernel.

    Attributes:
        phase: see Series.
        stop: see Series.
        seconds: of one iteration, in the order taken.
    """

    phase: str
    stop: str
    seconds: Samples


Parts = dict[tuple[str, str], list[Part]]


def part(series: Series) -> Part:
    """The samples of one rank."""
    return Part(series.phase, series.stop, np.asarray(series.seconds, dtype=np.float64) / series.iterations)


def together(records: CaseRecords, wanted: Collection[str] = (SLOWEST, MEAN)) -> Parts:
    """(kernel, `slowest` or `mean`) -> its samples over all ranks, warm-up first; nothing where ranks disagree.

    Only what is `wanted` of the two: where no metric is of the mean, nobody needs a second copy of each sample.
    """
    parts: Parts = {}
    for kernel, phases in _by_phase(records).items():
        for alike in phases.values():
            if uneven(alike):
                continue
            seconds = [np.asarray(each.seconds, dtype=np.float64) for each in alike]
            for over in (each for each in (SLOWEST, MEAN) if each in wanted):
                combined = reduce(np.maximum, seconds) if over == SLOWEST else np.mean(seconds, axis=0)
                one = Part(alike[0].phase, alike[0].stop, combined / alike[0].iterations)
                parts.setdefault((kernel, over), []).append(one)
    return parts


def disagreement(records: CaseRecords) -> str:
    """How the ranks' samples do not belong together; empty where they do."""
    for kernel, phases in _by_phase(records).items():
        for phase, alike in phases.items():
            if uneven(alike):
                counts = sorted({len(each.seconds) for each in alike})
                return f"its ranks recorded different samples of {kernel} ({phase}: {counts[0]} to {counts[-1]})"
    return ""


def uneven(alike: Sequence[Series]) -> bool:
    """Whether series of several ranks differ in the number of their samples, or in what a sample is."""
    return len({(len(each.seconds), each.iterations) for each in alike}) > 1


def carried(traffic: Iterable[Traffic]) -> dict[str, float]:
    """Interface or port -> bytes that it sent over bytes of all messages, hosts and launches together."""
    taken = list(traffic)
    payload = sum(each.payload for each in taken)
    if not payload:
        return {}
    sent: dict[str, int] = {}
    for each in taken:
        for host in each.hosts:
            for name, counter in host.interfaces.items():
                sent[name] = sent.get(name, 0) + counter.sent
    return {name: count / payload for name, count in sorted(sent.items()) if count}


def astray(ranks: Sequence[Rank], hosts: Sequence[str], cpus: Sequence[tuple[int, ...]]) -> str:
    """How ranks run otherwise than planned, rank by rank; empty where they do not.

    Args:
        ranks: as found.
        hosts: planned, in the order of the ranks.
        cpus: planned, of each rank.
    """
    each = max(1, len(cpus) // max(1, len(hosts)))
    for rank in ranks:
        wanted = hosts[min(rank.rank // each, len(hosts) - 1)]
        if short(rank.host) != short(wanted):
            return f"rank {rank.rank} was asked to be on {wanted}, it ran on {rank.host}"
        if rank.rank < len(cpus) and rank.requested_cpus != cpus[rank.rank]:
            return f"rank {rank.rank} was asked for cpus {list(rank.requested_cpus)}, not {list(cpus[rank.rank])}"
    return ""


def short(host: str) -> str:
    """A host name without its domain."""
    return host.partition(".")[0]


def _by_phase(records: CaseRecords) -> dict[str, dict[str, list[Series]]]:
    """Kernel -> phase -> a series of each rank that timed it."""
    found: dict[str, dict[str, list[Series]]] = {}
    for series in records.series:
        found.setdefault(series.kernel, {}).setdefault(series.phase, []).append(series)
    return found
