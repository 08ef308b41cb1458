"""Messages between pairs of MPI ranks: latency, bandwidth and rate."""

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
#: Buffers lie this far apart, and no closer than their alignment allows.
_APART_BYTES = 128
#: A gap beside each block.
_SPREAD = {"contiguous": 1, "vector": 2, "indexed": 2}


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
    spread = _SPREAD[str(params["datatype"])]
    grain = max(_APART_BYTES, 2 * int(params["alignment"]))
    buffer = -(-max(1, spread * (int(params["bytes"]) + int(params["offset"]))) // grain) * grain
    buffers = {"hot": buffer, "rotating": int(params["window"]) * buffer, "cold": max(buffer, int(params["pool"]))}
    return 2 * int(params["threads"]) * buffers[str(params["buffers"])]


benchmark = Benchmark(
    name="pt2pt",
    title="Messages between two (MPI)",
    measures="how long a message takes from one MPI rank to another, and how much and how many pass in a second",
    source="the definitions of the OSU Micro-Benchmarks (osu_latency, osu_bw, osu_bibw, osu_mbw_mr, "
    "osu_multi_lat; D. K. Panda et al., Ohio State University); offsets after NetPIPE (Q. O. Snell, A. R. Mikler, "
    "J. L. Gustafson, 1996)",
    program="pt2pt",
    kernels=("message",),
    axes=(
        Axis(
            "pattern",
            "latency: to and fro; bandwidth: a window of messages one way, then an acknowledgement; "
            "bidirectional: windows both ways at once; multi-: all pairs at once",
            ("latency", "bandwidth", "bidirectional", "multi-bandwidth", "multi-latency"),
            "latency",
        ),
        Axis("bytes", "size of a message", (0, *(2**power for power in range(23))), 8, "B", swept=True),
        Axis(
            "calls",
            "nonblocking: Isend, Irecv; blocking: Send, Recv; persistent: Start; synchronous: Ssend, or Issend in "
            "windows",
            ("nonblocking", "blocking", "persistent", "synchronous"),
            "nonblocking",
        ),
        Axis("source", "any: received from MPI_ANY_SOURCE", ("named", "any"), "named"),
        Axis("exchange", "combined: both directions in one MPI_Sendrecv", ("separate", "combined"), "separate"),
        Axis(
            "buffers",
            "hot: one to send and one to receive; rotating: a window of each in turn; cold: pools beyond the "
            "caches",
            ("hot", "rotating", "cold"),
            "hot",
        ),
        Axis("offset", "bytes added to the size, as NetPIPE's perturbation of 3 does", (0, -3, 3), 0, "B"),
        Axis("alignment", "largest power of two that divides the address of a buffer", (64, 1, 4096), 64, "B"),
        Axis(
            "datatype",
            "contiguous: bytes; vector: blocks of 8 B, gaps of 8 B; indexed: blocks of 8 B, one in each 16 B",
            ("contiguous", "vector", "indexed"),
            "contiguous",
        ),
        Axis("window", "messages on the way before one waits", (64,), 64),
        Axis("threads", "of each rank that pass messages at once, each over a communicator of its own", (1,), 1),
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
    setup_seconds=lambda params: 0.01 + _memory_bytes(params) / _FILL_RATE,
    joint=True,
)
