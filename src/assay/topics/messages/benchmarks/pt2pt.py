"""Messages between pairs of MPI ranks: latency, bandwidth and rate."""

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark
from assay.model.declaration import Params
from assay.topics.messages import axes as messages

#: Bytes of memory for each byte of a message: there is a gap after each block.
_SPREAD = {"contiguous": 1, "vector": 2, "indexed": 2}


def _memory_bytes(params: Params) -> int:
    payload = _SPREAD[str(params["datatype"])] * (int(params["bytes"]) + int(params["offset"]))
    buffer = messages.buffer_bytes(payload, int(params["alignment"]))
    return int(params["threads"]) * messages.buffers_bytes(params, buffer)


benchmark = Benchmark(
    **declared("pt2pt"),
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    points=messages.pool_points,
    message_bytes=messages.message_bytes,
    iteration_seconds=lambda params: messages.iteration_seconds(params, 5e9),
    setup_seconds=lambda params: 0.01 + _memory_bytes(params) / messages.FILL_RATE,
)
