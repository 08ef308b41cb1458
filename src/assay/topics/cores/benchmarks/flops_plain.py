"""The eight mixes of flops as plain loops, which show compilers and flags."""

from assay.model.benchmark import Benchmark
from assay.model.declaration import Axis, Metric

#: A page, which holds one line per thread.
_MEMORY_BYTES = 4096
#: An assumption for plans only.
_ITERATION_S = 2e-4

benchmark = Benchmark(
    name="flops_plain",
    title="Floating-point operations of plain loops",
    measures="the rate of floating-point operations of eight loops in plain C++, as the compiler builds them",
    source="A. Aburto, flops.c 2.0, 1992 (the numbers of operations; the functions that are summed are ours)",
    program="flops_plain",
    kernels=("sum",),
    axes=(
        Axis(
            "mix",
            "which operations, and how many of each",
            tuple(f"mix-{module}" for module in range(1, 9)),
            "mix-1",
            named=True,
        ),
    ),
    metrics=(
        Metric(
            "rate",
            "flop/s",
            "higher",
            "flops",
            "additions, subtractions, multiplications and divisions in the source code of the loops, of all cores",
            limit="fma-peak",
            role="loop-rate",
        ),
    ),
    memory_bytes=lambda _params, _placement: _MEMORY_BYTES,
    iteration_seconds=lambda _params: _ITERATION_S,
)
