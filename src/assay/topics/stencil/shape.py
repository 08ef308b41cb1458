"""How ranks divide the grid of a stencil along its three axes, as in the native program."""

from collections.abc import Iterator

Shape = tuple[int, int, int]

#: Fewest inner points of a rank along the axis of memory: a vector of any instruction set.
_FEWEST_K = 16
#: Floats of a cache line: each point of a face across the axis of memory has a line of its own.
LINE_FLOATS = 16


def shape_of(grid: Shape, ranks: int, wanted: Shape = (0, 0, 0)) -> Shape | None:
    """Return the ranks along i, j and k that exchange least; of equal ones that with most along i, then along j.

    None where the grid cannot be divided so.

    Args:
        grid: points along i, j and k, boundaries included.
        ranks: number of ranks that share it.
        wanted: ranks along each axis; 0 for any number.
    """
    fitting = [
        shape
        for shape in _shapes(ranks)
        if _fits(grid, shape) and all(each in {0, found} for found, each in zip(shape, wanted, strict=True))
    ]
    return min(fitting, key=lambda shape: _cost(grid, shape), default=None)


def block_of(grid: Shape, shape: Shape) -> Shape:
    """Return the points of the largest block, its border included."""
    i, j, k = ((points - 3) // ranks + 3 for points, ranks in zip(grid, shape, strict=True))
    return i, j, k


def _shapes(ranks: int) -> Iterator[Shape]:
    for i in range(ranks, 0, -1):
        if ranks % i == 0:
            yield from ((i, j, ranks // i // j) for j in range(ranks // i, 0, -1) if ranks // i % j == 0)


def _fits(grid: Shape, shape: Shape) -> bool:
    i, j, k = (points - 2 for points in grid)
    return shape[0] <= i and shape[1] <= j and shape[2] <= max(1, k // _FEWEST_K)


def _cost(grid: Shape, shape: Shape) -> int:
    i, j, k = (-(-(points - 2) // ranks) for points, ranks in zip(grid, shape, strict=True))
    along_i, along_j, along_k = (min(2, ranks - 1) for ranks in shape)
    return along_i * j * k + along_j * i * k + along_k * LINE_FLOATS * i * j
