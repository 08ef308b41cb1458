"""Messages between every pair of many MPI ranks, in the rounds of a tournament."""

from assay.model.benchmark import Axis, Benchmark, Metric, Params, ParamValue
from assay.model.placement import Placement

_WINDOWS = ("bandwidth", "bidirectional")
#: Buffers lie this far apart; each rank has one to send and one to receive.
_APART_BYTES = 128
_FILL_RATE = 1e9


def _rounds(placement: Placement) -> dict[str, tuple[ParamValue, ...]]:
    """One less than ranks, or as many where their number is odd: one rests in each round then."""
    ranks = len(placement.rank_cpus)
    return {"round": tuple(range(ranks - 1 + ranks % 2))}


def _memory_bytes(params: Params) -> int:
    return 2 * (-(-max(1, int(params["bytes"])) // _APART_BYTES) * _APART_BYTES)


benchmark = Benchmark(
    name="pairs",
    title="Every pair (MPI)",
    measures="how long messages take, and how much passes, between each node and each other, alone and under load",
    source="the round-robin tournament by the circle method (T. P. Kirkman, 1847); patterns by the definitions of "
    "the OSU Micro-Benchmarks (D. K. Panda et al., Ohio State University)",
    program="pairs",
    kernels=("message",),
    axes=(
        Axis(
            "pattern",
            "latency: to and fro; bandwidth: a window of messages one way, then an acknowledgement; "
            "bidirectional: windows both ways at once",
            ("latency", "bandwidth", "bidirectional"),
            "latency",
        ),
        Axis("bytes", "size of a message", (8, 2**20), 8, "B"),
        Axis("schedule", "one: the pairs of a round one after the other; all: at once", ("one", "all"), "all"),
        Axis("round", "of the tournament; in each a rank meets another one", (), None),
        Axis("window", "messages on the way before one waits", (64,), 64),
    ),
    metrics=(
        Metric(
            "latency",
            "s",
            "lower",
            "one-way",
            "one way: half of a round trip; of the slowest pair of a round",
            when={"pattern": ("latency",)},
        ),
        Metric(
            "bandwidth",
            "B/s",
            "higher",
            "bytes",
            "bytes of one pair's messages, both directions added where there are two; of the slowest pair",
            when={"pattern": _WINDOWS},
        ),
        Metric(
            "message-rate",
            "1/s",
            "higher",
            "messages",
            "one pair's messages, both directions added where there are two; of the slowest pair",
            when={"pattern": _WINDOWS},
        ),
    ),
    memory_bytes=_memory_bytes,
    each=_rounds,
    min_cpus=2,
    setup_seconds=lambda params: 0.01 + _memory_bytes(params) / _FILL_RATE,
    joint=True,
)
