"""Messages between the same pairs of processes as those of pt2pt, over TCP sockets."""

from assay.model.benchmark import Axis, Benchmark, Metric, Params, ParamValue
from assay.model.machine import Topology
from assay.model.placement import Placement

_LATENCIES = ("latency", "multi-latency")
_WINDOWS = ("bandwidth", "bidirectional", "multi-bandwidth")
#: Cold buffers walk through a pool this many times the last-level cache, so that no line is met again in cache.
_POOL_MULTIPLE = 4
_UNKNOWN_CACHE_BYTES = 32 * 2**20
_LARGEST = 4 * 2**20
_MEMORY_SHARE = 0.6
_FILL_RATE = 1e9
#: Buffers lie this far apart.
_APART_BYTES = 128


def _size(topology: Topology, placement: Placement, memory_bytes: int) -> dict[str, ParamValue]:
    used = set(placement.cpus)
    last_level = max((cache.level for cache in topology.caches), default=0)
    cache_bytes = sum(
        cache.size_bytes for cache in topology.caches if cache.level == last_level and used & set(cache.cpus)
    )
    wanted = max(_POOL_MULTIPLE * (cache_bytes or _UNKNOWN_CACHE_BYTES), 2 * _LARGEST)
    ranks = max(len(placement.ranks), 1)
    return {"pool": min(wanted, int(_MEMORY_SHARE * memory_bytes / 2 / ranks))}


def _memory_bytes(params: Params) -> int:
    size = max(1, int(params["bytes"]) + int(params["offset"]))
    buffer = -(-size // _APART_BYTES) * _APART_BYTES
    buffers = {"hot": buffer, "rotating": int(params["window"]) * buffer, "cold": max(buffer, int(params["pool"]))}
    return 2 * buffers[str(params["buffers"])]


benchmark = Benchmark(
    name="tcp",
    title="Messages between two (TCP)",
    measures="what messages between the same two processes as those of pt2pt cost over TCP sockets, without MPI",
    source="the definitions of the OSU Micro-Benchmarks (osu_latency, osu_bw, osu_bibw, osu_mbw_mr, "
    "osu_multi_lat) over sockets, as NetPIPE's TCP module (Q. O. Snell, A. R. Mikler, J. L. Gustafson, 1996)",
    program="tcp",
    kernels=("message",),
    axes=(
        Axis(
            "pattern",
            "latency: to and fro; bandwidth: a window of messages one way, then an acknowledgement; "
            "bidirectional: windows both ways at once; multi-: all pairs at once",
            ("latency", "bandwidth", "bidirectional", "multi-bandwidth", "multi-latency"),
            "latency",
        ),
        Axis("bytes", "size of a message", tuple(2**power for power in range(23)), 8, "B", swept=True),
        Axis(
            "buffers",
            "hot: one to send and one to receive; rotating: a window of each in turn; cold: pools beyond the "
            "caches",
            ("hot", "rotating", "cold"),
            "hot",
        ),
        Axis("offset", "bytes added to the size, as NetPIPE's perturbation of 3 does", (0, -3, 3), 0, "B"),
        Axis("window", "messages on the way before one waits", (64,), 64),
        Axis(
            "waiting",
            "blocking: the kernel wakes who waits; polling: the kernel is asked again and again",
            ("blocking", "polling"),
            "blocking",
        ),
        Axis("nodelay", "on: TCP_NODELAY, small messages go at once", ("on", "off"), "on"),
        Axis("send-buffer", "of each socket (SO_SNDBUF); 0: the system's choice", (0,), 0, "B"),
        Axis("receive-buffer", "of each socket (SO_RCVBUF); 0: the system's choice", (0,), 0, "B"),
        Axis("family", "of the addresses", ("ipv4", "ipv6"), "ipv4"),
        Axis("pool", "bytes of each of the two pools of cold buffers", (), None, "B"),
    ),
    metrics=(
        Metric(
            "latency",
            "s",
            "lower",
            "one-way",
            "one way: half of a round trip; of all pairs the slowest",
            when={"pattern": _LATENCIES},
        ),
        Metric(
            "bandwidth",
            "B/s",
            "higher",
            "bytes",
            "bytes of all messages of all pairs, both directions added where there are two",
            limit="wire",
            when={"pattern": _WINDOWS},
        ),
        Metric(
            "message-rate",
            "1/s",
            "higher",
            "messages",
            "messages of all pairs, both directions added where there are two",
            when={"pattern": _WINDOWS},
        ),
    ),
    memory_bytes=_memory_bytes,
    size=_size,
    min_cpus=2,
    setup_seconds=lambda params: 0.02 + _memory_bytes(params) / _FILL_RATE,
    joint=True,
)
