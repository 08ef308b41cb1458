"""Bytes per second between cores and memory."""

import math
from collections.abc import Iterable

import msgspec

from assay.analyse.bounds import MOST_SHARE, Bounds, Law, describe, fits_caches
from assay.analyse.parts import drives, name_of_nodes, part, scope_of_cores, scope_of_nodes
from assay.model.machine import Machine, Topology
from assay.model.result import Estimate, Limit, Scope
from assay.model.text import Text, joined, text

_CHANNEL_BYTES = 8
#: A guess that a figure exceeds by more than this is wrong.
_TOLERANCE = MOST_SHARE
#: Memory nodes whose sizes differ by no more are taken to have as many channels each: firmware keeps some of it.
_LIKE = 0.05


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """The rate of the memory, in bytes counted as those of the figure; nothing where the caches may hold them."""
    machine = bounds.machine(estimate)
    if machine and fits_caches(estimate, machine.topology):
        return None
    moved, found = bounds.same_case(estimate, "memory-traffic"), _of_hosts(estimate, bounds)
    if found is None or moved is None or not moved.median or moved.metric == estimate.metric:
        return found
    counted = (estimate.median or 0.0) / moved.median
    if math.isclose(counted, 1):
        return found
    of = text(
        "{share} % of {of}: the bytes moved that this figure counts", share=f"{100 * counted:.0f}", of=found.of
    )
    return msgspec.structs.replace(found, value=counted * found.value, of=of)


def _of_hosts(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """The rates of all of its hosts together; nothing where one is not known."""
    known = [found for each in estimate.by_host if (found := rate(each, bounds))]
    if len(known) < max(1, len(estimate.placement.hosts)):
        return None
    first = known[0]
    if len(known) == 1:
        return first
    of = text("{count} nodes, of each: {of}", count=len(known), of=first.of)
    return msgspec.structs.replace(first, value=sum(each.value for each in known), of=of, measured_by="")


def rate(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Of the memory nodes that are used: what their channels carry, else the best rate measured of them.

    Fewer cores than belong to that memory may not draw all of it: they stand against the best that these very
    cores moved. Nothing where nothing else was measured on them.
    """
    machine = bounds.machine(estimate)
    if machine and not drives(part(estimate, machine.topology), machine.topology):
        return _of_cores(estimate, machine, bounds.of_cores(estimate))
    peak, best = _channels(estimate, machine) if machine else None, bounds.of_memory(estimate)
    exceeded = peak and best and (best.median or 0.0) > _TOLERANCE * peak.value  # then it was guessed wrong
    if peak and not exceeded:
        return peak
    return _of_memory(estimate, machine, best)


def _of_cores(estimate: Estimate, machine: Machine, best: Estimate | None) -> Limit | None:
    cores = part(estimate, machine.topology).cores
    told = (
        text("the best measured memory rate of this core in this run")
        if len(cores) == 1
        else text("the best measured memory rate of these {cores} cores in this run", cores=len(cores))
    )
    return _measured(best, told, scope_of_cores(cores, machine.topology))


def _of_memory(estimate: Estimate, machine: Machine | None, best: Estimate | None) -> Limit | None:
    nodes = part(estimate, machine.topology).nodes if machine else frozenset[int]()
    scope = scope_of_nodes(nodes, machine.topology) if machine else "machine"
    told = (
        text("the best measured memory rate of {nodes} of this run", nodes=name_of_nodes(nodes, machine.topology))
        if machine and scope != "machine"
        else text("the best measured memory rate of this run")
    )
    return _measured(best, told, scope)


def _measured(best: Estimate | None, told: Text, scope: Scope) -> Limit | None:
    if best is None or best.median is None:
        return None
    by = text("{kernel} ({which})", kernel=f"{best.benchmark} {best.kernel}", which=describe(best))
    return Limit(best.median, "measured", joined(": ", (told, by)), "memory", scope, measured_by=best.id)


def even_share(nodes: frozenset[int], topology: Topology) -> float | None:
    """The share of the machine's memory channels that memory nodes have, if all nodes are alike; None if not.

    Nodes alike have cores and as much memory: that each has as many channels is an assumption.
    """
    if scope_of_nodes(nodes, topology) == "machine":
        return 1.0
    every = topology.numa_nodes
    sizes = [node.memory_bytes for node in every]
    if not all(node.cpus for node in every) or min(sizes) < (1 - _LIKE) * max(sizes):
        return None
    return len(nodes) / len(every)


def _channels(estimate: Estimate, machine: Machine) -> Limit | None:
    """Of the memory nodes that an estimate uses; those of some of the nodes are assumed to be their even share."""
    whole, nodes = channel_peak(machine), part(estimate, machine.topology).nodes
    share, scope = even_share(nodes, machine.topology), scope_of_nodes(nodes, machine.topology)
    if whole is None or share is None or scope == "machine":
        return whole if share else None
    count = len(machine.topology.numa_nodes)
    of = text(
        "{channels}, {nodes} of {all} identical memory nodes, evenly distributed (assumed): {names}",
        channels=_channels_told(machine),
        nodes=len(nodes),
        all=count,
        names=name_of_nodes(nodes, machine.topology),
    )
    return Limit(share * whole.value, whole.source, of, whole.kind, scope)


def _given(estimate: Estimate, bounds: Bounds, told: Limit) -> Limit | None:
    """What is said of a machine is of all its memory: of some nodes their even share, of few cores nothing."""
    machine = bounds.machine(estimate)
    if machine is None:
        return told
    here = part(estimate, machine.topology)
    share = even_share(here.nodes, machine.topology)
    if share is None or not drives(here, machine.topology):
        return None
    scope = scope_of_nodes(here.nodes, machine.topology)
    if scope == "machine":
        return told
    name = name_of_nodes(here.nodes, machine.topology)
    of = text("{of}, an even share for {nodes}", of=told.of, nodes=name)
    return Limit(share * told.value, told.source, of, told.kind, scope)


def channel_peak(machine: Machine) -> Limit | None:
    """Populated channels x transfers per second x 8 B of the whole node; None where its DIMMs cannot be read."""
    fact, rate = machine.fact("memory", "populated channels"), machine.fact("memory", "transfer rate").value
    channels = fact.value
    if not isinstance(channels, int) or not isinstance(rate, int | float) or not channels or not rate:
        return None
    of = text("{channels}, the whole node", channels=_channels_told(machine))
    return Limit(channels * rate * _CHANNEL_BYTES, "derived", of, "memory")


def _channels_told(machine: Machine) -> str:
    fact, rate = machine.fact("memory", "populated channels"), machine.fact("memory", "transfer rate").value
    transfers = f"{float(rate) / 1e6:.0f} MT/s" if isinstance(rate, int | float) else ""
    return text(
        "{channels} populated channels (guess {source}) x {transfers} x 8 B"
        if fact.guessed
        else "{channels} populated channels x {transfers} x 8 B",
        channels=str(fact.value),
        source=fact.source if fact.guessed else "",
        transfers=transfers,
    )


#: Copies from this size on spend their time on bytes: an assumption.
_CEILING_BYTES = 1024


def _ceilings(estimate: Estimate, bounds: Bounds) -> Iterable[Limit]:
    machine = bounds.machine(estimate)
    if len(estimate.placement.hosts) > 1:
        return
    peak = channel_peak(machine) if machine and not fits_caches(estimate, machine.topology) else None
    if machine and peak and not machine.fact("memory", "populated channels").guessed:
        yield peak
    cached = bounds.best("copy-rate", "hot")
    cores = len(estimate.placement.cpus[0]) if estimate.placement.cpus else 0
    # Copies of a few hundred bytes are slowed by their calls, so the fastest of them is no ceiling of the cache.
    if cached and cached.median and cores and int(cached.params.get("bytes", 0)) >= _CEILING_BYTES:
        of = text(
            "the maximum copy rate of {count} core in cache, each byte counted twice as here|"
            "the maximum copy rate of {count} cores in cache, each byte counted twice as here",
            count=cores,
        )
        yield Limit(2 * cached.median * cores, "measured", of, "copy")


law = Law(("memory-bandwidth", "memory-traffic"), _limit, _ceilings, _given)
