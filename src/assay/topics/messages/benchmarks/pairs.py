"""Messages between every pair of many MPI ranks, in the rounds of a tournament."""

from collections.abc import Iterable

from assay.model.benchmark import Resources
from assay.model.declaration import Params
from assay.topics.messages import axes as messages


def _rounds(resources: Resources, _params: Params) -> Iterable[Params]:
    """Return one round less than ranks; as many as ranks where their number is odd, so that one rank rests."""
    ranks = len(resources.placement.rank_cpus)
    return ({"round": number} for number in range(ranks - 1 + ranks % 2))


def _memory_bytes(params: Params) -> int:
    """Return the bytes of one buffer to send and one to receive."""
    return 2 * messages.buffer_bytes(int(params["bytes"]))


benchmark = messages.benchmark("pairs", _memory_bytes, _rounds)
