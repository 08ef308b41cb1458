"""The Himeno benchmark: Jacobi sweeps of a Poisson equation on a three-dimensional grid."""

from assay.model.benchmark import Benchmark
from assay.model.declaration import Axis, Metric, Params
from assay.model.declarations import TOUCH, traffic
from assay.model.errors import UsageError

#: Points along i, j and k, boundaries included.
GRIDS = {
    "XS": (32, 32, 64),
    "S": (64, 64, 128),
    "M": (128, 128, 256),
    "L": (256, 256, 512),
    "XL": (512, 512, 1024),
}
_ARRAYS = 14
FLOAT_BYTES = 4
#: Operations of an inner point in a sweep.
FLOPS = 34
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
    name="himeno",
    title="Himeno (stencil)",
    measures="the rate of a Jacobi solver for the Poisson equation on the cores of a placement: a stencil over 14 "
    "arrays",
    source="R. Himeno, Himeno benchmark (himenoBMTxp), RIKEN, 2001",
    program="himeno",
    kernels=("jacobi",),
    axes=(
        Axis(
            "size",
            "points of the grid: XS 32x32x64, S 64x64x128, M 128x128x256, L 256x256x512, XL 512x512x1024",
            tuple(GRIDS),
            "M",
            named=True,
        ),
        TOUCH,
    ),
    metrics=(
        Metric(
            "rate",
            "flop/s",
            "higher",
            "flops",
            "34 floating-point operations for each inner point and sweep, as the benchmark's MFLOPS counts them",
            limit="roofline",
            role="stencil-rate",
            precision="fp32",
        ),
        traffic(
            "72 B for each inner point and sweep: memory traffic if neighbours along i and j stay in cache",
        ),
    ),
    memory_bytes=lambda params, _placement: grid_bytes(params),
    setup_seconds=lambda params: 0.05 + grid_bytes(params) / _SETUP_RATE,
    touch_seconds=lambda params: grid_bytes(params) / _TOUCH_RATE,
    touch_axes=("touch", "size"),
)
