"""The LINPACK benchmark of order 100 and 1000, on one core."""

from collections.abc import Iterable

from assay.model.benchmark import Axis, Benchmark, Metric, Params, Resources

_DOUBLE_BYTES = 8
#: A slow core's rate, flop/s: an assumption for plans only.
_RATE = 5e8
#: Order -> the leading dimensions that the benchmark names.
_LEADING = {100: (200, 201), 1000: (1001,)}


def _points(_resources: Resources, params: Params) -> Iterable[Params]:
    """The orders of the benchmark with their leading dimensions; of another order the next odd number."""
    given = params.get("n")
    for order in _LEADING if given is None else (int(given),):
        for leading in _LEADING.get(order, (order + 1 + order % 2,)):
            yield {"n": order, "leading": leading}


def _memory_bytes(params: Params) -> int:
    return 2 * _DOUBLE_BYTES * int(params["n"]) * (int(params["leading"]) + 1)


def _seconds(params: Params) -> float:
    return (2 * int(params["n"]) / 3 + 2) * int(params["n"]) ** 2 / _RATE


benchmark = Benchmark(
    name="linpack",
    title="System of equations on one core (LINPACK)",
    measures="the rate of floating-point operations in the solution of a dense system of order 100 or 1000 on one "
    "core, by the compiler's loops and by a library",
    source="J. J. Dongarra, Performance of various computers using standard linear equations software, "
    "University of Tennessee CS-89-85",
    program="linpack",
    kernels=("solve",),
    axes=(
        Axis("n", "order of the system of equations", (100, 1000), None, identifies=True),
        Axis(
            "leading", "numbers from one column of the matrix to the next", (200, 201, 1001), None, identifies=True
        ),
        Axis(
            "method",
            "what factors the matrix: plain: DGEFA, loops of the compiler; lapack: the library's LU",
            ("plain", "lapack"),
            "plain",
        ),
    ),
    metrics=(
        Metric(
            "rate",
            "flop/s",
            "higher",
            "flops",
            "2 n^3 / 3 + 2 n^2 operations over the time of factors and solution, as LINPACK counts",
            limit="fma-peak",
            role="system-rate",
        ),
    ),
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    points=_points,
    max_cpus=1,
    setup_seconds=lambda params: 0.02 + 2 * _seconds(params),
    iteration_seconds=_seconds,
    needs=("blas",),
)
