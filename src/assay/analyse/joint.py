"""Ranks that work together: their common samples, the carriers of their messages, and their placement."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from assay.analyse.statistics import Samples
from assay.model.placement import Placement
from assay.model.rank import Rank
from assay.model.record import FigureOfMerit
from assay.model.resource import wrong_devices, wrong_folder
from assay.model.run import CaseRecords
from assay.model.samples import PHASES, STOPS, table_of
from assay.model.text import text
from assay.model.traffic import Traffic

#: The sample of many ranks is the time of the slowest of them, or the mean.
SLOWEST, MEAN = "slowest", "mean"
#: Stop reason of whole solutions: each is measured as often as planned, and is no series.
SOLVED = ""


class Part(NamedTuple):
    """Samples of one phase of a kernel.

    Attributes:
        phase: see Series.
        stop: see Series; `SOLVED` of whole solutions.
        seconds: of one iteration, in the order taken.
    """

    phase: str
    stop: str
    seconds: Samples


Parts = dict[tuple[str, str], list[Part]]


def apart(records: CaseRecords) -> Parts:
    """Return the samples by (kernel, host), warm-up first."""
    table = table_of(records.series)
    hosts = {rank.rank: rank.host for rank in records.header.ranks}
    each = table.seconds / np.repeat(table.iterations, table.counts)
    parts: Parts = {}
    rows = (table.kernel, table.rank, table.phase, table.stop, table.ends, table.counts)
    for kernel, rank, phase, stop, end, count in zip(*(row.tolist() for row in rows), strict=True):
        key = table.kernels[kernel], hosts.get(rank, f"rank {rank}")
        parts.setdefault(key, []).append(Part(PHASES[phase], STOPS[stop], each[end - count : end]))
    return parts


def solutions(figures: Iterable[FigureOfMerit], whose: Callable[[FigureOfMerit], str]) -> Parts:
    """Return figures of whole solutions and their phases, each as a kernel of its name, one sample a solution.

    A sample is a time, or for a rate the time of one unit. A phase that took no time is left out.

    Args:
        figures: of one launch.
        whose: gives the second part of the key: a host, or `slowest` if ranks work together.
    """
    parts: Parts = {}
    for figure in figures:
        seconds = figure.value if figure.unit == "s" else 1 / figure.value
        for kernel, each in {figure.name: seconds, **figure.phases}.items():
            if each > 0:
                part = Part("warmup" if figure.warmup else "measured", SOLVED, np.array([each]))
                parts.setdefault((kernel, whose(figure)), []).append(part)
    return parts


def together(records: CaseRecords, wanted: Collection[str] = (SLOWEST, MEAN)) -> tuple[Parts, str]:
    """Return the samples over all ranks by (kernel, `slowest` or `mean`), warm-up first, and how ranks disagree.

    Ranks disagree if they recorded different numbers of samples of a phase: that phase has no samples here.
    `wanted`: which of the two are returned.
    """
    table = table_of(records.series)
    parts: Parts = {}
    disagreement = ""
    for kernel, phase, rows in table.groups():
        counts, iterations = table.counts[rows], int(table.iterations[rows[0]])
        if counts.min() != counts.max() or (table.iterations[rows] != iterations).any():
            disagreement = disagreement or (
                text(
                    "its ranks recorded different samples of {kernel} ({phase}: {fewest} to {most})",
                    kernel=kernel,
                    phase=phase,
                    fewest=int(counts.min()),
                    most=int(counts.max()),
                )
            )
            continue
        seconds, stop = table.block(rows), STOPS[table.stop[rows[0]]]
        for over in (each for each in (SLOWEST, MEAN) if each in wanted):
            combined = seconds.max(axis=0) if over == SLOWEST else seconds.mean(axis=0)
            parts.setdefault((kernel, over), []).append(Part(phase, stop, combined / iterations))
    return parts, disagreement


def carried(traffic: Iterable[Traffic]) -> dict[str, float]:
    """Return, by interface or port, the bytes that it sent over the bytes of all messages of all launches."""
    traffic = list(traffic)
    payload = sum(each.payload for each in traffic)
    if not payload:
        return {}
    sent = Counter[str]()
    for each in traffic:
        sent.update(each.sent())
    return {name: count / payload for name, count in sorted(sent.items()) if count}


def mtus(traffic: Sequence[Traffic], interface: str) -> dict[str, int]:
    """Return, by host, the MTU of this interface in the last launch; without hosts that do not state it."""
    last = traffic[-1].hosts if traffic else ()
    return {host.host: host.mtus[interface] for host in last if interface in host.mtus}


def wrong_ranks(ranks: Sequence[Rank], placement: Placement) -> str:
    """Return how the first misplaced rank differs from the plan; empty if all ranks are as planned.

    Args:
        ranks: as found.
        placement: as planned.
    """
    hosts, cpus = placement.rank_hosts, placement.rank_cpus
    for rank in ranks:
        wanted = hosts[max(0, min(rank.rank, len(hosts) - 1))] if hosts else ""
        if short(rank.host) != short(wanted):
            return text(
                "rank {rank} was asked to be on {wanted}, it ran on {host}",
                rank=str(rank.rank),
                wanted=wanted,
                host=rank.host,
            )
        if rank.rank < len(cpus) and rank.requested_cpus != cpus[rank.rank]:
            return text(
                "rank {rank} was asked for cpus {requested}, not {planned}",
                rank=str(rank.rank),
                requested=f"{list(rank.requested_cpus)}",
                planned=f"{list(cpus[rank.rank])}",
            )
    return ""


def wrong_resources(ranks: Sequence[Rank], placement: Placement) -> str:
    """Return how devices and folder of the first rank with others differ from the plan; empty if none does."""
    for rank in ranks:
        given = placement.devices[rank.rank : rank.rank + 1]
        folder = placement.folder_of(rank.rank)
        wrong = wrong_devices(given[0], rank.devices) if given else ""
        wrong = wrong or (wrong_folder(folder, rank.folder) if folder else "")
        if wrong:
            return text("rank {rank} on {host} {wrong}", rank=str(rank.rank), host=rank.host, wrong=wrong)
    return ""


def short(host: str) -> str:
    """Return a host name without its domain."""
    return host.partition(".")[0]
