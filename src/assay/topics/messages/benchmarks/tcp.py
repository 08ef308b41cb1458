"""Messages over TCP sockets, between the same pairs of processes as in pt2pt."""

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark
from assay.model.declaration import Params
from assay.topics.messages import axes as messages


def _memory_bytes(params: Params) -> int:
    return messages.buffers_bytes(params, messages.buffer_bytes(int(params["bytes"]) + int(params["offset"])))


benchmark = Benchmark(
    **declared("tcp"),
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    points=messages.pool_points,
    message_bytes=messages.message_bytes,
    iteration_seconds=lambda params: messages.iteration_seconds(params, 2e9),
    setup_seconds=lambda params: 0.02 + _memory_bytes(params) / messages.FILL_RATE,
)
