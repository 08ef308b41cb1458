"""Messages between pairs of MPI ranks: latency, bandwidth and rate."""

from assay.model.benchmark import Benchmark
from assay.model.declaration import Axis, Params
from assay.model.declarations import OFFSET
from assay.topics.messages import axes as messages

#: Bytes of memory for each byte of a message: there is a gap after each block.
_SPREAD = {"contiguous": 1, "vector": 2, "indexed": 2}


def _memory_bytes(params: Params) -> int:
    payload = _SPREAD[str(params["datatype"])] * (int(params["bytes"]) + int(params["offset"]))
    buffer = messages.buffer_bytes(payload, int(params["alignment"]))
    return int(params["threads"]) * messages.buffers_bytes(params, buffer)


benchmark = Benchmark(
    name="pt2pt",
    title="Point-to-point messages (MPI)",
    measures="the time of a message between two MPI ranks, and the bandwidth and message rate",
    source="the definitions of the OSU Micro-Benchmarks (osu_latency, osu_bw, osu_bibw, osu_mbw_mr, "
    "osu_multi_lat; D. K. Panda et al., Ohio State University); offsets after NetPIPE (Q. O. Snell, A. R. Mikler, "
    "J. L. Gustafson, 1996)",
    program="pt2pt",
    kernels=("message",),
    axes=(
        messages.PATTERN,
        messages.sizes(smallest=0),
        Axis(
            "calls",
            "nonblocking: Isend, Irecv; blocking: Send, Recv; persistent: Start; synchronous: Ssend, or Issend in "
            "windows",
            ("nonblocking", "blocking", "persistent", "synchronous"),
            "nonblocking",
        ),
        Axis("source", "any: received from MPI_ANY_SOURCE", ("named", "any"), "named"),
        Axis("exchange", "combined: both directions in one MPI_Sendrecv", ("separate", "combined"), "separate"),
        messages.BUFFERS,
        OFFSET,
        Axis("alignment", "largest power of two that divides the address of a buffer", (64, 1, 4096), 64, "B"),
        Axis(
            "datatype",
            "contiguous: bytes; vector: blocks of 8 B, gaps of 8 B; indexed: blocks of 8 B, one in each 16 B",
            ("contiguous", "vector", "indexed"),
            "contiguous",
        ),
        messages.WINDOW,
        messages.GAP,
        Axis(
            "threads",
            "of each rank that pass messages at once, each over a communicator of its own",
            (1,),
            1,
            short="threads of each rank",
        ),
        messages.POOL,
    ),
    metrics=messages.metrics("the slowest of all pairs", "messages of all pairs", limit="wire"),
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    points=messages.pool_points,
    min_cpus=2,
    two_sided="MPI",
    message_bytes=messages.message_bytes,
    iteration_seconds=lambda params: messages.iteration_seconds(params, 5e9),
    setup_seconds=lambda params: 0.01 + _memory_bytes(params) / messages.FILL_RATE,
    launcher="mpi",
    max_rank_cpus=None,
)
