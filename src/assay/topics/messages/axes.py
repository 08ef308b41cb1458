"""What the benchmarks of messages between pairs of processes have in common."""

from collections.abc import Callable, Iterable

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark, Resources
from assay.model.declaration import Params

_LATENCIES = ("latency", "multi-latency")
#: Cold buffers walk through a pool this many times the last-level cache, so that no line is still in cache.
_POOL_MULTIPLE = 4
_UNKNOWN_CACHE_BYTES = 32 * 2**20
_LARGEST = 4 * 2**20
_MEMORY_SHARE = 0.6
#: Distance of buffers, or more where their alignment needs it.
_APART_BYTES = 128
#: Bytes per second that are written into new buffers, and time of any message: assumptions for plans only.
_FILL_RATE, _CALL_S = 1e9, 2e-6

#: Axis of the most bytes of a TCP segment.
SEGMENT = "segment"


def benchmark(
    name: str,
    memory_bytes: Callable[[Params], int],
    points: Callable[[Resources, Params], Iterable[Params]] = lambda _resources, _params: ({},),
    rate: float | None = None,
    start_s: float = 0.01,
) -> Benchmark:
    """Return a benchmark of messages.

    Args:
        name: of its declaration.
        memory_bytes: bytes of its buffers.
        points: see `Benchmark`.
        rate: bytes per second of an iteration, for plans; None: sampling takes all of its time.
        start_s: seconds before it writes its buffers, for plans.
    """
    return Benchmark(
        **declared(name),
        memory_bytes=lambda params, _placement: memory_bytes(params),
        points=points,
        message_bytes=message_bytes,
        iteration_seconds=(lambda params: _CALL_S + message_bytes(params) / rate) if rate else None,
        setup_seconds=lambda params: start_s + memory_bytes(params) / _FILL_RATE,
    )


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
