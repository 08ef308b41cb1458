"""HPL: one dense system of equations, solved by all ranks together."""

from collections.abc import Iterable
from math import ceil, log2
from typing import TYPE_CHECKING, TypeVar

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import (
    Benchmark,
    Exchange,
    Growth,
    Message,
    Operations,
    Resources,
    Values,
    sharing_ranks,
)
from assay.model.declaration import Params
from assay.model.placement import Placement
from assay.topics.linear_algebra.grid import grid_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: One number, or one of each panel.
Numbers = TypeVar("Numbers", float, "NDArray[np.float64]")

#: The operation that passes panels while the ranks compute.
OVERLAPS = "bcast"
_DOUBLE_BYTES = 8
#: Share of a core's peak; operations in the time in which a core writes and checks a number of the matrix, about
#: 1 GB/s. Assumptions for plans only.
_PEAK_SHARE, _WRITTEN = 0.6, 170
#: Share of a host's memory for the matrix: library and operating system use the rest.
_SHARE = 0.8
#: Smallest order, and operations of the largest one per core: 10 s at the assumed rate of a fast core.
_LEAST, _WORK = 1024, 10.0 * 2.5e10


def operations(order: int) -> float:
    """Return the operations that HPL counts for a system of this order."""
    return benchmark.amount("rate", "flops", {"n": order})


def panel_numbers(rows: Numbers, width: Numbers) -> Numbers:
    """Return the numbers of a panel that is broadcast: its rows, its topmost square and its pivots."""
    return width * (rows + width + 1)


def _points(resources: Resources, params: Params) -> Iterable[Params]:
    """Yield orders, each twice the one before, up to the limits of memory and work, with the usual grid."""
    placement = resources.placement
    p, q = _grid(params, placement)
    memory, work = resources.memory_bytes * len(placement.hosts), _WORK * sum(map(len, placement.rank_cpus))
    for order in orders(memory, _DOUBLE_BYTES, work, int(params["nb"])):
        yield {"n": order, "p": p, "q": q}


def _grid(params: Params, placement: Placement) -> tuple[int, int]:
    """Return P and Q of the ranks that solve one system."""
    return grid_of(sharing_ranks(params, placement), int(params.get("p", 0)), int(params.get("q", 0)))


def orders(memory_bytes: float, entry_bytes: int, work: float, block: int) -> Iterable[int]:
    """Yield multiples of a block, each twice the one before, up to the limits of memory and `work` operations."""
    most = min((_SHARE * memory_bytes / entry_bytes) ** 0.5, (1.5 * work) ** (1 / 3))
    order = -(-_LEAST // block) * block
    while order <= most:
        yield order
        order *= 2


def _distributed(numbers: int, block: int, places: int) -> int:
    """Return the rows or columns of the process with the most, in block-cyclic distribution."""
    blocks, rest = divmod(numbers, block)
    return blocks // places * block + (block if blocks % places else rest)


def _memory_bytes(params: Params, placement: Placement) -> int:
    """Return the bytes of one rank: its part of the matrix, two panels, and the exchanged rows."""
    order, block = int(params["n"]), min(int(params["nb"]), int(params["n"]))
    p, q = _grid(params, placement)
    rows, columns = _distributed(order, block, p), _distributed(order + 1, block, q)
    panels = 2 * block * (1 + block + rows)
    exchanged = 3 * block * columns if p > 1 else 0
    return _DOUBLE_BYTES * (rows * columns + panels + exchanged)


def _core_operations(params: Params, placement: Placement) -> float:
    """Return the operations of one core in a solution, and in the time to write and to check the system."""
    cores = sharing_ranks(params, placement) * max(map(len, placement.rank_cpus))
    order = int(params["n"])
    return (operations(order) + _WRITTEN * order**2) / cores


def _exchange(params: Values, placement: Placement) -> Exchange:
    """Return the messages of a solution: panels along rows, between nodes; pivots and rows along columns."""
    order, block = int(params["n"]), int(params["nb"])
    p, q = _grid(params, placement)
    panels, height = order / block, (order + block) / 2  # of the mean panel
    panel = _DOUBLE_BYTES * panel_numbers(height / p, block)
    messages = [Message(panels, panel)] if q > 1 and len(placement.hosts) > 1 else []
    if p > 1:
        rounds = ceil(log2(p))
        messages.append(Message(order * rounds, 2 * _DOUBLE_BYTES * block))
        messages.append(Message(panels * rounds, _DOUBLE_BYTES * block * order / q / rounds))
    return Exchange(operations(order), tuple(messages))


benchmark = Benchmark(
    **declared("hpl"),
    memory_bytes=_memory_bytes,
    points=_points,
    setup_seconds=lambda _params: 0.2,
    operations=Operations(_PEAK_SHARE, _core_operations),
    growth=Growth(_exchange, OVERLAPS),
)
