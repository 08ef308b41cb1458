"""The grid of boxes that ranks hold; native programs deal them alike (`benchmarks/kernels/rank_grid.hpp`)."""


def grid_of(ranks: int) -> tuple[int, int, int]:
    """So many ranks as x <= y <= z, as close to each other as can be: z is as small as possible, then y."""
    divisors = [each for each in range(1, ranks + 1) if ranks % each == 0]
    grids = (
        (x, y, ranks // (x * y))
        for x in divisors
        for y in divisors
        if x <= y and x * y * y <= ranks and ranks % (x * y) == 0
    )
    return min(grids, key=lambda grid: grid[::-1])
