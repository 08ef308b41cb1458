"""Bytes per second of messages: limited by the link between nodes, by memory inside a node."""

import msgspec

from assay.analyse import limits
from assay.analyse.bounds import MOST_SHARE, Bounds, Law, cached_bytes, rank_memory_bytes
from assay.analyse.messages.curves import PATTERN
from assay.model.machine import Device
from assay.model.result import Burst, Estimate, Limit
from assay.model.text import joined, text
from assay.topics.messages import axes, link

_PAIR = 2
#: Memory moves each byte of a message at least twice: it is read, and written where it is received.
_MOVES = 2


def _limit(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Return the rate of the wire or slot of the device that carried the messages, else of the requested device.

    The slower end counts: TCP uses the smaller MTU of both, or the segment size of the sockets. All pairs between
    the same two nodes share the link; their bytes are added. Nodes that are one machine have no wire: only a
    traffic shaper on the path limits them. Inside a node memory is the limit.
    """
    if len(estimate.placement.hosts) < _PAIR:
        return _inside(estimate, bounds)
    ends = _ends(estimate, bounds)
    least = link.narrowest(limit for end in ends for limit in link.limits(end))
    if estimate.placement.is_one_machine:
        least = link.narrowest(filter(None, map(link.shaped, ends))) if link.carrier(estimate) else None
    if least is None:
        return None
    return _for_all_links(estimate, msgspec.structs.replace(least, burst=_burst(estimate, least, ends)))


def _burst(estimate: Estimate, least: Limit, ends: list[Device]) -> Burst:
    """Return whether the burst of a shaper explains a figure above its rate.

    In a time t a bucket of b bytes lets at most b + r t pass at the rate r. It fills again while a message waits,
    or while the other direction sends. Only the slowest shaper counts: an end without one holds nothing back.
    """
    links, _ = _links(estimate)
    over = (estimate.median or 0.0) / links / least.value
    if least.kind != "shaper" or over <= MOST_SHARE:
        return ""
    held = [(rate.value, link.bucket_bytes(end)) for end in ends if (rate := link.shaped(end))]
    slowest = min(rate for rate, _ in held)
    buckets = [size for rate, size in held if rate == slowest]
    if None in buckets:
        return "unknown"
    bucket = max(size or 0 for size in buckets)
    pairs = max(1, _ranks(estimate) // len(estimate.placement.hosts))
    beyond = pairs * axes.message_bytes(estimate.params) * (1 - limits.TOLERANCE / over)
    return "fits" if beyond <= bucket else ""


def _inside(estimate: Estimate, bounds: Bounds) -> Limit | None:
    """Return half of the memory rate, for all pairs together; None where all their buffers fit the caches."""
    machine = bounds.machine(estimate)
    if machine is None:  # an import, which does not state how it was measured
        return None
    buffers = _ranks(estimate) * rank_memory_bytes(estimate)
    if buffers <= cached_bytes(estimate, machine.topology):
        return None
    found = limits.limit("memory-traffic", estimate, bounds)
    if found is None:
        return None
    half = text("half of {of}: memory reads and writes each byte of a message", of=found.of)
    of = joined(", ", (half, _shared(estimate, 1)))
    return msgspec.structs.replace(found, value=found.value / _MOVES, of=of)


def _ceilings(estimate: Estimate, bounds: Bounds) -> tuple[Limit, ...]:
    """Return the bare rate of a wire that carried the messages, as counters prove."""
    ends = _ends(estimate, bounds) if link.carrier(estimate) and not estimate.placement.is_one_machine else []
    rate = min(filter(None, map(link.raw, ends)), default=None)
    if rate is None:
        return ()
    count, words = _links(estimate)
    bare = text("the raw wire rate of {device}", device=ends[0].name)
    return (Limit(count * rate, "derived", joined(", ", (bare, words)), "wire", "link"),)


def _ends(estimate: Estimate, bounds: Bounds) -> list[Device]:
    """Return the device on each host whose machine is known."""
    if len(estimate.placement.hosts) < _PAIR:
        return []
    name = link.carrier(estimate) or link.asked(estimate, bounds.plan)
    devices = (link.device(machine, name, estimate) for machine in bounds.machines(estimate))
    return [link.in_frames_of(found, estimate) for found in devices if found]


def _for_all_links(estimate: Estimate, one: Limit) -> Limit:
    count, words = _links(estimate)
    return msgspec.structs.replace(one, value=count * one.value, of=joined(", ", (one.of, words)), scope="link")


def _links(estimate: Estimate) -> tuple[int, str]:
    """Count the links that work at once, times directions; each is between two hosts and shared by their pairs."""
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
    """Count the ranks; without a layout each has a cpu for each of its threads."""
    placed = estimate.placement
    return placed.laid_out or placed.ranks // int(estimate.params.get("threads", 1))


law = Law(
    ("wire",),
    _limit,
    _ceilings,
    # The user gives the rate of a link in one direction; inside a node it does not apply.
    lambda estimate, _bounds, given: (
        _for_all_links(estimate, given) if len(estimate.placement.hosts) > 1 else None
    ),
)
