"""The time of one load, by working set and by size of pages."""

from collections.abc import Iterable

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark, Resources
from assay.model.declaration import Params

#: Cache line of a machine that does not state its size.
LINE_BYTES = 64
SEED = 1
_HUGE_PAGE_BYTES = 2 * 2**20
#: The order of the lines, 4 bytes each, is needed until they are linked.
ORDER_BYTES = 4
#: Set-up: time to link a line and to visit it on a first lap that checks all lines and fills the caches; first
#: touch, bytes per second; time of a load from memory. Assumptions for plans only.
_LINK_S = 45e-9
TOUCH_RATE = 3e9
_LOAD_S = 200e-9


def _points(resources: Resources, _params: Params) -> Iterable[Params]:
    used = set(resources.placement.cpus)
    caches = (cache for cache in resources.topology.caches if used & set(cache.cpus))
    lines = [cache.line_bytes for cache in caches if cache.line_bytes]
    yield {"line": max(lines, default=LINE_BYTES), "seed": SEED}


def _memory_bytes(params: Params) -> int:
    size = int(params["bytes"])
    rounded = -(-size // _HUGE_PAGE_BYTES) * _HUGE_PAGE_BYTES if params["pages"] == "huge" else size
    return rounded + ORDER_BYTES * size // int(params["line"])


def _touch_seconds(params: Params) -> float:
    return int(params["bytes"]) / TOUCH_RATE


def _setup_seconds(params: Params) -> float:
    lines = int(params["bytes"]) / int(params["line"])
    return 0.003 + _LINK_S * lines + _touch_seconds(params)


benchmark = Benchmark(
    **declared("latency"),
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    points=_points,
    setup_seconds=_setup_seconds,
    touch_seconds=_touch_seconds,
    iteration_seconds=lambda _params: _LOAD_S,
)
