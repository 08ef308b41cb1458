"""The LINPACK benchmark of order 100 and 1000, on one core."""

from assay.model.benchmark import Benchmark
from assay.model.declaration import Axis
from assay.topics.linear_algebra import linpack
from assay.topics.linear_algebra.calls import LIBRARY_LU, PRODUCT

benchmark = Benchmark(
    name="linpack",
    title="LINPACK (LU on one core)",
    measures="the rate of floating-point operations in the solution of a dense system of order 100 or 1000 on one "
    "core, by the compiler's loops and by a library",
    source=linpack.SOURCE,
    program="linpack",
    kernels=("solve",),
    axes=(
        *linpack.AXES,
        Axis(
            "method",
            "what factors the matrix: plain: DGEFA, loops of the compiler; lapack: the library's LU",
            ("plain", "lapack"),
            "plain",
            functions={"lapack": LIBRARY_LU},
        ),
    ),
    metrics=(linpack.RATE,),
    memory_bytes=lambda params, _placement: linpack.memory_bytes(params),
    points=linpack.points,
    max_cpus=1,
    setup_seconds=lambda _params: linpack.SETUP_S,
    iteration_seconds=lambda _params: 0.0,
    operations=linpack.OPERATIONS,
    needs={"blas": PRODUCT},
)
