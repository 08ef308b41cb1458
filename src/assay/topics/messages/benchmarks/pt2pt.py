"""Messages between pairs of MPI ranks: latency, bandwidth and rate."""

from assay.model.declaration import Params
from assay.topics.messages import axes as messages

#: Bytes of memory for each byte of a message: there is a gap after each block.
_SPREAD = {"contiguous": 1, "vector": 2, "indexed": 2}


def _memory_bytes(params: Params) -> int:
    payload = _SPREAD[str(params["datatype"])] * (int(params["bytes"]) + int(params["offset"]))
    buffer = messages.buffer_bytes(payload, int(params["alignment"]))
    return int(params["threads"]) * messages.buffers_bytes(params, buffer)


benchmark = messages.benchmark("pt2pt", _memory_bytes, messages.pool_points, rate=5e9)
