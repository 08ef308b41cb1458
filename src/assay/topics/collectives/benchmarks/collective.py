"""Collective operations of MPI: the time of the slowest rank, and of the ranks on average."""

from assay.model.benchmark import Benchmark
from assay.model.declaration import Axis, Metric, Params

_FILL_RATE = 1e9
#: Ranks assumed by plans where each rank has a block for every other one: the parameters do not give their number.
_RANKS = 64
_BLOCKS = {"gather": 1 + _RANKS, "scatter": 1 + _RANKS, "allgather": 1 + _RANKS, "alltoall": 2 * _RANKS}


def _memory_bytes(params: Params) -> int:
    return _BLOCKS.get(str(params["operation"]), 2) * int(params["bytes"])


benchmark = Benchmark(
    name="collective",
    title="Collective operations (MPI)",
    measures="how long a collective operation takes, for the slowest rank of each repetition and on average",
    source="the operations and sizes of the OSU Micro-Benchmarks (osu_allreduce and others; D. K. Panda et al., "
    "Ohio State University); repetitions behind a dissemination barrier (D. Hensgen, R. Finkel, U. Manber, 1988), "
    "each as long as its slowest rank (T. Hoefler, R. Belli, SC 2015)",
    program="collective",
    kernels=("slowest", "own"),
    axes=(
        Axis(
            "operation",
            "of MPI; dissemination: this program's own barrier, for comparison",
            (
                "barrier",
                "dissemination",
                "bcast",
                "reduce",
                "allreduce",
                "gather",
                "scatter",
                "allgather",
                "alltoall",
                "reduce-scatter",
            ),
            "allreduce",
            role="operation-name",
            named=True,
        ),
        Axis(
            "bytes",
            "of one rank, as OSU counts: the message, the vector that is added, or the block for each partner",
            (8, 1024, 65536),
            8,
            "B",
            swept=True,
            short="bytes of one rank, as OSU counts",
            role="message-size",
        ),
        Axis(
            "calls",
            "blocking: MPI_Allreduce; nonblocking: MPI_Iallreduce and MPI_Wait",
            ("blocking", "nonblocking"),
            "blocking",
        ),
        Axis("root", "fixed: rank 0; rotating: every rank in turn", ("fixed", "rotating"), "fixed"),
    ),
    metrics=(
        Metric(
            "latency",
            "s",
            "lower",
            "",
            "time of the slowest rank of each repetition",
            kernels=("slowest",),
            role="collective-time",
        ),
        Metric(
            "mean-latency",
            "s",
            "lower",
            "",
            "mean of the times of the ranks",
            kernels=("own",),
            over="mean",
            role="collective-mean-time",
        ),
    ),
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    min_cpus=2,
    message_bytes=lambda params: int(params["bytes"]),
    setup_seconds=lambda params: 0.01 + _memory_bytes(params) / _FILL_RATE,
    launcher="mpi",
    max_rank_cpus=None,
)
