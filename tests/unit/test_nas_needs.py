"""What the NAS kernels need: memory, traffic, messages and ranks with work, by NPB's definitions."""

import pytest
from tests.simulation import described

from assay.catalogue import benchmarks
from assay.model.benchmark import Message, Resources
from assay.model.placement import Memory, Placement
from assay.topics.kernels.grid import grid_of
from assay.topics.kernels.sizes import CLASSES, PROBLEMS, demand, has_work, passed

NAS, NPB = benchmarks.get("nas"), benchmarks.get("npb")

#: Class -> log2 of keys and of their values (is.c of NPB 3.4).
KEYS = {"S": (16, 11), "W": (20, 16), "A": (23, 19), "B": (25, 21), "C": (27, 23), "D": (31, 27)}
#: Class -> order, nonzeros, iterations (cg.f).
MATRICES = {"S": (1400, 7, 15), "W": (7000, 8, 15), "A": (14000, 11, 15), "B": (75000, 13, 75)}
MATRICES |= {"C": (150000, 15, 75), "D": (1500000, 21, 100)}
#: Class -> points of a side, iterations (mg.f).
CUBES = {"S": (32, 4), "W": (128, 4), "A": (256, 4), "B": (256, 20), "C": (512, 20), "D": (1024, 50)}
#: Class -> points along x, y and z, iterations (ft.f).
BOXES = {"S": (64, 64, 64, 6), "W": (128, 128, 32, 6), "A": (256, 256, 128, 6), "B": (512, 256, 256, 20)}
BOXES |= {"C": (512, 512, 512, 20), "D": (2048, 1024, 1024, 25)}


def placed(ranks: int, cpus: int = 1) -> Placement:
    every = tuple(tuple(range(rank * cpus, (rank + 1) * cpus)) for rank in range(ranks))
    return Placement("all", "all", tuple(range(ranks * cpus)), Memory(), ("n1",), every)


@pytest.mark.parametrize("size", CLASSES)
def test_random_deviates_need_arithmetic_only(size: str) -> None:
    need = demand("ep", size)
    assert need.flops_per_operation == pytest.approx(26.68e9 / 2**29)
    assert (need.traffic_bytes, need.message_bytes, need.shared_bytes) == (0, 0, 0)
    assert need.memory_bytes(1) == need.memory_bytes(1000) == 65536
    pairs = int(need.operations) // 2
    assert has_work("ep", size, pairs)
    assert not has_work("ep", size, pairs + 1)


@pytest.mark.parametrize("size", CLASSES)
def test_sorting_passes_every_key_in_each_of_ten_rankings(size: str) -> None:
    keys, values = (2**each for each in KEYS[size])
    need = demand("is", size)
    assert (need.flops_per_operation, need.traffic_bytes) == (0, 0)
    assert need.message_bytes == 10 * keys * 4
    assert has_work("is", size, values // 16)
    assert not has_work("is", size, values // 16 + 1)
    for ranks in (1, 4, 64):
        # Keys, keys by receiver and keys received with a quarter to spare; a count of each value.
        assert need.memory_bytes(ranks) == int((keys + keys + 1.25 * keys) * 4 / ranks + 4 * values)


@pytest.mark.parametrize("size", CLASSES)
def test_gradients_read_the_matrix_once_a_product_and_pass_vectors(size: str) -> None:
    order, nonzeros, iterations = MATRICES[size]
    need = demand("cg", size)
    products = iterations * (25 + 1)
    assert need.flops_per_operation == 1
    assert need.traffic_bytes == pytest.approx(products * order * nonzeros * (nonzeros + 1) * (8 + 4))
    assert need.message_bytes == pytest.approx(products * order * 8)
    assert has_work("cg", size, order)
    assert not has_work("cg", size, order + 1)
    # NPB reserves na (nonzer + 1)^2 elements; a few vectors, and the generator's vectors on each rank.
    elements = order * (nonzeros + 1) ** 2 * 12 * 1.05
    for ranks in (1, 16):
        own = 2 * 8 * order * (nonzeros + 1) + 8 * order
        wanted = (elements + 4 * 8 * order) / ranks + own
        assert need.memory_bytes(ranks) == pytest.approx(wanted, abs=1)


@pytest.mark.parametrize("size", CLASSES)
def test_grids_of_all_sizes_add_an_eighth_of_the_next_finer(size: str) -> None:
    side, iterations = CUBES[size]
    need = demand("mg", size)
    points = side**3
    eighths = sum(8.0**-level for level in range(40))  # 8 / 7: the finest grid and all coarser ones
    assert need.flops_per_operation == 1
    assert need.traffic_bytes == pytest.approx(iterations * points * (104 + 80 / 7))
    assert need.message_bytes == pytest.approx(iterations * 2 * 10 * 8 * side**2)
    assert need.memory_bytes(1) == pytest.approx(8 * 1.1 * points * (1 + 2 * eighths) + 65536, abs=1)
    assert need.memory_bytes(8) == pytest.approx(1.1 * points * (1 + 2 * eighths) + 65536, abs=1)


def test_a_rank_of_a_cube_has_two_points_along_each_edge() -> None:
    assert has_work("mg", "S", 16**3)  # of 32 points, two along each edge
    assert has_work("mg", "S", 16)
    assert not has_work("mg", "S", 17)  # a prime: 17 ranks along one edge
    assert not has_work("mg", "S", 34)  # 1 x 2 x 17
    assert demand("mg", "S").most_ranks == 32**3


@pytest.mark.parametrize("size", CLASSES)
def test_transforms_pass_the_cube_in_each_iteration_and_once_before(size: str) -> None:
    x, y, z, iterations = BOXES[size]
    need = demand("ft", size)
    points = x * y * z
    assert need.flops_per_operation == 1
    assert need.traffic_bytes == 80 * iterations * points
    assert need.message_bytes == 16 * points * (iterations + 1)
    assert need.memory_bytes(4) == 3 * 16 * points // 4 + 65536  # three cubes of complex numbers
    most = min(y, z)
    assert has_work("ft", size, most)
    assert not has_work("ft", size, most + 1)


@pytest.mark.parametrize("ranks", [2, 3, 8, 9])
@pytest.mark.parametrize("size", ["S", "B"])
def test_gradients_collect_the_vector_before_each_product_and_sum_twice_a_step(size: str, ranks: int) -> None:
    order, _, iterations = MATRICES[size]
    rounds = next(each for each in range(10) if 2**each >= ranks)
    vectors, sums = passed("cg", size, ranks) or ()
    assert vectors == pytest.approx((iterations * 26 * (ranks - 1), 8 * order / ranks))
    assert sums == (iterations * (25 * 2 + 3) * rounds, 8)


@pytest.mark.parametrize("ranks", [2, 4, 8, 12, 16])
@pytest.mark.parametrize("size", ["S", "A", "C"])
def test_borders_pass_on_each_grid_along_each_divided_axis(size: str, ranks: int) -> None:
    side, iterations = CUBES[size]
    x, y, z = grid_of(ranks)
    wanted: list[float] = []
    while side >= 2 * z:
        a, b, c = (side / along + 2 for along in (x, y, z))
        layers = ((x, b * c), (y, a * c), (z, a * b))
        wanted += [8 * layer for along, layer in layers if along > 1]
        side = side // 2
    found = passed("mg", size, ranks) or ()
    assert [each.bytes for each in found] == pytest.approx(wanted)
    assert {each.number for each in found} == {2 * 3 * iterations}


def test_messages_that_are_not_counted_are_none_and_deviates_pass_none() -> None:
    assert passed("ep", "A", 8) == ()
    assert passed("is", "A", 8) is None
    assert passed("ft", "A", 8) is None


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_study_of_scaling_is_told_operations_and_messages_of_a_solution(problem: str) -> None:
    def exchange(ranks: int, coupling: str = "sharing") -> tuple[float, tuple[Message, ...]] | None:
        params = {"npb": problem, "npb-class": "A", "coupling": coupling}
        return NAS.growth.exchange(params, placed(ranks))

    work = demand(problem, "A").operations
    assert exchange(1) == exchange(4, "independent") == (work, ())
    messages = passed(problem, "A", 4)
    assert exchange(4) == (None if messages is None else (work, messages))
    assert exchange(2) == (None if messages is None else (work, passed(problem, "A", 2)))


#: Assumed rates of one rank, op/s.
RATES = {"ep": 2e8, "is": 1.5e8, "cg": 1.5e9, "mg": 4e9, "ft": 3e9}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_case_begins_with_start_values_and_a_checked_solution(problem: str) -> None:
    params = {"npb": problem, "npb-class": "W", "coupling": "independent"}
    alone_s = demand(problem, "W").operations / RATES[problem]
    assert NAS.setup_seconds(params) == pytest.approx(0.1 + 1.3 * alone_s)
    assert NAS.setup_seconds({**params, "coupling": "sharing"}) == pytest.approx(0.1 + 1.3 * alone_s / 2)
    assert NAS.memory_bytes(params, placed(4)) == demand(problem, "W").memory_bytes(1)
    assert NAS.memory_bytes({**params, "coupling": "sharing"}, placed(4)) == demand(problem, "W").memory_bytes(4)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("cores", [1, 2, 3, 8, 24, 100])
def test_the_class_is_the_smallest_that_takes_a_second_of_all_cores_and_twenty_of_one(
    problem: str, cores: int
) -> None:
    def chosen(memory: float, ranks: int = 1) -> str:
        resources = Resources(
            placed(ranks), described(f"pack:1 numa:1(memory=8GB) core:{cores} pu:1").topology, int(memory)
        )
        (point,) = NAS.points(resources, {"npb": problem, "coupling": "sharing"})
        return str(point["npb-class"])

    alone_s = {size: demand(problem, size).operations / RATES[problem] for size in CLASSES}
    working = [size for size in CLASSES if has_work(problem, size, cores)]
    in_time = [size for size in working if alone_s[size] <= 20]
    lasting = [size for size in in_time if alone_s[size] / cores >= 1]
    every = lasting[0] if lasting else in_time[-1] if in_time else working[0] if working else "S"
    assert chosen(1e15) == every
    assert chosen(1) == "S"
    whole = cores * demand(problem, every).memory_bytes(cores)  # of the host; four fifths may be filled
    if every != "S" and whole % 4 == 0:
        assert chosen(whole * 5 // 4) == every
    if every != "S":
        assert chosen(whole * 5 // 4 - 4) != every


def test_ranks_of_a_placement_need_work_too() -> None:
    resources = Resources(placed(33), described().topology, 10**12)
    (point,) = NAS.points(resources, {"npb": "ft", "coupling": "sharing"})
    assert point["npb-class"] == "A"
    (point,) = NAS.points(Resources(placed(129), described().topology, 10**12), {"npb": "ft"})
    assert point["npb-class"] == "B"  # A has 128 planes, W has 32, S has 64 points


#: BT, LU and SP of NPB 3.4: points of a side and iterations (setparams.c).
GRIDS = {
    "bt": {"S": (12, 60), "W": (24, 200), "A": (64, 200), "B": (102, 200), "C": (162, 200), "D": (408, 250)},
    "lu": {"S": (12, 50), "W": (33, 300), "A": (64, 250), "B": (102, 250), "C": (162, 250), "D": (408, 300)},
    "sp": {"S": (12, 100), "W": (36, 400), "A": (64, 400), "B": (102, 400), "C": (162, 400), "D": (408, 500)},
}


@pytest.mark.parametrize("size", CLASSES)
@pytest.mark.parametrize("problem", GRIDS)
def test_codes_of_the_site_are_planned_by_the_operations_that_they_count(problem: str, size: str) -> None:
    side, iterations = GRIDS[problem][size]
    of_iteration = {
        "bt": 3478.8 * side**3 - 17655.7 * side**2 + 28023.7 * side,
        "lu": 1984.77 * side**3 - 10923.3 * side**2 + 27770.9 * side - 144010,
        "sp": 881.174 * side**3 - 4683.91 * side**2 + 11484.5 * side - 19272.4,
    }[problem]
    params = {"npb": problem, "npb-class": size}
    assert NPB.setup_seconds(params) == pytest.approx(0.1 + iterations * of_iteration / 5e8, rel=1e-9)
    assert NPB.memory_bytes(params, placed(1)) == 200 * side**3


@pytest.mark.parametrize("problem", PROBLEMS)
def test_kernels_of_the_site_need_what_ours_need_on_one_rank(problem: str) -> None:
    params = {"npb": problem, "npb-class": "A"}
    need = demand(problem, "A")
    assert NPB.memory_bytes(params, placed(4)) == need.memory_bytes(1)
    assert NPB.setup_seconds(params) == pytest.approx(0.1 + need.operations / 5e8)
    assert NPB.foreign
    assert NPB.foreign.command(params, placed(1), "")[-1] == f"{problem}.A.x"
    assert {f"{problem}.{size}.x" for size in CLASSES} <= set(NPB.foreign.names)
    assert len(NPB.foreign.names) == len(CLASSES) * (len(PROBLEMS) + len(GRIDS))
