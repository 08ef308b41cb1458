"""One-sided transfers between two MPI ranks: latency until they are seen, and bandwidth."""

from assay.model.benchmark import Benchmark
from assay.model.declaration import Axis, Metric, Params
from assay.topics.messages import axes as messages


def _memory_bytes(params: Params) -> int:
    """Return the bytes of both sides: slots, and a flag after them."""
    slots = int(params["window"]) if params["pattern"] == "bandwidth" else 1
    return 2 * (slots * messages.buffer_bytes(int(params["bytes"])) + messages.buffer_bytes(1))


benchmark = Benchmark(
    name="onesided",
    title="One-sided transfers (MPI)",
    measures="the time until one MPI rank sees the data that another put into its memory, and the bandwidth",
    source="the operations and synchronisations of the OSU Micro-Benchmarks (osu_put_latency, osu_get_bw, "
    "osu_acc_latency and others; D. K. Panda et al., Ohio State University), timed until the target sees them",
    program="onesided",
    kernels=("transfer",),
    axes=(
        Axis(
            "operation",
            "put: write into the target's window; get: read from it; accumulate: add to it, as doubles",
            ("put", "get", "accumulate"),
            "put",
            role="operation-name",
            named=True,
            level_roles={"put": "out", "accumulate": "out", "get": "in"},
        ),
        Axis(
            "synchronisation",
            "flush: MPI_Win_lock_all once, MPI_Win_flush; lock: MPI_Win_lock, unlock; fence: MPI_Win_fence; pscw: "
            "post, start, complete, wait",
            ("flush", "lock", "fence", "pscw"),
            "flush",
            named=True,
        ),
        messages.pattern(
            "latency: round trip until the target sees the data (passive get: until the data arrive); bandwidth: "
            "a window of transfers in each synchronisation",
            "latency",
            "bandwidth",
        ),
        Axis(
            "bytes",
            "of a transfer",
            (8, *(2**power for power in range(10, 23, 3))),
            8,
            "B",
            swept=True,
            short="bytes of a transfer",
            role="message-size",
        ),
        Axis(
            "allocation",
            "of the window: allocate: MPI_Win_allocate; create: MPI_Win_create of the program's own memory",
            ("allocate", "create"),
            "allocate",
        ),
        Axis("window", "transfers in one synchronisation of the bandwidth pattern", (64,), 64),
    ),
    metrics=(
        Metric(
            "latency",
            "s",
            "lower",
            "one-way",
            "one way, until the target sees the data; a get: until the data arrive",
            when={"pattern": ("latency",)},
            role="message-time",
        ),
        Metric(
            "bandwidth",
            "B/s",
            "higher",
            "bytes",
            "bytes of all transfers, one way",
            limit="wire",
            when={"pattern": ("bandwidth",)},
            role="message-bandwidth",
        ),
    ),
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    min_cpus=2,
    max_cpus=2,
    message_bytes=messages.message_bytes,
    setup_seconds=lambda params: 0.01 + _memory_bytes(params) / messages.FILL_RATE,
    launcher="mpi",
)
