"""Floating-point operations in registers, and the clock that the cores keep meanwhile."""

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark

#: A page, which holds one line of values per thread.
_MEMORY_BYTES = 4096
#: Operations of a unit of their own, which is slower by an amount that only a measurement shows.
OF_OWN_UNIT = frozenset({"divide", "sqrt"})
#: Time of a million divisions or roots, and of a million other operations: assumptions for plans only.
_SLOW_ITERATION_S, _ITERATION_S = 2e-3, 3e-4

benchmark = Benchmark(
    **declared("flops"),
    memory_bytes=lambda _params, _placement: _MEMORY_BYTES,
    iteration_seconds=lambda params: _SLOW_ITERATION_S if params["mix"] in OF_OWN_UNIT else _ITERATION_S,
)
