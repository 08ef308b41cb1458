"""The rate of the C library's memcpy, by size, inside and outside the caches."""

from collections.abc import Iterable

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark, Resources
from assay.model.declaration import Params
from assay.topics.memory.benchmarks.stream import UNKNOWN_CACHE_BYTES

_LARGEST = 64 * 2**20
#: Cold sources and targets walk through two pools, each this many times the last-level cache: four times the size
#: of that cache passes before a line is used again, so the cache has lost it.
_POOL_MULTIPLE = 2
_MEMORY_SHARE = 0.6
#: First touch of fresh pages, and filling touched ones, bytes per second: assumptions for plans only.
_TOUCH_RATE = 4e9
_FILL_RATE = 8e9
#: Rate of a copy outside the caches, time to find the number of copies of a sample, and copies of a block in
#: addition to the samples. Medians of a machine with two cores, for plans only.
_COPY_RATE = 6e9
_CALIBRATION_S = 0.003
_COPIES = 6


def _points(resources: Resources, _params: Params) -> Iterable[Params]:
    wanted = _POOL_MULTIPLE * (resources.last_level_bytes or UNKNOWN_CACHE_BYTES)
    yield {"pool": min(max(wanted, 2 * _LARGEST), int(_MEMORY_SHARE * resources.memory_bytes / 2))}


def _memory_bytes(params: Params) -> int:
    size = int(params["bytes"])
    return 2 * (max(size, int(params["pool"])) if params["buffers"] == "cold" else size)


def _touch_seconds(params: Params) -> float:
    return _memory_bytes(params) / _TOUCH_RATE


def _copy_seconds(params: Params) -> float:
    return int(params["bytes"]) / _COPY_RATE


def _setup_seconds(params: Params) -> float:
    filled_s = _memory_bytes(params) / _FILL_RATE
    return _CALIBRATION_S + _touch_seconds(params) + filled_s + _COPIES * _copy_seconds(params)


benchmark = Benchmark(
    **declared("memcpy"),
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    points=_points,
    setup_seconds=_setup_seconds,
    touch_seconds=_touch_seconds,
    iteration_seconds=_copy_seconds,
)
