"""HPL-MxP: one dense system of equations, by LU in low precision and refinement to double precision."""

from collections.abc import Iterable

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark, Operations, Resources
from assay.model.declaration import Params
from assay.model.placement import Placement
from assay.topics.linear_algebra.benchmarks.hpl import operations, orders

#: Bytes of an entry: in double precision, and of the factors in single precision.
_ENTRY_BYTES = 8 + 4
#: Bytes of a number that the update multiplies, where it is a copy of one of the factors.
_COPY_BYTES = {"fp32": 0, "bf16": 2}
#: Share of a core's peak, cost of an operation over one in double precision, and rate of writing and checking the
#: matrix, B/s. Assumptions for plans only.
_SHARE, _COST, _MATRIX_RATE = 0.6, 0.5, 1e9
#: Operations of the largest order per core: 6 s at the assumed rate of a fast core.
_WORK = 6.0 * 5e10


def _points(resources: Resources, params: Params) -> Iterable[Params]:
    """Return orders, each twice the one before, up to the limits of memory and work."""
    work = _WORK * len(resources.placement.cpus)
    return ({"n": order} for order in orders(resources.memory_bytes, _ENTRY_BYTES, work, int(params["nb"])))


def _memory_bytes(params: Params, _placement: Placement) -> int:
    order, blocks = int(params["n"]), 2 * int(params["nb"])  # one of columns, one of rows
    return _ENTRY_BYTES * order**2 + _COPY_BYTES[str(params["format"])] * blocks * order


def _core_operations(params: Params, placement: Placement) -> float:
    return _COST * operations(int(params["n"])) / len(placement.cpus)


def _setup_seconds(params: Params) -> float:
    """Return the time to write and to check the system."""
    return 0.2 + 2 * _ENTRY_BYTES * int(params["n"]) ** 2 / _MATRIX_RATE


benchmark = Benchmark(
    **declared("mxp"),
    memory_bytes=_memory_bytes,
    points=_points,
    setup_seconds=_setup_seconds,
    operations=Operations(_SHARE, _core_operations),
)
