"""The time of a load from memory while other cores read from it."""

from collections.abc import Iterable

from assay.model.benchmark import Axis, Benchmark, Metric, Params, Resources

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


def _points(resources: Resources, _params: Params) -> Iterable[Params]:
    cpus = resources.placement.cpus
    caches = [cache for cache in resources.topology.caches if set(cpus) & set(cache.cpus)]
    last_level = max((cache.level for cache in caches), default=0)
    last = [cache for cache in caches if cache.level == last_level]
    of_walk = max((cache.size_bytes for cache in last if cpus[0] in cache.cpus), default=0)
    most = int(_MEMORY_SHARE * resources.memory_bytes)
    yield {
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
    title="Memory latency under load",
    measures="the latency of one core's loads while all other cores read memory, and their bandwidth",
    source="the delay-injected loads of Intel Memory Latency Checker (--loaded_latency)",
    program="loaded_latency",
    kernels=("chase", "load"),
    axes=(
        Axis(
            "delay",
            "iterations of an empty loop after each line that a stream reads",
            (0, 8, 15, 30, 60, 120, 300, 1000),
            0,
            "turns",
            swept=True,
            role="pause",
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
            "one load of the pointer chase while the streams read",
            kernels=("chase",),
            role="loaded-latency",
        ),
        Metric(
            "bandwidth",
            "B/s",
            "higher",
            "bytes",
            "bytes that all streams read during the pointer chase; its own loads are not counted",
            limit="memory-traffic",
            kernels=("load",),
            role="memory-traffic",
        ),
    ),
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    points=_points,
    min_cpus=2,
    setup_seconds=_setup_seconds,
    touch_seconds=_touch_seconds,
    touch_axes=("pages", "bytes", "buffers"),
)
