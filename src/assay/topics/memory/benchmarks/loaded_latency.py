"""The time of a load from memory while other cores read from it."""

from collections.abc import Iterable

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark, Resources
from assay.model.declaration import Params
from assay.topics.memory.benchmarks.latency import LINE_BYTES, ORDER_BYTES, SEED, TOUCH_RATE
from assay.topics.memory.benchmarks.stream import CACHE_MULTIPLE, UNKNOWN_CACHE_BYTES

_LARGEST_WALK_BYTES = 2**30
#: The walk and the streams each take no more than this share of the memory that may be used.
_MEMORY_SHARE = 0.3
#: Time to link and check a line, and bytes per second to fill touched buffers: assumptions for plans only.
_LINK_S = 50e-9
_FILL_RATE = 8e9


def _points(resources: Resources, _params: Params) -> Iterable[Params]:
    cpus = resources.placement.cpus
    caches = [cache for cache in resources.topology.caches if set(cpus) & set(cache.cpus)]
    last_level = max((cache.level for cache in caches), default=0)
    last = [cache for cache in caches if cache.level == last_level]
    of_walk = max((cache.size_bytes for cache in last if cpus[0] in cache.cpus), default=0)
    most = int(_MEMORY_SHARE * resources.memory_bytes)
    yield {
        "bytes": min(CACHE_MULTIPLE * (of_walk or UNKNOWN_CACHE_BYTES), most, _LARGEST_WALK_BYTES),
        "buffers": min(CACHE_MULTIPLE * (sum(cache.size_bytes for cache in last) or UNKNOWN_CACHE_BYTES), most),
        "line": max((cache.line_bytes for cache in caches), default=0) or LINE_BYTES,
        "seed": SEED,
    }


def _memory_bytes(params: Params) -> int:
    size = int(params["bytes"])
    return size + ORDER_BYTES * size // int(params["line"]) + int(params["buffers"])


def _touch_seconds(params: Params) -> float:
    return (int(params["bytes"]) + int(params["buffers"])) / TOUCH_RATE


def _setup_seconds(params: Params) -> float:
    lines = int(params["bytes"]) / int(params["line"])
    return 0.05 + _touch_seconds(params) + _LINK_S * lines + int(params["buffers"]) / _FILL_RATE


benchmark = Benchmark(
    **declared("loaded_latency"),
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    points=_points,
    setup_seconds=_setup_seconds,
    touch_seconds=_touch_seconds,
)
