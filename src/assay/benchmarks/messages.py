"""What the benchmarks of messages between pairs of processes have in common: no benchmark itself."""

from assay.model.benchmark import Axis, Metric, Params, ParamValue
from assay.model.machine import Topology
from assay.model.placement import Placement

_LATENCIES = ("latency", "multi-latency")
_WINDOWS = ("bandwidth", "bidirectional", "multi-bandwidth")
#: Cold buffers walk through a pool this many times the last-level cache, so that no line is met again in cache.
_POOL_MULTIPLE = 4
_UNKNOWN_CACHE_BYTES = 32 * 2**20
_LARGEST = 4 * 2**20
_MEMORY_SHARE = 0.6
#: Buffers lie this far apart, or as far as their alignment asks.
_APART_BYTES = 128
#: Bytes in a second that are written into new buffers. An assumption: nothing is timed by it.
FILL_RATE = 1e9

PATTERN = Axis(
    "pattern",
    "latency: to and fro; bandwidth: a window of messages one way, then an acknowledgement; "
    "bidirectional: windows both ways at once; multi-: all pairs at once",
    ("latency", "bandwidth", "bidirectional", "multi-bandwidth", "multi-latency"),
    "latency",
)
BUFFERS = Axis(
    "buffers",
    "hot: one to send and one to receive; rotating: a window of each in turn; cold: pools beyond the caches",
    ("hot", "rotating", "cold"),
    "hot",
)
OFFSET = Axis("offset", "bytes added to the size, as NetPIPE's perturbation of 3 does", (0, -3, 3), 0, "B")
WINDOW = Axis("window", "messages on the way before one waits", (64,), 64)
POOL = Axis("pool", "bytes of each of the two pools of cold buffers", (), None, "B")


def sizes(smallest: int = 1) -> Axis:
    """The axis of a message's size: powers of two to 4 MiB, and nothing at all where `smallest` is 0."""
    powers = tuple(2**power for power in range(23))
    return Axis("bytes", "size of a message", powers if smallest else (0, *powers), 8, "B", swept=True)


def metrics(slowest: str, counted: str, *, after: str = "", limit: str = "") -> tuple[Metric, ...]:
    """Latency of messages to and fro, bandwidth and rate of windows.

    Args:
        slowest: what the slowest is one of: `of all pairs the slowest`.
        counted: whose messages are counted together: `messages of all pairs`.
        after: what else is to be said of both rates.
        limit: name of the law that bounds the bandwidth.
    """
    both = f"both directions added where there are two{after}"
    return (
        Metric(
            "latency",
            "s",
            "lower",
            "one-way",
            f"one way: half of a round trip; {slowest}",
            when={"pattern": _LATENCIES},
        ),
        Metric(
            "bandwidth", "B/s", "higher", "bytes", f"bytes of {counted}, {both}", limit, when={"pattern": _WINDOWS}
        ),
        Metric("message-rate", "1/s", "higher", "messages", f"{counted}, {both}", when={"pattern": _WINDOWS}),
    )


def pool_size(topology: Topology, placement: Placement, memory_bytes: int) -> dict[str, ParamValue]:
    """Bytes of a pool of cold buffers: beyond the last-level caches that the ranks use, within their memory."""
    used = set(placement.cpus)
    last_level = max((cache.level for cache in topology.caches), default=0)
    cache_bytes = sum(
        cache.size_bytes for cache in topology.caches if cache.level == last_level and used & set(cache.cpus)
    )
    wanted = max(_POOL_MULTIPLE * (cache_bytes or _UNKNOWN_CACHE_BYTES), 2 * _LARGEST)
    ranks = max(len(placement.ranks), 1)
    return {"pool": min(wanted, int(_MEMORY_SHARE * memory_bytes / 2 / ranks))}


def buffer_bytes(payload: int, alignment: int = 0) -> int:
    """What one buffer takes, with the gap that keeps it from the next one."""
    grain = max(_APART_BYTES, 2 * alignment)
    return -(-max(1, payload) // grain) * grain


def buffers_bytes(params: Params, buffer: int) -> int:
    """Of all buffers of one rank's thread, those to send and those to receive."""
    count = {"hot": buffer, "rotating": int(params["window"]) * buffer, "cold": max(buffer, int(params["pool"]))}
    return 2 * count[str(params["buffers"])]
