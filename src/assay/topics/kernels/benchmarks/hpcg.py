"""HPCG: conjugate gradients with a multigrid preconditioner; each rank has a box of points."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark, Resources
from assay.model.declaration import Params
from assay.topics.kernels.grid import grid_of

#: Grids of the hierarchy, each with half as many points along an edge.
LEVELS = 4
#: Bytes of a point: 26 entries, seven vectors and the diagonal of each grid, four vectors of the finest one, and
#: the arrays of the checks.
_POINT_BYTES = 510
#: Rate of one rank, flop/s: an assumption for plans only, on the slow side.
_RATE = 1e9
#: Edges to choose from, and the longest time of a box with its checks, s.
_EDGES, _LONGEST_S = (32, 64, 128), 30.0
#: Iterations of a solution: as many as HPCG has, fewer where it takes longer than the last value, s.
_ITERATIONS, _FEWEST, _SOLUTION_S = 50, 5, 3.0
#: Time of the checks, in iterations.
_CHECKS = 15
#: Share of the memory of a host that boxes may fill.
_SHARE = 0.8


class Count(NamedTuple):
    """Operations, and bytes read and written, that HPCG counts for a part of a solution, over all ranks."""

    flops: float
    bytes: float


def counts(ranks: int, edge: int, iterations: int) -> Mapping[str, Count]:
    """Part of a solution -> its counts; parts that only pass messages have none."""
    sizes = [_size(ranks, edge >> level) for level in range(LEVELS)]

    def counted(part: str, size: Mapping[str, int]) -> Count:
        numbers = {"iterations": iterations, **size}
        return Count(*(benchmark.amount(part, quantity, numbers) for quantity in Count._fields))

    cycle = [*(counted("mg", size) for size in sizes[:-1]), counted("mg on the coarsest grid", sizes[-1])]
    whole = {part: counted(part, sizes[0]) for part in ("ddot", "waxpby", "spmv")}
    return {**whole, "mg": Count(*map(sum, zip(*cycle, strict=True)))}


def _size(ranks: int, edge: int) -> Mapping[str, int]:
    """Return rows and entries of the whole matrix: each point has entries for itself and its neighbours."""
    rows, entries = 1, 1
    for along in grid_of(ranks):
        rows *= along * edge
        entries *= 3 * along * edge - 2
    return {"rows": rows, "entries": entries}


def operations(ranks: int, edge: int, iterations: int) -> float:
    """Return the flops that HPCG counts for a solution."""
    return sum(each.flops for each in counts(ranks, edge, iterations).values())


def _seconds(edge: int, iterations: int) -> float:
    """Return the seconds of iterations of one rank, by the assumed rate."""
    return operations(1, edge, iterations) / _RATE


def _points(resources: Resources, params: Params) -> Iterable[Params]:
    """Choose boxes that fit memory and time, with the iterations of a solution of a few seconds."""
    placement = resources.placement
    for edge in (int(params["n"]),) if "n" in params else _EDGES:
        fits = placement.most_ranks * box_bytes(edge) <= _SHARE * resources.memory_bytes
        iterations = max(_FEWEST, min(_ITERATIONS, round(_SOLUTION_S / _seconds(edge, 1))))
        if "n" in params or (fits and _seconds(edge, iterations + _CHECKS) <= _LONGEST_S):
            yield {"n": edge, "cg-iterations": iterations}


def box_bytes(edge: int) -> int:
    """Return the memory of a rank."""
    return _POINT_BYTES * edge**3


def _setup_seconds(params: Params) -> float:
    """Return the seconds to write the matrix and to solve and check it once."""
    return 0.2 + _seconds(int(params["n"]), int(params["cg-iterations"]) + _CHECKS)


benchmark = Benchmark(
    **declared("hpcg"),
    memory_bytes=lambda params, _placement: box_bytes(int(params["n"])),
    points=_points,
    setup_seconds=_setup_seconds,
)
