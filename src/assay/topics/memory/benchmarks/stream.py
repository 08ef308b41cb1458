"""Sustainable memory bandwidth."""

from collections.abc import Iterable

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark, Resources
from assay.model.declaration import Params

_ARRAYS = 3
_DOUBLE_BYTES = 8
#: STREAM's rule: each array at least four times the last-level caches of all cores that take part.
CACHE_MULTIPLE = 4
#: Where the size of all arrays from which on rates stay the same was measured: this many times that size.
_BEYOND_HELD = 2
#: Without known caches: larger than any cache of a core group that we know of.
UNKNOWN_CACHE_BYTES = 32 * 2**20
#: Never ask for more than this share of the memory that may be used.
_MEMORY_SHARE = 0.6
#: First touch of fresh pages, and passes over touched ones, bytes per second: assumptions for plans only.
_TOUCH_RATE = 4e9
_PASS_RATE = 16e9
#: Bytes moved in addition to the samples, in sizes of all arrays: each kernel overwrites its target twice (a third
#: of the arrays), checks it twice, and runs once for the check, which is its warm-up too (two thirds or all of
#: them, and a third more by write-allocate).
_PASSES = 10


def _points(resources: Resources, _params: Params) -> Iterable[Params]:
    wanted = CACHE_MULTIPLE * (resources.last_level_bytes or UNKNOWN_CACHE_BYTES)
    if held := resources.topology.held_bytes:
        wanted = min(wanted, _BEYOND_HELD * held // _ARRAYS)
    allowed = int(_MEMORY_SHARE * resources.memory_bytes / _ARRAYS)
    yield {"elements": min(wanted, allowed) // _DOUBLE_BYTES}


def _memory_bytes(params: Params) -> int:
    return _ARRAYS * _DOUBLE_BYTES * int(params["elements"])


def _touch_seconds(params: Params) -> float:
    return _memory_bytes(params) / _TOUCH_RATE


def _setup_seconds(params: Params) -> float:
    return 0.05 + _touch_seconds(params) + _PASSES * _memory_bytes(params) / _PASS_RATE


benchmark = Benchmark(
    **declared("stream"),
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    points=_points,
    setup_seconds=_setup_seconds,
    touch_seconds=_touch_seconds,
)
