"""One-sided transfers between two MPI ranks: latency until they are seen, and bandwidth."""

from assay.model.declaration import Params
from assay.topics.messages import axes as messages


def _memory_bytes(params: Params) -> int:
    """Return the bytes of both sides: slots, and a flag after them."""
    slots = int(params["window"]) if params["pattern"] == "bandwidth" else 1
    return 2 * (slots * messages.buffer_bytes(int(params["bytes"])) + messages.buffer_bytes(1))


benchmark = messages.benchmark("onesided", _memory_bytes)
