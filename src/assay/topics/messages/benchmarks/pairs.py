"""Messages between every pair of many MPI ranks, in the rounds of a tournament."""

from collections.abc import Iterable

from assay.model.benchmark import Benchmark, Resources
from assay.model.declaration import Axis, Params
from assay.topics.messages import axes as messages


def _rounds(resources: Resources, _params: Params) -> Iterable[Params]:
    """Return one round less than ranks; as many as ranks where their number is odd, so that one rank rests."""
    ranks = len(resources.placement.rank_cpus)
    return ({"round": number} for number in range(ranks - 1 + ranks % 2))


def _memory_bytes(params: Params) -> int:
    """Return the bytes of one buffer to send and one to receive."""
    return 2 * messages.buffer_bytes(int(params["bytes"]))


benchmark = Benchmark(
    name="pairs",
    title="Every pair (MPI)",
    measures="message time and bandwidth between each two nodes, alone and under load",
    source="the round-robin tournament by the circle method (T. P. Kirkman, 1847); patterns by the definitions of "
    "the OSU Micro-Benchmarks (D. K. Panda et al., Ohio State University)",
    program="pairs",
    kernels=("message",),
    axes=(
        messages.pattern(
            "latency: round trip; bandwidth: a window of messages in one direction, then an acknowledgement; "
            "bidirectional: windows in both directions at once",
            "latency",
            "bandwidth",
            "bidirectional",
        ),
        Axis("bytes", "size of a message", (8, 2**20), 8, "B", role="message-size"),
        Axis("schedule", "one: the pairs of a round one after the other; all: at once", ("one", "all"), "all"),
        Axis(
            "round",
            "of the tournament; in each a rank meets another one",
            (),
            None,
            identifies=True,
            short="round of the tournament",
        ),
        messages.WINDOW,
    ),
    metrics=messages.metrics("the slowest pair of a round", "one pair's messages", after="; of the slowest pair"),
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    points=_rounds,
    min_cpus=2,
    two_sided="MPI",
    message_bytes=messages.message_bytes,
    setup_seconds=lambda params: 0.01 + _memory_bytes(params) / messages.FILL_RATE,
    launcher="mpi",
)
