"""The time of a load from memory while other cores read from it."""

from assay.model.benchmark import Axis, Benchmark, Metric, Params, ParamValue
from assay.model.machine import Topology
from assay.model.placement import Placement

_USUAL_LINE_BYTES = 64
_SEED = 1
#: As for `stream`: beyond the last-level caches that take part.
_CACHE_MULTIPLE = 4
_UNKNOWN_CACHE_BYTES = 32 * 2**20
_LARGEST_WALK_BYTES = 2**30
#: The walk and the streams each take no more than this share of the memory that may be used.
_MEMORY_SHARE = 0.3
#: The order of the lines, 4 bytes each, is needed until they are linked.
_ORDER_BYTES = 4
#: Linking and checking a line of the walk, first touch, and filling touched buffers, bytes per second. Assumptions
#: for plans only.
_LINK_S = 50e-9
_TOUCH_RATE = 3e9
_FILL_RATE = 8e9


def _size(topology: Topology, placement: Placement, memory_bytes: int) -> dict[str, ParamValue]:
    used = set(placement.cpus)
    caches = [cache for cache in topology.caches if used & set(cache.cpus)]
    last_level = max((cache.level for cache in caches), default=0)
    last = [cache for cache in caches if cache.level == last_level]
    of_walk = max((cache.size_bytes for cache in last if placement.cpus[0] in cache.cpus), default=0)
    most = int(_MEMORY_SHARE * memory_bytes)
    return {
        "bytes": min(_CACHE_MULTIPLE * (of_walk or _UNKNOWN_CACHE_BYTES), most, _LARGEST_WALK_BYTES),
        "buffers": min(_CACHE_MULTIPLE * (sum(cache.size_bytes for cache in last) or _UNKNOWN_CACHE_BYTES), most),
        "line": max((cache.line_bytes for cache in caches), default=0) or _USUAL_LINE_BYTES,
        "seed": _SEED,
    }


def _memory_bytes(params: Params) -> int:
    size = int(params["bytes"])
    return size + _ORDER_BYTES * size // int(params["line"]) + int(params["buffers"])


def _touch_seconds(params: Params) -> float:
    return (int(params["bytes"]) + int(params["buffers"])) / _TOUCH_RATE


def _setup_seconds(params: Params) -> float:
    lines = int(params["bytes"]) / int(params["line"])
    return 0.05 + _touch_seconds(params) + _LINK_S * lines + int(params["buffers"]) / _FILL_RATE


benchmark = Benchmark(
    name="loaded_latency",
    title="Load latency under load",
    measures="how long one core's loads from memory take while all others read from it, and at what rate they do",
    source="the delay-injected loads of Intel Memory Latency Checker (--loaded_latency)",
    program="loaded_latency",
    kernels=("chase", "load"),
    axes=(
        Axis(
            "delay",
            "turns of an empty loop after each line that a stream reads",
            (0, 8, 15, 30, 60, 120, 300, 1000),
            0,
            "turns",
            swept=True,
        ),
        Axis("bytes", "working set of the walk", (), None, "B"),
        Axis("buffers", "what all streams together read from", (), None, "B"),
        Axis(
            "pages",
            "size of the pages of all buffers",
            ("small", "huge"),
            "small",
            needs={"huge": ("always", "madvise")},
            needs_of=("memory", "transparent huge pages"),
        ),
        Axis("line", "distance of the addresses that are walked to", (64, 128, 256), None, "B"),
        Axis("seed", "of the random cycle", (_SEED,), None),
    ),
    metrics=(
        Metric(
            "latency",
            "s",
            "lower",
            "loads",
            "one load of the walk, of which each waits for the one before, while the streams read",
            kernels=("chase",),
        ),
        Metric(
            "bandwidth",
            "B/s",
            "higher",
            "bytes",
            "bytes that all streams together read while the walk goes on; its own loads are not counted",
            kernels=("load",),
        ),
    ),
    memory_bytes=_memory_bytes,
    size=_size,
    min_cpus=2,
    setup_seconds=_setup_seconds,
    touch_seconds=_touch_seconds,
    touch_axes=("pages", "bytes", "buffers"),
)
