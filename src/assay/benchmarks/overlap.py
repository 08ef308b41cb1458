"""Nonblocking collective operations beside computing: how much of them stays hidden."""

from assay.benchmarks import collective
from assay.model.benchmark import Axis, Benchmark, Metric

_DECLARED = {axis.name: axis for axis in collective.benchmark.axes}
_OPERATIONS = tuple(word for word in _DECLARED["operation"].values if word != "dissemination")

benchmark = Benchmark(
    name="overlap",
    title="Collective operations beside computing (MPI)",
    measures="how much of a nonblocking collective operation is hidden behind computing",
    source="the definition of the OSU Micro-Benchmarks (osu_iallreduce and others; D. K. Panda et al., Ohio State "
    "University), each repetition as long as its slowest rank",
    program="overlap",
    kernels=("pure", "computing", "overlapped"),
    axes=(
        Axis("operation", "of MPI, begun by its MPI_I function", _OPERATIONS, "allreduce"),
        _DECLARED["bytes"],
        Axis("tests", "calls of MPI_Test, evenly spread over the computing", (0, 10, 100), 0),
    ),
    metrics=(
        Metric("time", "s", "lower", "", "of the operation alone, of computing alone, and of both begun at once"),
    ),
    memory_bytes=collective.benchmark.memory_bytes,
    min_cpus=2,
    setup_seconds=collective.benchmark.setup_seconds,
    joint=True,
)
