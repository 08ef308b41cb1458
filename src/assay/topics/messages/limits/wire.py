"""Bytes per second of messages: between nodes what their link carries, inside a node what its memory gives."""

import msgspec

from assay.analyse.bounds import Bounds, Law, cached_bytes, rank_memory_bytes
from assay.analyse.messages import link
from assay.analyse.messages.curves import PATTERN
from assay.model.machine import Device
from assay.model.result import Estimate, Limit
from assay.model.text import joined, text
from assay.topics.memory.limits import memory

_PAIR = 2
#: Memory moves each byte of a message at least twice: it is read, and written where it is received.
_MOVES = 2


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Of the device that carried the messages, else of the one that was asked for: its wire or its slot.

    Of both ends the one that carries less: TCP keeps to the smaller frames of the two, or those asked of sockets.

    It is shared by all pairs between the same two nodes, whose bytes are added. Between nodes that are one machine
    no wire counts; a shaper does, through which the messages went. Inside a node memory counts.
    """
    if len(estimate.placement.hosts) < _PAIR:
        return _inside(estimate, bounds)
    ends = _ends(estimate, bounds)
    least = link.narrowest(limit for end in ends for limit in link.limits(end))
    if estimate.placement.is_one_machine:
        least = link.narrowest(filter(None, map(link.shaped, ends))) if link.carrier(estimate) else None
    return _for_all_ways(estimate, least) if least else None


def _inside(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Half of what memory moves, for all pairs together; nothing where all their buffers fit the caches."""
    machine = bounds.machine(estimate)
    if machine is None:  # of figures of others, which leave out how they were measured
        return None
    buffers = _ranks(estimate) * rank_memory_bytes(estimate)
    if buffers <= cached_bytes(estimate, machine.topology):
        return None
    found = memory.rate(estimate, bounds)
    if found is None:
        return None
    told = text("half of {of}: memory reads and writes each byte of a message", of=found.of)
    of = joined(", ", (told, _shared(estimate, 1)))
    return msgspec.structs.replace(found, value=found.value / _MOVES, of=of)


def _ceilings(estimate: Estimate, bounds: Bounds) -> tuple[Limit, ...]:
    """The bare rate of a wire that the counters prove to have carried the messages."""
    ends = _ends(estimate, bounds) if link.carrier(estimate) and not estimate.placement.is_one_machine else []
    rate = min(filter(None, map(link.raw, ends)), default=None)
    if rate is None:
        return ()
    ways, words = _ways(estimate)
    told = text("the bare rate of the wire of {device}", device=ends[0].name)
    return (Limit(ways * rate, "derived", joined(", ", (told, words)), "wire", "link"),)


def _ends(estimate: Estimate, bounds: Bounds) -> list[Device]:
    """The device on each host, where its machine is known."""
    if len(estimate.placement.hosts) < _PAIR:
        return []
    name = link.carrier(estimate) or link.asked(estimate, bounds.plan)
    devices = (link.device(machine, name, estimate) for machine in bounds.machines(estimate))
    return [link.in_frames_of(found, estimate) for found in devices if found]


def _for_all_ways(estimate: Estimate, one: Limit) -> Limit:
    ways, words = _ways(estimate)
    return msgspec.structs.replace(one, value=ways * one.value, of=joined(", ", (one.of, words)), scope="link")


def _ways(estimate: Estimate) -> tuple[int, str]:
    """Links that work at once, each between two hosts and shared by the pairs between them, times directions."""
    links = len(estimate.placement.hosts) // _PAIR
    directions = 2 if estimate.params.get(PATTERN) == "bidirectional" else 1
    words: list[str] = [text("{count} link|{count} links", count=links)] if links > 1 else []
    words += [text("both directions")] if directions > 1 else []
    return links * directions, joined(", ", (*words, _shared(estimate, links)))


def _shared(estimate: Estimate, links: int) -> str:
    """`for 8 pairs together`; empty where each has its own."""
    pairs = _ranks(estimate) // _PAIR
    return text("for {count} pair together|for {count} pairs together", count=pairs) if pairs > links else ""


def _ranks(estimate: Estimate) -> int:
    """Where the placement does not lay them out, each has a cpu for each of its threads."""
    placed = estimate.placement
    return placed.laid_out or placed.ranks // int(estimate.params.get("threads", 1))


law = Law(
    ("wire",),
    _limit,
    _ceilings,
    # What the user says is of a link in one direction; it concerns nothing inside a node.
    lambda estimate, _bounds, told: _for_all_ways(estimate, told) if len(estimate.placement.hosts) > 1 else None,
)
