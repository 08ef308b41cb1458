"""The Himeno benchmark over MPI: one grid that all ranks share, or a grid for each."""

import math
from collections.abc import Iterable

from assay.model.benchmark import Benchmark, Resources
from assay.model.declaration import Axis, Larger, Params
from assay.model.declarations import coupling, sharing_ranks
from assay.model.growth import Exchange, Growth, Message, Values
from assay.model.placement import Placement
from assay.topics.stencil.benchmarks import himeno
from assay.topics.stencil.shape import LINE_FLOATS, Shape, block_of, shape_of

#: Points of a grid over those of the next smaller one.
_SIZE_FACTOR = 8
#: First touch and two checks of each point, bytes per second: a low assumption, for plans only.
_SETUP_RATE = 1e9


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
    work = himeno.FLOPS * math.prod(points - 2 for points in grid)
    if ranks == 1 or shape is None:
        return Exchange(float(work), ())
    i, j, k = block_of(grid, shape)
    faces = zip((j * k, i * k, i * j), shape, strict=True)
    crossed = [Message(1, himeno.FLOAT_BYTES * area * min(along - 1, 2)) for area, along in faces if along > 1]
    return Exchange(float(work), (*crossed, Message(math.ceil(math.log2(ranks)), himeno.FLOAT_BYTES)))


_axes = {axis.name: axis for axis in himeno.benchmark.axes}

benchmark = Benchmark(
    name="himeno_mpi",
    title="Himeno over MPI (stencil)",
    measures="the rate of a Jacobi solver for the Poisson equation on a grid that MPI ranks share, each with a "
    "block of it",
    source=himeno.benchmark.source,
    program="himeno_mpi",
    kernels=himeno.benchmark.kernels,
    axes=(
        _axes["size"],
        coupling("all ranks work on one grid", "each rank has its own grid"),
        Axis("i", "ranks along the first axis of the grid; 0: chosen for short messages", (), None),
        Axis("j", "ranks along the second axis; 0: chosen for short messages", (), None),
        Axis("k", "ranks along the third axis, contiguous in memory; 0: chosen for short messages", (), None),
    ),
    metrics=himeno.benchmark.metrics,
    memory_bytes=_memory_bytes,
    points=_points,
    setup_seconds=lambda params: 0.1 + himeno.grid_bytes(params) / _SETUP_RATE,
    launcher="mpi",
    max_rank_cpus=None,
    scaled={"size": ("S", "first:L,M")},
    larger=Larger("size", step=_SIZE_FACTOR),
    growth=Growth(_exchange),
)
