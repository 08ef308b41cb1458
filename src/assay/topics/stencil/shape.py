"""How the grid of a stencil is dealt to ranks along its three axes; the native program deals it alike."""

from collections.abc import Iterator

Shape = tuple[int, int, int]

#: Inner points of a rank along the axis of memory are so many at least, a vector of any instruction set.
_FEWEST_K = 16
#: A point of a face across the axis of memory stands in a cache line of its own, floats.
_LINE_FLOATS = 16


def shape_of(grid: Shape, ranks: int, wanted: Shape = (0, 0, 0)) -> Shape | None:
    """Ranks along i, j and k that exchange least; of several the one with most along i, then along j.

    Args:
        grid: points along i, j and k, boundaries included.
        ranks: that share it.
        wanted: ranks along an axis; 0 for any number.

    None where the grid cannot be dealt so.
    """
    fitting = [shape for shape in _shapes(ranks) if _fits(grid, shape) and _is(shape, wanted)]
    return min(fitting, key=lambda shape: _cost(grid, shape), default=None)


def block_of(grid: Shape, shape: Shape) -> Shape:
    """Points of the largest block, those around it included."""
    i, j, k = ((points - 3) // ranks + 3 for points, ranks in zip(grid, shape, strict=True))
    return i, j, k


def _shapes(ranks: int) -> Iterator[Shape]:
    for i in range(ranks, 0, -1):
        if ranks % i == 0:
            yield from ((i, j, ranks // i // j) for j in range(ranks // i, 0, -1) if ranks // i % j == 0)


def _is(shape: Shape, wanted: Shape) -> bool:
    return all(each in {0, found} for found, each in zip(shape, wanted, strict=True))


def _fits(grid: Shape, shape: Shape) -> bool:
    i, j, k = (points - 2 for points in grid)
    return shape[0] <= i and shape[1] <= j and shape[2] <= max(1, k // _FEWEST_K)


def _cost(grid: Shape, shape: Shape) -> int:
    i, j, k = (-(-(points - 2) // ranks) for points, ranks in zip(grid, shape, strict=True))
    along_i, along_j, along_k = (min(2, ranks - 1) for ranks in shape)
    return along_i * j * k + along_j * i * k + along_k * _LINE_FLOATS * i * j
