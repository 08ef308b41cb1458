"""The grid of ranks, as native programs arrange it (`benchmarks/kernels/rank_grid.hpp`)."""


def grid_of(ranks: int) -> tuple[int, int, int]:
    """Arrange ranks as x <= y <= z, as close to a cube as possible: the smallest z, then the smallest y."""
    divisors = [each for each in range(1, ranks + 1) if ranks % each == 0]
    grids = (
        (x, y, ranks // (x * y))
        for x in divisors
        for y in divisors
        if x <= y and x * y * y <= ranks and ranks % (x * y) == 0
    )
    return min(grids, key=lambda grid: grid[::-1])
