"""The rate at which an OpenCL device reads and writes its own memory."""

from collections.abc import Iterable

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark, Resources
from assay.model.declaration import Params

_VECTORS, _NUMBER_BYTES = 3, 4
#: All vectors together are this many times the caches: an OpenCL device may be the processor itself.
_CACHE_MULTIPLE = 4
_LEAST_ELEMENTS = 2**24
_MEMORY_SHARE = 0.3
#: Numbers that the host writes and checks in a second, and seconds to start a driver, for plans only.
_CHECKED_RATE, _START_S = 2e8, 2.0


def _points(resources: Resources, _params: Params) -> Iterable[Params]:
    wanted = _CACHE_MULTIPLE * resources.last_level_bytes // (_VECTORS * _NUMBER_BYTES)
    allowed = int(_MEMORY_SHARE * resources.memory_bytes) // (_VECTORS * _NUMBER_BYTES)
    yield {"elements": min(max(wanted, _LEAST_ELEMENTS), allowed)}


def _bytes(params: Params) -> int:
    return (_VECTORS + 1) * _NUMBER_BYTES * int(params["elements"])


benchmark = Benchmark(
    **declared("opencl_memory"),
    memory_bytes=lambda params, _placement: _bytes(params),
    points=_points,
    setup_seconds=lambda params: _START_S + 8 * int(params["elements"]) / _CHECKED_RATE,
    touch_seconds=lambda params: _bytes(params) / 4e9,
)
