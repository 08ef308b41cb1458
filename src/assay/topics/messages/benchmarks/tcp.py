"""Messages over TCP sockets, between the same pairs of processes as in pt2pt."""

from assay.model.declaration import Params
from assay.topics.messages import axes as messages


def _memory_bytes(params: Params) -> int:
    return messages.buffers_bytes(params, messages.buffer_bytes(int(params["bytes"]) + int(params["offset"])))


benchmark = messages.benchmark("tcp", _memory_bytes, messages.pool_points, rate=2e9, start_s=0.02)
