"""The matrix product of a BLAS library."""

from assay.model.benchmark import Axis, Benchmark, Metric, Params

_BYTES = {"fp64": 8, "fp32": 4}
_MATRICES = 3
#: Filling the matrices, bytes per second, and a slow core's rate. Assumptions for plans only.
_FILL_RATE = 1e9
_RATE = 5e9


def _memory_bytes(params: Params) -> int:
    return _MATRICES * _BYTES[str(params["format"])] * int(params["n"]) ** 2


def _seconds(params: Params) -> float:
    return 2 * int(params["n"]) ** 3 / _RATE


benchmark = Benchmark(
    name="dgemm",
    title="Matrix product (BLAS)",
    measures="the rate of floating-point operations of a BLAS library in a product of square matrices",
    source="J. J. Dongarra, J. Du Croz, S. Hammarling, I. Duff, A set of level 3 basic linear algebra "
    "subprograms, ACM Transactions on Mathematical Software 16, 1990",
    program="dgemm",
    kernels=("multiply",),
    axes=(
        Axis("n", "order of the three square matrices", (256, 512, 1024, 2048, 4096), 1024, swept=True),
        Axis(
            "format",
            "of the numbers, by IEEE 754: fp64 is DGEMM, fp32 is SGEMM",
            ("fp64", "fp32"),
            "fp64",
            role="precision",
            named=True,
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
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    setup_seconds=lambda params: 0.05 + _memory_bytes(params) / _FILL_RATE + 2 * _seconds(params),
    iteration_seconds=_seconds,
    needs=("blas",),
)
