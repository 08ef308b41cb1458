"""HPL-MxP: one dense system of equations, by LU in low precision and refinement to double precision."""

from collections.abc import Iterable

from assay.model.benchmark import Benchmark, Operations, Resources
from assay.model.declaration import Axis, Metric, Params
from assay.model.declarations import phase_times
from assay.model.placement import Placement
from assay.topics.linear_algebra.benchmarks.hpl import ORDER, operations, orders
from assay.topics.linear_algebra.calls import BF16_PRODUCT, MIXED_LU

#: Bytes of an entry: in double precision, and of the factors in single precision.
_ENTRY_BYTES = 8 + 4
#: Bytes of a number that the update multiplies, where it is a copy of one of the factors.
_COPY_BYTES = {"fp32": 0, "bf16": 2}
#: Share of a core's peak, cost of an operation over one in double precision, and rate of writing and checking the
#: matrix, B/s. Assumptions for plans only.
_SHARE, _COST, _MATRIX_RATE = 0.6, 0.5, 1e9
#: Operations of the largest order per core: 6 s at the assumed rate of a fast core.
_WORK = 6.0 * 5e10

#: Phases of a solution.
PHASES = {
    "conversion": "conversion of the matrix to single precision",
    "diagonal": "LU of the diagonal blocks",
    "triangles": "triangular solutions right of the diagonal blocks and below",
    "update": "matrix products of the update",
    "refinement": "the solution by the factors, and GMRES in double precision",
}


def _points(resources: Resources, params: Params) -> Iterable[Params]:
    """Return orders, each twice the one before, up to the limits of memory and work."""
    work = _WORK * len(resources.placement.cpus)
    return ({"n": order} for order in orders(resources.memory_bytes, _ENTRY_BYTES, work, int(params["nb"])))


def _memory_bytes(params: Params, _placement: Placement) -> int:
    order, blocks = int(params["n"]), 2 * int(params["nb"])  # one of columns, one of rows
    return _ENTRY_BYTES * order**2 + _COPY_BYTES[str(params["format"])] * blocks * order


def _core_operations(params: Params, placement: Placement) -> float:
    return _COST * operations(int(params["n"])) / len(placement.cpus)


def _setup_seconds(params: Params) -> float:
    """Return the time to write and to check the system."""
    return 0.2 + 2 * _ENTRY_BYTES * int(params["n"]) ** 2 / _MATRIX_RATE


benchmark = Benchmark(
    name="mxp",
    title="HPL-MxP (LU, mixed precision)",
    measures="the rate of the solution of a dense system of equations by LU in low precision, refined to the "
    "accuracy of double precision",
    source="J. Dongarra, P. Luszczek, Y. M. Tsai, HPL-MxP mixed-precision benchmark, https://hpl-mxp.org, 2019",
    program="mxp",
    kernels=("rate", *PHASES),
    axes=(
        ORDER,
        Axis("nb", "columns of a block", (128, 256, 512), 256),
        Axis(
            "format",
            "of the numbers that the update multiplies: fp32; bf16, if the library has it, summed in fp32",
            ("fp32", "bf16"),
            "fp32",
            role="precision",
            named=True,
            functions={"bf16": BF16_PRODUCT},
        ),
    ),
    metrics=(
        Metric(
            "rate",
            "flop/s",
            "higher",
            "solution",
            "2 n^3 / 3 + 3 n^2 / 2 operations over the time of the solution, conversion and refinement included",
            limit="fma-peak",
            kernels=("rate",),
            role="mixed-system-rate",
            precision="fp32",
        ),
        *phase_times(PHASES, "time of a phase"),
    ),
    memory_bytes=_memory_bytes,
    points=_points,
    setup_seconds=_setup_seconds,
    operations=Operations(_SHARE, _core_operations),
    needs={"blas": MIXED_LU},
    order_grain="nb",
)
