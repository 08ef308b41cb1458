"""The matrix product of a BLAS library."""

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark, Operations
from assay.model.declaration import Params
from assay.model.placement import Placement

#: Bytes of one number of each matrix together.
_BYTES = {"fp64": 8 + 8 + 8, "fp32": 4 + 4 + 4, "bf16": 2 + 2 + 4}
#: Cost of an operation in a format over one in double precision.
_COSTS = {"fp64": 1.0, "fp32": 0.5, "bf16": 0.5}
#: Rate of filling the matrices, B/s, and the share of a core's peak. Assumptions for plans only.
_FILL_RATE = 1e9
_SHARE = 0.7


def _matrix_bytes(params: Params) -> int:
    return _BYTES[str(params["format"])] * int(params["n"]) ** 2


def _memory_bytes(params: Params, placement: Placement) -> int:
    """Return the bytes of one set of matrices, or of one set for each core."""
    return _matrix_bytes(params) * (len(placement.cpus) if params["product"] == "own" else 1)


def _operations(params: Params, placement: Placement) -> float:
    """Return the operations of one core in a product, as operations in double precision."""
    cores = 1 if params["product"] == "own" else len(placement.cpus)
    return _COSTS[str(params["format"])] * benchmark.amount("multiply", "flops", {"n": int(params["n"])}) / cores


benchmark = Benchmark(
    **declared("dgemm"),
    memory_bytes=_memory_bytes,
    setup_seconds=lambda params: 0.05 + _matrix_bytes(params) / _FILL_RATE,
    iteration_seconds=lambda _params: 0.0,
    operations=Operations(
        _SHARE, lambda params, placement: 2 * _operations(params, placement), iteration=_operations
    ),
)
