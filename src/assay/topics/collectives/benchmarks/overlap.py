"""Nonblocking collective operations during computing: how much of them is hidden."""

from assay.model.benchmark import Benchmark
from assay.model.declaration import Axis, Metric
from assay.topics.collectives.benchmarks import collective

_DECLARED = {axis.name: axis for axis in collective.benchmark.axes}
_OPERATIONS = tuple(word for word in _DECLARED["operation"].values if word != "dissemination")

benchmark = Benchmark(
    name="overlap",
    title="Collective operations with overlapping computation (MPI)",
    measures="how much of a nonblocking collective operation overlaps with computing",
    source="the definition of the OSU Micro-Benchmarks (osu_iallreduce and others; D. K. Panda et al., Ohio State "
    "University), each repetition as long as its slowest rank",
    program="overlap",
    kernels=("pure", "computing", "overlapped"),
    axes=(
        Axis(
            "operation",
            "of MPI, begun by its MPI_I function",
            _OPERATIONS,
            "allreduce",
            role="operation-name",
            named=True,
        ),
        _DECLARED["bytes"],
        Axis(
            "tests",
            "calls of MPI_Test, evenly spread over the computing",
            (0, 10, 100),
            0,
            role="mpi-calls",
        ),
    ),
    metrics=(
        Metric(
            "time",
            "s",
            "lower",
            "",
            "of the operation alone, of computing alone, and of both started together",
            role="overlap-time",
        ),
    ),
    memory_bytes=collective.benchmark.memory_bytes,
    min_cpus=2,
    message_bytes=collective.benchmark.message_bytes,
    setup_seconds=collective.benchmark.setup_seconds,
    launcher="mpi",
)
