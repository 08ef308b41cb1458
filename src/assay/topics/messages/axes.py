"""What the benchmarks of messages between pairs of processes have in common."""

from collections.abc import Iterable

from assay.model.benchmark import Resources
from assay.model.declaration import Params

_LATENCIES = ("latency", "multi-latency")
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

#: Axis of the most bytes of a TCP segment.
SEGMENT = "segment"


def iteration_seconds(params: Params, rate: float) -> float:
    """Estimate the time of an iteration at `rate` bytes per second."""
    return _CALL_S + message_bytes(params) / rate


def message_bytes(params: Params) -> int:
    """Return the bytes of an iteration, one way: of a message to and fro, else of a window of messages."""
    return (1 if params["pattern"] in _LATENCIES else int(params["window"])) * int(params["bytes"])


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
