"""The time a cache line takes from one core to another."""

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark

_LINES_BYTES = 4096

benchmark = Benchmark(
    **declared("core_to_core"),
    memory_bytes=lambda _params, _placement: _LINES_BYTES,
)
