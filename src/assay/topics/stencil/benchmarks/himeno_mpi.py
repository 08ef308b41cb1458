"""The Himeno benchmark over MPI: one grid that all ranks share, or a grid for each."""

import math
from collections.abc import Iterable

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark, Exchange, Growth, Message, Resources, Values, sharing_ranks
from assay.model.declaration import Params
from assay.model.placement import Placement
from assay.topics.stencil.benchmarks import himeno
from assay.topics.stencil.shape import LINE_FLOATS, Shape, block_of, shape_of

#: First touch and two checks of each point, bytes per second: a low assumption, for plans only.
_SETUP_RATE = 1e9
#: The sum of squares that all ranks add up after each sweep.
_SUM_BYTES = 8


def _shape(params: Params, placement: Placement) -> Shape | None:
    """Return the ranks along the axes of the grid; None where the grid cannot be divided so."""
    wanted = int(params.get("i", 0)), int(params.get("j", 0)), int(params.get("k", 0))
    return shape_of(himeno.grid(params), sharing_ranks(params, placement), wanted)


def _points(resources: Resources, params: Params) -> Iterable[Params]:
    """Choose the ranks along each axis; 0 where the program will refuse the grid."""
    shape = _shape(params, resources.placement)
    yield dict(zip("ijk", shape or (0, 0, 0), strict=True))


def _memory_bytes(params: Params, placement: Placement) -> int:
    """Return the memory of the rank with the largest block."""
    shape = _shape(params, placement) or (1, 1, 1)
    i, j, k = block_of(himeno.grid(params), shape)
    return himeno.arrays_bytes(i * j * -(-k // LINE_FLOATS) * LINE_FLOATS)


def _exchange(params: Values, placement: Placement) -> Exchange | None:
    """Return the messages of one sweep: the faces of a block, one axis after the other, then a sum over all ranks.

    The faces to both neighbours along an axis use one port in turn. The grid has ends: each of two blocks has one
    neighbour.
    """
    grid, ranks = himeno.GRIDS.get(str(params.get("size"))), sharing_ranks(params, placement)
    if grid is None:  # an import may have another size
        return None
    shape = _shape(params, placement)
    work = benchmark.amount("jacobi", "flops") * math.prod(points - 2 for points in grid)
    if ranks == 1 or shape is None:
        return Exchange(float(work), ())
    i, j, k = block_of(grid, shape)
    faces = zip((j * k, i * k, i * j), shape, strict=True)
    crossed = [Message(1, himeno.FLOAT_BYTES * area * min(along - 1, 2)) for area, along in faces if along > 1]
    return Exchange(float(work), (*crossed, Message(math.ceil(math.log2(ranks)), _SUM_BYTES)))


benchmark = Benchmark(
    **declared("himeno_mpi"),
    memory_bytes=_memory_bytes,
    points=_points,
    setup_seconds=lambda params: 0.1 + himeno.grid_bytes(params) / _SETUP_RATE,
    growth=Growth(_exchange),
)
