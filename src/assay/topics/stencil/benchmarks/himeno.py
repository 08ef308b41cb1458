"""The Himeno benchmark: Jacobi sweeps of a Poisson equation on a three-dimensional grid."""

from assay.catalogue.declaration_files import declaration, declared
from assay.model.benchmark import Benchmark
from assay.model.declaration import Params
from assay.model.errors import UsageError

_POINTS = next(axis.numbers for axis in declaration("himeno").axes if axis.numbers)
#: Size -> points along i, j and k, boundaries included.
GRIDS = {str(size): (points["i"], points["j"], points["k"]) for size, points in _POINTS.items()}
_ARRAYS = 14
FLOAT_BYTES = 4
#: Each array ends 17 lines of 64 B after its last point.
_STAGGER_BYTES = 17 * 64
#: First touch and a check of each point, bytes per second: a low assumption, for plans only.
_SETUP_RATE = 1e9
#: First touch alone, bytes per second.
_TOUCH_RATE = 4e9


def arrays_bytes(points: int) -> int:
    """Return the memory of all arrays of a grid or block with this number of points."""
    return _ARRAYS * (FLOAT_BYTES * points + _STAGGER_BYTES)


def grid(params: Params) -> tuple[int, int, int]:
    """Return the points of a grid; UsageError for an unknown size."""
    if (size := str(params.get("size"))) not in GRIDS:
        raise UsageError(f"Himeno has no grid '{size}'", why=f"known: {', '.join(GRIDS)}")
    return GRIDS[size]


def grid_bytes(params: Params) -> int:
    """Return the memory of a whole grid."""
    i, j, k = grid(params)
    return arrays_bytes(i * j * k)


benchmark = Benchmark(
    **declared("himeno"),
    memory_bytes=lambda params, _placement: grid_bytes(params),
    setup_seconds=lambda params: 0.05 + grid_bytes(params) / _SETUP_RATE,
    touch_seconds=lambda params: grid_bytes(params) / _TOUCH_RATE,
)
