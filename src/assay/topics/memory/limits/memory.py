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
#: Memory nodes whose sizes differ by no more are assumed to have equal channels: firmware keeps some memory.
_SIMILAR = 0.05
#: Copies from this size on spend their time on bytes: an assumption.
_CEILING_BYTES = 1024


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Return the memory rate, with bytes counted as the figure counts them; None where caches may hold them."""
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
    """Return the sum of the rates of all hosts; None where one of them is not known."""
    known = [found for each in estimate.by_host if (found := rate(each, bounds))]
    if len(known) < max(1, len(estimate.placement.hosts)):
        return None
    first = known[0]
    if len(known) == 1:
        return first
    of = text("{count} nodes, each with: {of}", count=len(known), of=first.of)
    return msgspec.structs.replace(first, value=sum(each.value for each in known), of=of, measured_by="")


def rate(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Return what the channels of the used memory nodes carry, else the best rate measured of these nodes.

    Fewer cores than belong to that memory may not draw all of it: their limit is the best rate of these same
    cores, None where nothing else was measured on them.
    """
    machine = bounds.machine(estimate)
    if machine and not drives(part(estimate, machine.topology), machine.topology):
        return _of_cores(estimate, machine, bounds.of_cores(estimate))
    peak, best = _peak_of_nodes(estimate, machine) if machine else None, bounds.of_memory(estimate)
    exceeded = peak and best and (best.median or 0.0) > MOST_SHARE * peak.value  # then it was guessed wrong
    if peak and not exceeded:
        return peak
    return _of_memory(estimate, machine, best)


def _of_cores(estimate: Estimate, machine: Machine, best: Estimate | None) -> Limit | None:
    cores = part(estimate, machine.topology).cores
    name = (
        text("the best measured memory rate of this core in this run")
        if len(cores) == 1
        else text("the best measured memory rate of these {cores} cores in this run", cores=len(cores))
    )
    return _measured(estimate, best, name, scope_of_cores(cores, machine.topology))


def _of_memory(estimate: Estimate, machine: Machine | None, best: Estimate | None) -> Limit | None:
    nodes = part(estimate, machine.topology).nodes if machine else frozenset[int]()
    scope = scope_of_nodes(nodes, machine.topology) if machine else "machine"
    name = (
        text("the best measured memory rate of {nodes} of this run", nodes=name_of_nodes(nodes, machine.topology))
        if machine and scope != "machine"
        else text("the best measured memory rate of this run")
    )
    return _measured(estimate, best, name, scope)


def _measured(estimate: Estimate, best: Estimate | None, name: Text, scope: Scope) -> Limit | None:
    if best is None or best.median is None:
        return None
    # The traffic of a figure is no limit that the figure could miss.
    own = estimate.id if (best.case, best.kernel) == (estimate.case, estimate.kernel) else best.id
    by = text("{kernel} ({which})", kernel=f"{best.benchmark} {best.kernel}", which=describe(best))
    return Limit(best.median, "measured", joined(": ", (name, by)), "memory", scope, measured_by=own)


def even_share(nodes: frozenset[int], topology: Topology) -> float | None:
    """Return the share of the machine's memory channels that memory nodes have; None if nodes are not identical.

    Identical nodes have cores and as much memory. That each has as many channels is an assumption.
    """
    if scope_of_nodes(nodes, topology) == "machine":
        return 1.0
    every = topology.numa_nodes
    sizes = [node.memory_bytes for node in every]
    if not all(node.cpus for node in every) or min(sizes) < (1 - _SIMILAR) * max(sizes):
        return None
    return len(nodes) / len(every)


def _peak_of_nodes(estimate: Estimate, machine: Machine) -> Limit | None:
    """Return what the channels of the used memory nodes carry: of some of the nodes an even share (assumed)."""
    channels, nodes = _channels(machine), part(estimate, machine.topology).nodes
    share, scope = even_share(nodes, machine.topology), scope_of_nodes(nodes, machine.topology)
    if channels is None or share is None:
        return None
    if scope == "machine":
        return _of_node(*channels)
    rate, derivation = channels
    of = text(
        "{channels}, {nodes} of {all} identical memory nodes, evenly distributed (assumed): {names}",
        channels=derivation,
        nodes=len(nodes),
        all=len(machine.topology.numa_nodes),
        names=name_of_nodes(nodes, machine.topology),
    )
    return Limit(share * rate, "derived", of, "memory", scope)


def _given(estimate: Estimate, bounds: Bounds, given: Limit) -> Limit | None:
    """Return the part of a limit given for all memory: an even share for some nodes, None for few cores."""
    machine = bounds.machine(estimate)
    if machine is None:
        return given
    here = part(estimate, machine.topology)
    share = even_share(here.nodes, machine.topology)
    if share is None or not drives(here, machine.topology):
        return None
    scope = scope_of_nodes(here.nodes, machine.topology)
    if scope == "machine":
        return given
    name = name_of_nodes(here.nodes, machine.topology)
    of = text("{of}, an even share for {nodes}", of=given.of, nodes=name)
    return Limit(share * given.value, given.source, of, given.kind, scope)


def _channels(machine: Machine) -> tuple[float, Text] | None:
    """Return populated channels x transfers per second x 8 B, and the derivation; None for unknown DIMMs."""
    fact, rate = machine.fact("memory", "populated channels"), machine.fact("memory", "transfer rate").value
    channels = fact.value
    if not isinstance(channels, int) or not isinstance(rate, int | float) or not channels or not rate:
        return None
    derivation = text(
        "{channels} populated channels (guess {source}) x {transfers} x 8 B"
        if fact.guessed
        else "{channels} populated channels x {transfers} x 8 B",
        channels=str(channels),
        source=fact.source if fact.guessed else "",
        transfers=f"{float(rate) / 1e6:.0f} MT/s",
    )
    return channels * rate * _CHANNEL_BYTES, derivation


def _of_node(rate: float, channels: Text) -> Limit:
    return Limit(rate, "derived", text("{channels}, the whole node", channels=channels), "memory")


def _ceilings(estimate: Estimate, bounds: Bounds) -> Iterable[Limit]:
    machine = bounds.machine(estimate)
    if len(estimate.placement.hosts) > 1:
        return
    channels = _channels(machine) if machine and not fits_caches(estimate, machine.topology) else None
    if machine and channels and not machine.fact("memory", "populated channels").guessed:
        yield _of_node(*channels)
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
