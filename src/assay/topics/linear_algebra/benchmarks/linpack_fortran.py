"""The LINPACK benchmark of order 100 and 1000, on one core, in Fortran."""

from assay.model.benchmark import Benchmark
from assay.topics.linear_algebra import linpack

benchmark = Benchmark(
    name="linpack_fortran",
    title="LINPACK in Fortran (LU on one core)",
    measures="the rate of floating-point operations in the solution of a dense system of order 100 or 1000 on one "
    "core, by the loops of a Fortran compiler",
    source=linpack.SOURCE,
    program="linpack_fortran",
    kernels=("solve",),
    axes=linpack.AXES,
    metrics=(linpack.RATE,),
    memory_bytes=lambda params, _placement: linpack.memory_bytes(params),
    points=linpack.points,
    max_cpus=1,
    setup_seconds=lambda _params: linpack.SETUP_S,
    iteration_seconds=lambda _params: 0.0,
    operations=linpack.OPERATIONS,
)
