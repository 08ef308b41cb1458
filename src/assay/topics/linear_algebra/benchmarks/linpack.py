"""The LINPACK benchmark of order 100 and 1000, on one core."""

from assay.catalogue.declaration_files import declaration, declared
from assay.model.benchmark import Benchmark
from assay.topics.linear_algebra import linpack

benchmark = Benchmark(
    **declared("linpack"),
    memory_bytes=lambda params, _placement: linpack.memory_bytes(params),
    points=linpack.points,
    setup_seconds=lambda _params: linpack.SETUP_S,
    iteration_seconds=lambda _params: 0.0,
    operations=linpack.operations(declaration("linpack")),
)
