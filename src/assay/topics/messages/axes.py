"""What the benchmarks of messages between pairs of processes have in common."""

from collections.abc import Iterable

from assay.model.benchmark import Resources
from assay.model.declaration import Axis, Metric, Params, Pattern

_LATENCIES = ("latency", "multi-latency")
_WINDOWS = ("bandwidth", "bidirectional", "multi-bandwidth")
#: Cold buffers walk through a pool this many times the last-level cache, so that no line is still in cache.
_POOL_MULTIPLE = 4
_UNKNOWN_CACHE_BYTES = 32 * 2**20
_LARGEST = 4 * 2**20
_MEMORY_SHARE = 0.6
#: Distance of buffers, or more where their alignment needs it.
_APART_BYTES = 128
#: Bytes per second that are written into new buffers: an assumption for plans only.
FILL_RATE = 1e9
#: Time of a message of any size: an assumption for plans only.
_CALL_S = 2e-6

#: The patterns of our benchmarks, then those of other tools.
PATTERNS = {
    "latency": Pattern("Ping-pong latency, one way", "latency, one way", "time", osu="Latency"),
    "bandwidth": Pattern("Bandwidth, one direction", "bandwidth, one direction", osu="Bandwidth"),
    "bidirectional": Pattern(
        "Bandwidth, both directions added",
        "bandwidth, both directions added",
        directions=2,
        osu="Bi-Directional Bandwidth",
    ),
    "multi-bandwidth": Pattern(
        "Bandwidth of all pairs, one direction",
        "bandwidth of all pairs, one direction",
        pairs="all",
        osu="Multiple Bandwidth / Message Rate",
    ),
    "multi-latency": Pattern(
        "Latency of the slowest pair, one way",
        "latency of the slowest pair, one way",
        "time",
        pairs="all",
        osu="Multi Latency",
    ),
    "multi-bidirectional": Pattern(
        "Bandwidth of all pairs, both directions added",
        "bandwidth of all pairs, both directions added",
        directions=2,
        pairs="all",
    ),
    "ping-pong": Pattern("Bandwidth of a ping-pong", timed="latency"),
    "pingping": Pattern("Time with a message in the opposite direction", figure="time"),
    "sendrecv": Pattern("Time to send and receive (Sendrecv)", figure="time"),
    "exchange": Pattern("Exchange with both neighbours", figure="time"),
}
#: Axis of the most bytes of a TCP segment.
SEGMENT = "segment"


def pattern(meaning: str, *names: str) -> Axis:
    """Return the axis of these patterns, the first of which is usual."""
    return Axis("pattern", meaning, names, names[0], role="message-pattern", named=True, patterns=PATTERNS)


PATTERN = pattern(
    "latency: round trip; bandwidth: a window of messages in one direction, then an acknowledgement; "
    "bidirectional: windows in both directions at once; multi-: all pairs at once",
    "latency",
    "bandwidth",
    "bidirectional",
    "multi-bandwidth",
    "multi-latency",
)
BUFFERS = Axis(
    "buffers",
    "hot: one to send and one to receive; rotating: a window of each in turn; cold: pools beyond the caches",
    ("hot", "rotating", "cold"),
    "hot",
    role="buffer-reuse",
    level_roles={"cold": "beyond-caches"},
)
WINDOW = Axis("window", "messages on the way before one waits", (64,), 64)
GAP = Axis(
    "gap",
    "asleep before each round trip or window, which is then timed alone; the partner waits as it always does",
    (0, 100, 1000, 10000),
    0,
    "us",
    clashes={"pattern": (("bidirectional",), "both sides start, and neither knows when the other one wakes up")},
    role="idle-gap",
)
POOL = Axis("pool", "bytes of each of the two pools of cold buffers", (), None, "B")


def sizes(smallest: int = 1) -> Axis:
    """Return the axis of message sizes: powers of two to 4 MiB, and the empty message if `smallest` is 0."""
    powers = tuple(2**power for power in range(23))
    return Axis(
        "bytes", "size of a message", powers if smallest else (0, *powers), 8, "B", swept=True, role="message-size"
    )


def metrics(slowest: str, counted: str, *, after: str = "", limit: str = "") -> tuple[Metric, ...]:
    """Return latency of messages to and fro, bandwidth and rate of windows.

    Args:
        slowest: whose latency it is: `of all pairs the slowest`.
        counted: the messages that are counted together: `messages of all pairs`.
        after: added to the meaning of both rates.
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
            role="message-time",
        ),
        Metric(
            "bandwidth",
            "B/s",
            "higher",
            "bytes",
            f"bytes of {counted}, {both}",
            limit,
            when={"pattern": _WINDOWS},
            role="message-bandwidth",
        ),
        Metric(
            "message-rate",
            "1/s",
            "higher",
            "messages",
            f"{counted}, {both}",
            when={"pattern": _WINDOWS},
            role="message-rate",
        ),
    )


def iteration_seconds(params: Params, rate: float) -> float:
    """Estimate the time of an iteration at `rate` bytes per second."""
    return _CALL_S + message_bytes(params) / rate


def message_bytes(params: Params) -> int:
    """Return the bytes of an iteration, one way: of a message to and fro, else of a window of messages."""
    return (1 if params[PATTERN.name] in _LATENCIES else int(params["window"])) * int(params["bytes"])


def pool_points(resources: Resources, _params: Params) -> Iterable[Params]:
    """Size a pool of cold buffers: beyond the last-level caches of the ranks, within their memory."""
    wanted = max(_POOL_MULTIPLE * (resources.last_level_bytes or _UNKNOWN_CACHE_BYTES), 2 * _LARGEST)
    ranks = resources.placement.most_ranks
    yield {"pool": min(wanted, int(_MEMORY_SHARE * resources.memory_bytes / 2 / ranks))}


def buffer_bytes(payload: int, alignment: int = 0) -> int:
    """Return the bytes of one buffer, with the gap to the next one."""
    grain = max(_APART_BYTES, 2 * alignment)
    return -(-max(1, payload) // grain) * grain


def buffers_bytes(params: Params, buffer: int) -> int:
    """Return the bytes of all buffers of one thread of a rank, to send and to receive."""
    count = {"hot": buffer, "rotating": int(params["window"]) * buffer, "cold": max(buffer, int(params["pool"]))}
    return 2 * count[str(params["buffers"])]
