"""The matrix product of a BLAS library."""

from assay.model.benchmark import Benchmark, Operations
from assay.model.declaration import Axis, Metric, Params
from assay.model.placement import Placement
from assay.topics.linear_algebra.calls import BF16_PRODUCT, PRODUCT

#: Bytes of one number of each matrix together.
_BYTES = {"fp64": 8 + 8 + 8, "fp32": 4 + 4 + 4, "bf16": 2 + 2 + 4}
#: Cost of an operation in a format over one in double precision.
_COSTS = {"fp64": 1.0, "fp32": 0.5, "bf16": 0.5}
#: Rate of filling the matrices, B/s, and the share of a core's peak. Assumptions for plans only.
_FILL_RATE = 1e9
_SHARE = 0.7


def _matrix_bytes(params: Params) -> int:
    return _BYTES[str(params["format"])] * int(params["n"]) ** 2


def _memory_bytes(params: Params, placement: Placement) -> int:
    """Return the bytes of one set of matrices, or of one set for each core."""
    return _matrix_bytes(params) * (len(placement.cpus) if params["product"] == "own" else 1)


def _operations(params: Params, placement: Placement) -> float:
    """Return the operations of one core in a product, as operations in double precision."""
    cores = 1 if params["product"] == "own" else len(placement.cpus)
    return _COSTS[str(params["format"])] * 2 * int(params["n"]) ** 3 / cores


benchmark = Benchmark(
    name="dgemm",
    title="DGEMM and SGEMM (matrix product, BLAS)",
    measures="the rate of floating-point operations of a BLAS library in a product of square matrices",
    source="J. J. Dongarra, J. Du Croz, S. Hammarling, I. Duff, A set of level 3 basic linear algebra "
    "subprograms, ACM Transactions on Mathematical Software 16, 1990",
    program="dgemm",
    kernels=("multiply",),
    axes=(
        Axis("n", "order of the three square matrices", (256, 512, 1024, 2048, 4096), 1024, swept=True),
        Axis(
            "format",
            "of the numbers: fp64 is DGEMM, fp32 is SGEMM; bf16: A and B, if the library has it, C in fp32",
            ("fp64", "fp32", "bf16"),
            "fp64",
            role="precision",
            named=True,
            functions={"bf16": BF16_PRODUCT},
        ),
        Axis(
            "product",
            "shared: all cores work on one product; own: every core works on its own product, all at once",
            ("shared", "own"),
            "shared",
        ),
    ),
    metrics=(
        Metric(
            "rate",
            "flop/s",
            "higher",
            "flops",
            "2 n^3 operations of a product, on all cores of the placement",
            limit="fma-peak",
            role="matrix-rate",
        ),
    ),
    memory_bytes=_memory_bytes,
    setup_seconds=lambda params: 0.05 + _matrix_bytes(params) / _FILL_RATE,
    iteration_seconds=lambda _params: 0.0,
    operations=Operations(
        _SHARE, lambda params, placement: 2 * _operations(params, placement), iteration=_operations
    ),
    needs={"blas": PRODUCT},
)
