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


def together(records: CaseRecords, wanted: Collection[str] = (SLOWEST, MEAN)) -> tuple[Parts, str]:
    """(kernel, `slowest` or `mean`) -> its samples over all ranks, warm-up first; how ranks disagree, if so.

    Then they recorded other numbers of samples of a phase, and that phase has no samples here.

    Only what is `wanted` of the two: where no metric is of the mean, nobody needs a second copy of each sample.
    """
    phases: dict[tuple[str, str], list[Series]] = {}
    for series in records.series:
        phases.setdefault((series.kernel, series.phase), []).append(series)
    parts: Parts = {}
    disagreement = ""
    for (kernel, phase), alike in phases.items():
        first = alike[0]
        if any(len(each.seconds) != len(first.seconds) or each.iterations != first.iterations for each in alike):
            counts = sorted({len(each.seconds) for each in alike})
            disagreement = disagreement or (
                f"its ranks recorded different samples of {kernel} ({phase}: {counts[0]} to {counts[-1]})"
            )
            continue
        seconds = [np.asarray(each.seconds, dtype=np.float64) for each in alike]
        for over in (each for each in (SLOWEST, MEAN) if each in wanted):
            combined = reduce(np.maximum, seconds) if over == SLOWEST else np.mean(seconds, axis=0)
            parts.setdefault((kernel, over), []).append(Part(phase, first.stop, combined / first.iterations))
    return parts, disagreement


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
