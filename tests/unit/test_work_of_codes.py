"""Memory, time, points and messages that plans assume of HPCG, Himeno and weather: computed here by definition."""

import itertools
import math
from collections.abc import Iterable

import pytest
from tests.simulation import described

from assay.catalogue import benchmarks
from assay.model.benchmark import Benchmark, Exchange, Message, Resources
from assay.model.errors import UsageError
from assay.model.placement import Memory, Placement
from assay.topics.kernels.benchmarks.hpcg import counts
from assay.topics.kernels.grid import grid_of
from assay.topics.stencil.shape import block_of, shape_of

HPCG, HIMENO, HIMENO_MPI, WEATHER = map(benchmarks.get, ("hpcg", "himeno", "himeno_mpi", "weather"))
GRIDS = {
    "XS": (32, 32, 64),
    "S": (64, 64, 128),
    "M": (128, 128, 256),
    "L": (256, 256, 512),
    "XL": (512, 512, 1024),
}


def placed(ranks: int, cpus: int = 1, hosts: int = 1) -> Placement:
    """So many ranks on each host, each with so many cpus."""
    every = tuple(tuple(range(rank * cpus, (rank + 1) * cpus)) for rank in range(ranks))
    names = tuple(f"n{host}" for host in range(hosts))
    return Placement("", "", tuple(range(ranks * cpus)), Memory(), names, every)


def points(
    benchmark: Benchmark, placement: Placement, memory: float, **params: int | str
) -> list[dict[str, object]]:
    return [
        dict(each) for each in benchmark.points(Resources(placement, described().topology, int(memory)), params)
    ]


def coupled(x: int, y: int, z: int) -> int:
    """Pairs of neighbouring points, each with itself, in a box: the entries of HPCG's matrix."""
    around = range(-1, 2)
    return sum(
        0 <= i + a < x and 0 <= j + b < y and 0 <= k + c < z
        for i, j, k in itertools.product(range(x), range(y), range(z))
        for a, b, c in itertools.product(around, around, around)
    )


def levels(ranks: int, edge: int) -> list[tuple[int, int]]:
    """Rows and entries of each of four grids."""
    x, y, z = grid_of(ranks)
    boxes = [(x * edge // 2**level, y * edge // 2**level, z * edge // 2**level) for level in range(4)]
    return [(math.prod(box), coupled(*box)) for box in boxes]


@pytest.mark.parametrize(("ranks", "edge", "iterations"), [(1, 8, 50), (2, 8, 5), (4, 8, 1)])
def test_hpcg_counts_operations_and_bytes_of_each_part(ranks: int, edge: int, iterations: int) -> None:
    counted, grids = counts(ranks, edge, iterations), levels(ranks, edge)
    rows, _ = grids[0]
    vectors = 3 * iterations + 1  # HPCG: three sums and updates in each iteration, and those at the start
    assert counted["ddot"] == (2 * vectors * rows, vectors * rows * 2 * 8)
    assert counted["waxpby"] == (2 * vectors * rows, vectors * rows * 3 * 8)
    product = [(2 * e, 12 * e + 16 * r) for r, e in grids]
    assert counted["spmv"] == tuple((iterations + 1) * each for each in product[0])
    sweep = [(4 * e, 2 * 12 * e + 16 * r) for r, e in grids]  # forward and back
    # A cycle: a sweep, a residual and a sweep on each grid, on the coarsest one a sweep alone.
    cycle = [sweep[-1], *(each for level in range(3) for each in (sweep[level], product[level], sweep[level]))]
    assert counted["mg"] == tuple(iterations * sum(each[part] for each in cycle) for part in (0, 1))


def flops(edge: int, iterations: int) -> float:
    return sum(each.flops for each in counts(1, edge, iterations).values())


@pytest.mark.parametrize("edge", [16, 32, 64])
def test_hpcg_is_solved_and_checked_once_before_it_is_timed(edge: int) -> None:
    params = {"n": edge, "cg-iterations": 20}
    assert HPCG.setup_seconds(params) == pytest.approx(0.2 + flops(edge, 20 + 15) / 1e9)
    assert HPCG.memory_bytes(params, placed(1)) == 510 * edge**3


def test_hpcg_iterates_three_seconds_but_five_to_fifty_times() -> None:
    def iterations(edge: int) -> object:
        (point,) = points(HPCG, placed(1), 1e12, n=edge)
        return point["cg-iterations"]

    for edge in (16, 32, 48, 56, 64, 80, 96, 128, 256):
        assert iterations(edge) == min(50, max(5, round(3 / (flops(edge, 1) / 1e9))))
    assert iterations(16) == 50
    assert 5 < int(str(iterations(64))) < 50
    assert iterations(256) == 5


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("edge", [32, 64, 128])
def test_boxes_of_hpcg_fill_four_fifths_of_a_host(ranks: int, edge: int) -> None:
    bytes_of_host = ranks * 510 * edge**3  # a multiple of 4: the border is exact
    assert edge in {each["n"] for each in points(HPCG, placed(ranks), bytes_of_host * 5 // 4)}
    assert edge not in {each["n"] for each in points(HPCG, placed(ranks), bytes_of_host * 5 // 4 - 4)}


def test_a_box_of_hpcg_takes_thirty_seconds_at_most() -> None:
    edges = [each["n"] for each in points(HPCG, placed(1), 1e15)]
    assert edges == [
        edge
        for edge in (32, 64, 128, 256)
        if flops(edge, max(5, min(50, round(3e9 / flops(edge, 1)))) + 15) <= 30e9
    ]
    assert 256 not in edges


def arrays_bytes(points: int) -> int:
    return 14 * (4 * points + 17 * 64)


@pytest.mark.parametrize("size", GRIDS)
def test_himeno_has_fourteen_arrays_with_a_gap_after_each(size: str) -> None:
    whole = arrays_bytes(math.prod(GRIDS[size]))
    assert HIMENO.memory_bytes({"size": size}, placed(4)) == whole
    assert HIMENO.setup_seconds({"size": size}) == pytest.approx(0.05 + whole / 1e9)
    assert HIMENO.touch_seconds({"size": size}) == pytest.approx(whole / 4e9)
    assert HIMENO_MPI.setup_seconds({"size": size}) == pytest.approx(0.1 + whole / 1e9)


def test_himeno_has_no_other_grid() -> None:
    with pytest.raises(UsageError, match="no grid 'XXL'"):
        HIMENO.memory_bytes({"size": "XXL"}, placed(1))


def inner_of_blocks(points: int, ranks: int) -> list[int]:
    """Inner points of each rank along an axis, as equal as can be."""
    each, more = divmod(points - 2, ranks)
    return [each + (rank < more) for rank in range(ranks)]


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 1, 1), (3, 5, 2), (7, 2, 3)])
@pytest.mark.parametrize("size", GRIDS)
def test_the_largest_block_has_a_border_of_a_point_on_each_side(size: str, shape: tuple[int, int, int]) -> None:
    wanted = tuple(max(inner_of_blocks(n, ranks)) + 2 for n, ranks in zip(GRIDS[size], shape, strict=True))
    assert block_of(GRIDS[size], shape) == wanted


def exchanged(grid: Iterable[int], shape: Iterable[int]) -> int:
    """Floats that the largest inner block passes; each point of a face across k has a line of 16 floats."""
    i, j, k = (max(inner_of_blocks(n, ranks)) for n, ranks in zip(grid, shape, strict=True))
    neighbours = [min(2, ranks - 1) for ranks in shape]
    return neighbours[0] * j * k + neighbours[1] * i * k + neighbours[2] * 16 * i * j


def divisions(ranks: int) -> Iterable[tuple[int, int, int]]:
    of = [each for each in range(1, ranks + 1) if ranks % each == 0]
    return ((i, j, ranks // i // j) for i in of for j in of if ranks % (i * j) == 0)


@pytest.mark.parametrize("wanted", [(0, 0, 0), (2, 0, 0), (0, 3, 0), (0, 0, 2), (1, 1, 0)])
@pytest.mark.parametrize(
    "grid", [(32, 32, 64), (12, 40, 400), (40, 12, 50), (300, 20, 64), (5, 5, 1000), (20, 30, 33), (21, 30, 34)]
)
def test_ranks_are_divided_so_that_they_exchange_least(
    grid: tuple[int, int, int], wanted: tuple[int, int, int]
) -> None:
    divided = 0
    for ranks in range(1, 61):
        every = [
            shape
            for shape in divisions(ranks)
            if all(each in (0, found) for each, found in zip(wanted, shape, strict=True))
            and shape[0] <= grid[0] - 2
            and shape[1] <= grid[1] - 2
            and (shape[2] == 1 or (grid[2] - 2) / shape[2] >= 16)
        ]
        best = min(every, key=lambda shape: (exchanged(grid, shape), -shape[0], -shape[1]), default=None)
        assert shape_of(grid, ranks, wanted) == best
        assert any(wanted) or shape_of(grid, ranks) == best
        divided += best is not None
    assert divided > 1 or any(wanted)


@pytest.mark.parametrize(("ranks", "size"), [(1, "XS"), (2, "XS"), (6, "S"), (8, "M"), (12, "L"), (16, "XS")])
def test_himeno_over_ranks_needs_its_block_in_whole_lines_and_passes_its_faces(ranks: int, size: str) -> None:
    params = {"size": size, "coupling": "sharing"}
    shape = shape_of(GRIDS[size], ranks)
    assert shape
    assert points(HIMENO_MPI, placed(ranks), 1e12, **params) == [dict(zip("ijk", shape, strict=True))]
    i, j, k = block_of(GRIDS[size], shape)
    assert HIMENO_MPI.memory_bytes(params, placed(ranks)) == arrays_bytes(i * j * 16 * math.ceil(k / 16))
    found = HIMENO_MPI.growth.exchange(params, placed(ranks))
    work = 34 * math.prod(n - 2 for n in GRIDS[size])
    faces = {0: j * k, 1: i * k, 2: i * j}
    sides = [
        Message(1, 4 * faces[axis] * (1 if along == 2 else 2)) for axis, along in enumerate(shape) if along > 1
    ]
    rounds = next(each for each in range(9) if 2**each >= ranks)
    assert found == Exchange(work, (*sides, Message(rounds, 8)) if ranks > 1 else ())


def test_independent_grids_of_himeno_are_whole_and_pass_nothing() -> None:
    params = {"size": "S", "coupling": "independent"}
    assert points(HIMENO_MPI, placed(8), 1e12, **params) == [{"i": 1, "j": 1, "k": 1}]
    i, j, k = GRIDS["S"]
    assert HIMENO_MPI.memory_bytes(params, placed(8)) == arrays_bytes(i * j * k)
    found = HIMENO_MPI.growth.exchange(params, placed(8))
    assert found == (34 * 62 * 62 * 126, ())
    assert HIMENO_MPI.growth.exchange({"size": "62x62"}, placed(8)) is None


def test_a_grid_of_himeno_that_cannot_be_divided_has_no_ranks_along_its_axes() -> None:
    prime = placed(67)  # more than the inner points along each axis
    params: dict[str, int | str] = {"size": "XS", "coupling": "sharing"}
    assert points(HIMENO_MPI, prime, 1e12, **params) == [{"i": 0, "j": 0, "k": 0}]
    i, j, k = GRIDS["XS"]
    assert HIMENO_MPI.memory_bytes(params, prime) == arrays_bytes(i * j * k)
    assert HIMENO_MPI.growth.exchange(params, prime) == (34 * 30 * 30 * 62, ())
    assert points(HIMENO_MPI, placed(8), 1e12, **{**params, "i": 8}) == [{"i": 8, "j": 1, "k": 1}]
    assert points(HIMENO_MPI, placed(8), 1e12, **{**params, "j": 4}) == [{"i": 2, "j": 4, "k": 1}]
    assert points(HIMENO_MPI, placed(8), 1e12, **{**params, "k": 2})[0]["k"] == 2
    assert points(HIMENO_MPI, placed(2), 1e12, **{**params, "i": 1, "j": 1}) == [{"i": 1, "j": 1, "k": 2}]
    assert points(HIMENO_MPI, placed(2), 1e12, **{**params, "j": 1, "k": 1}) == [{"i": 2, "j": 1, "k": 1}]
    assert points(HIMENO_MPI, placed(2), 1e12, **{**params, "i": 1, "k": 1}) == [{"i": 1, "j": 2, "k": 1}]
    faces = HIMENO_MPI.growth.exchange({**params, "i": 1, "j": 1, "k": 2}, placed(2))
    assert faces == (34 * 30 * 30 * 62, ((1, 4 * 32 * 32), (1, 8)))


@pytest.mark.parametrize("columns", [16, 100, 400, 1600])
@pytest.mark.parametrize("ranks", [1, 3])
def test_weather_needs_three_states_with_borders_and_two_strips(columns: int, ranks: int) -> None:
    params: dict[str, int | str] = {"nx": columns, "time-steps": 10, "coupling": "sharing"}
    rows = columns // 2
    wanted = 96 * (math.ceil(columns / ranks) + 26) * (rows + 4) + 20000 * rows
    assert WEATHER.memory_bytes(params, placed(ranks)) == wanted
    wanted_s = 0.1 + (10 + 4) * columns * rows / 1e7 + 4e-4 * rows
    assert WEATHER.setup_seconds(params) == pytest.approx(wanted_s)
    messages = ((6, 64 * rows),) if ranks > 1 else ()  # two columns of four numbers to two neighbours
    assert WEATHER.growth.exchange(params, placed(ranks)) == (columns * rows, messages)
    apart = {**params, "coupling": "uncoupled"}
    assert WEATHER.memory_bytes(apart, placed(ranks)) == wanted
    assert WEATHER.growth.exchange(apart, placed(ranks)) == (columns * rows, ())


@pytest.mark.parametrize("columns", [16, 100, 300, 400, 500, 1000, 1600, 3200, 6400])
def test_a_solution_of_weather_makes_twelve_million_updates_in_an_even_number_of_steps(columns: int) -> None:
    (point,) = points(WEATHER, placed(1), 1e12, nx=columns, coupling="sharing")
    even = max(2, 2 * round(1.2e7 / (columns * columns // 2) / 2))
    assert point == {"nx": columns, "time-steps": min(6 * columns, even)}


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("columns", [400, 1600])
def test_planes_of_weather_fill_four_fifths_of_a_host(columns: int, ranks: int) -> None:
    def planes(memory: float) -> set[object]:
        return {each["nx"] for each in points(WEATHER, placed(ranks, 32), memory, coupling="sharing")}

    whole = ranks * WEATHER.memory_bytes({"nx": columns, "coupling": "sharing"}, placed(ranks))
    assert whole % 4 == 0
    assert columns in planes(whole * 5 // 4)
    assert columns not in planes(whole * 5 // 4 - 4)


def test_planes_of_weather_have_eight_columns_a_rank_and_take_no_longer_than_assumed() -> None:
    assert 400 in {each["nx"] for each in points(WEATHER, placed(50), 1e12, coupling="sharing")}
    assert 400 not in {each["nx"] for each in points(WEATHER, placed(51), 1e12, coupling="sharing")}
    assert 400 in {each["nx"] for each in points(WEATHER, placed(50), 1e12, coupling="uncoupled")}
    assert 400 not in {each["nx"] for each in points(WEATHER, placed(51), 1e12, coupling="uncoupled")}
    assert points(WEATHER, placed(1), 1e12, coupling="uncoupled") == []  # the part of one rank is the plane
    # 6400 columns: two steps make 4.1e7 updates, in 1.3 s at 1e7 on four cores but not on three
    assert 6400 in {each["nx"] for each in points(WEATHER, placed(2, 2), 1e12, coupling="sharing")}
    assert 6400 not in {each["nx"] for each in points(WEATHER, placed(3), 1e12, coupling="sharing")}
