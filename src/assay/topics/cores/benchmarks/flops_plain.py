"""The eight mixes of flops as plain loops, which show compilers and flags."""

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark

#: A page, which holds one line per thread.
_MEMORY_BYTES = 4096
#: An assumption for plans only.
_ITERATION_S = 2e-4

benchmark = Benchmark(
    **declared("flops_plain"),
    memory_bytes=lambda _params, _placement: _MEMORY_BYTES,
    iteration_seconds=lambda _params: _ITERATION_S,
)
