"""Messages over TCP sockets, between the same pairs of processes as in pt2pt."""

from assay.model.benchmark import Benchmark
from assay.model.declaration import Axis, Params
from assay.model.declarations import OFFSET
from assay.topics.messages import axes as messages


def _memory_bytes(params: Params) -> int:
    return messages.buffers_bytes(params, messages.buffer_bytes(int(params["bytes"]) + int(params["offset"])))


def _buffer(use: str, option: str) -> Axis:
    meaning = f"of each socket ({option}); 0: the system's choice"
    return Axis(f"{use}-buffer", meaning, (0,), 0, "B", short=f"bytes of the {use} buffer")


benchmark = Benchmark(
    name="tcp",
    title="Point-to-point messages (TCP)",
    measures="the cost of messages over TCP sockets, without MPI, between the same two processes as in pt2pt",
    source="the definitions of the OSU Micro-Benchmarks (osu_latency, osu_bw, osu_bibw, osu_mbw_mr, "
    "osu_multi_lat) over sockets, as NetPIPE's TCP module (Q. O. Snell, A. R. Mikler, J. L. Gustafson, 1996)",
    program="tcp",
    kernels=("message",),
    axes=(
        messages.PATTERN,
        messages.sizes(),
        messages.BUFFERS,
        OFFSET,
        messages.WINDOW,
        messages.GAP,
        Axis(
            "waiting",
            "blocking: the kernel wakes the waiting process; polling: the process asks the kernel repeatedly",
            ("blocking", "polling"),
            "blocking",
        ),
        Axis("nodelay", "on: TCP_NODELAY, small messages go at once", ("on", "off"), "on"),
        _buffer("send", "SO_SNDBUF"),
        _buffer("receive", "SO_RCVBUF"),
        Axis(
            messages.SEGMENT,
            "most bytes of a segment, its options included (TCP_MAXSEG); 0: what the MTU takes",
            (0,),
            0,
            "B",
            role="segment-size",
            short="most bytes of a segment",
        ),
        Axis("family", "of the addresses", ("ipv4", "ipv6"), "ipv4", role="address-family"),
        messages.POOL,
    ),
    metrics=messages.metrics("the slowest of all pairs", "messages of all pairs", limit="wire"),
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    points=messages.pool_points,
    min_cpus=2,
    two_sided="TCP",
    message_bytes=messages.message_bytes,
    iteration_seconds=lambda params: messages.iteration_seconds(params, 2e9),
    setup_seconds=lambda params: 0.02 + _memory_bytes(params) / messages.FILL_RATE,
    launcher="mpi",
)
