"""Memory, time, orders and messages that plans assume of systems of equations and products, computed here."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.simulation import described

from assay.catalogue import benchmarks
from assay.model.benchmark import Benchmark, Message, Resources
from assay.model.core_rate import CoreRate
from assay.model.placement import Memory, Placement
from assay.topics.linear_algebra.grid import grid_of

HPL, MXP, DGEMM, HPCC = map(benchmarks.get, ("hpl", "mxp", "dgemm", "hpcc"))
LINPACK, FORTRAN = map(benchmarks.get, ("linpack", "linpack_fortran"))


def placed(ranks: int, cpus: int = 1, hosts: int = 1) -> Placement:
    """So many ranks on each host, each with so many cpus."""
    every = tuple(tuple(range(rank * cpus, (rank + 1) * cpus)) for rank in range(ranks))
    names = tuple(f"n{host}" for host in range(hosts))
    return Placement("", "", tuple(range(ranks * cpus)), Memory(), names, every)


def found_orders(benchmark: Benchmark, placement: Placement, memory: float, **params: int | str) -> list[int]:
    points = benchmark.points(Resources(placement, described().topology, int(memory)), params)
    return [int(each["n"]) for each in points]


def operations(n: int) -> float:
    """HPL 2.3: 2/3 n^3 + 3/2 n^2."""
    return 2 * n**3 / 3 + 3 * n**2 / 2


@given(ranks=st.integers(1, 200))
def test_a_grid_is_as_square_as_can_be(ranks: int) -> None:
    p, q = grid_of(ranks)
    assert p * q == ranks
    assert p <= q
    assert not any(ranks % each == 0 for each in range(p + 1, math.isqrt(ranks) + 1))


@pytest.mark.parametrize(
    ("ranks", "p", "q", "grid"),
    [
        (12, 2, 0, (2, 6)),
        (12, 0, 3, (4, 3)),
        (12, 5, 0, (5, 2)),
        (2, 0, 5, (1, 5)),
        (2, 5, 0, (5, 1)),
        (6, 6, 1, (6, 1)),
    ],
)
def test_a_side_of_a_grid_that_is_given_stays(ranks: int, p: int, q: int, grid: tuple[int, int]) -> None:
    assert grid_of(ranks, p, q) == grid


def dealt(numbers: int, block: int, places: int) -> int:
    """Rows of the first process, which has most, if blocks are dealt in turn."""
    return sum(index // block % places == 0 for index in range(numbers))


@given(
    n=st.integers(1, 90),
    nb=st.integers(1, 24),
    p=st.integers(1, 4),
    q=st.integers(1, 4),
)
def test_a_rank_of_hpl_has_its_part_two_panels_and_exchanged_rows(n: int, nb: int, p: int, q: int) -> None:
    params: dict[str, int | str] = {"n": n, "nb": nb, "p": p, "q": q, "coupling": "sharing"}
    block = min(nb, n)
    rows, columns = dealt(n, block, p), dealt(n + 1, block, q)  # with the right-hand side
    panels = 2 * (block * rows + block * block + block)  # rows, topmost square, pivots
    exchanged = 3 * block * columns if p > 1 else 0
    assert HPL.memory_bytes(params, placed(p * q)) == 8 * (rows * columns + panels + exchanged)


def test_without_a_grid_it_is_as_square_as_can_be() -> None:
    params: dict[str, int | str] = {"n": 1000, "nb": 100, "coupling": "sharing"}
    for ranks in (1, 2, 6, 7):
        p, q = grid_of(ranks)
        given_grid = HPL.memory_bytes({**params, "p": p, "q": q}, placed(ranks))
        assert HPL.memory_bytes(params, placed(ranks)) == given_grid


@pytest.mark.parametrize("n", [1000, 4096])
def test_the_time_of_a_system_is_that_of_its_operations_and_of_writing_and_checking_it(n: int) -> None:
    params: dict[str, int | str] = {"n": n, "nb": 128, "p": 0, "q": 0, "coupling": "sharing", "format": "fp32"}
    core = CoreRate(1, 64, 5e9)  # 1e10 flop/s
    dealt_s = 0.2 + (operations(n) + 170 * n * n) / 6 / (0.6 * 1e10)  # each core writes and checks its own numbers
    assert HPL.setup_s(params, placed(2, 3), core) == pytest.approx(dealt_s)
    whole_s = 0.2 + 2 * 12 * n * n / 1e9 + 0.5 * operations(n) / 6 / (0.6 * 1e10)
    assert MXP.setup_s(params, placed(1, 6), core) == pytest.approx(whole_s)
    alone_s = 0.2 + (operations(n) + 170 * n * n) / 3 / (0.6 * 1e10)
    assert HPL.setup_s({**params, "coupling": "independent"}, placed(2, 3), core) == pytest.approx(alone_s)


@pytest.mark.parametrize(("benchmark", "entry", "work"), [(HPL, 8, 10 * 2.5e10), (MXP, 12, 6 * 5e10)])
@pytest.mark.parametrize("block", [128, 300, 384, 1024])
@pytest.mark.parametrize("cores", [1, 8])
def test_orders_are_doubled_up_to_four_fifths_of_memory_and_ten_seconds(
    benchmark: Benchmark, entry: int, work: float, block: int, cores: int
) -> None:
    def orders(memory: float) -> list[int]:
        return found_orders(benchmark, placed(1, cores), memory, nb=block, p=0, q=0, coupling="sharing")

    least = block * math.ceil(1024 / block)
    most = (1.5 * work * cores) ** (1 / 3)  # 2/3 n^3 operations
    every = [least * 2**power for power in range(12) if least * 2**power <= most]
    assert orders(1e15) == every
    assert len(every) > 1
    for count, n in enumerate(every):
        bytes_of_matrix = entry * n * n * 5 / 4
        assert orders(bytes_of_matrix + 10) == every[: count + 1]
        assert orders(bytes_of_matrix - 10) == every[:count]


def test_the_memory_of_all_hosts_and_the_cores_of_all_ranks_count() -> None:
    memory = 8 * 2048**2 * 5 / 4
    two, four = placed(1, 1, hosts=2), placed(1, 1, hosts=4)
    params: dict[str, int | str] = {"nb": 256, "p": 0, "q": 0, "coupling": "sharing"}
    assert max(found_orders(HPL, two, memory / 2 + 10, **params)) == 2048
    assert max(found_orders(HPL, two, memory / 2 - 10, **params)) == 1024
    assert max(found_orders(HPL, four, memory, **params)) == 4096
    (first, *_) = HPL.points(Resources(placed(4, 2), described().topology, 10**9), {**params, "q": 1})
    assert first == {"n": 1024, "p": 4, "q": 1}
    (first, *_) = HPL.points(Resources(placed(6), described().topology, 10**9), params)
    assert (first["p"], first["q"]) == (2, 3)


@pytest.mark.parametrize(("p", "q", "hosts"), [(1, 1, 1), (1, 2, 2), (1, 2, 1), (4, 2, 2), (3, 1, 3), (2, 4, 1)])
@pytest.mark.parametrize("n", [1024, 5000])
def test_hpl_passes_panels_between_nodes_and_pivots_and_rows_in_columns(
    n: int, p: int, q: int, hosts: int
) -> None:
    params: dict[str, int | str] = {"n": n, "nb": 128, "p": p, "q": q, "coupling": "sharing"}
    found = HPL.growth.exchange(params, placed(p * q // hosts, 1, hosts))
    assert found
    assert found.work == pytest.approx(operations(n))
    panels, rounds = n / 128, math.ceil(math.log2(p))
    rows = (n + 128) / 2 / p  # mean of n, n - 128 ... 128
    wanted = [Message(panels, 8 * 128 * (rows + 128 + 1))] if q > 1 and hosts > 1 else []
    if p > 1:
        wanted.append(Message(n * rounds, 8 * 2 * 128))
        wanted.append(Message(panels * rounds, 8 * 128 * n / q / rounds))
    assert [each.number for each in found.messages] == pytest.approx([each.number for each in wanted])
    assert [each.bytes for each in found.messages] == pytest.approx([each.bytes for each in wanted])


@pytest.mark.parametrize(("word", "size", "copies"), [("fp32", 12, 0), ("bf16", 12, 2)])
def test_mixed_precision_holds_the_matrix_twice_and_copies_of_two_blocks(
    word: str, size: int, copies: int
) -> None:
    params: dict[str, int | str] = {"n": 700, "nb": 64, "format": word}
    assert MXP.memory_bytes(params, placed(4)) == size * 700**2 + copies * 2 * 64 * 700


@pytest.mark.parametrize(("word", "entries", "cost"), [("fp64", 24, 1.0), ("fp32", 12, 0.5), ("bf16", 8, 0.5)])
def test_a_product_has_three_matrices_of_its_own_or_one_set_of_all_cores(
    word: str, entries: int, cost: float
) -> None:
    params: dict[str, int | str] = {"n": 500, "format": word, "product": "own"}
    shared = params | {"product": "shared"}
    core, placement, whole = CoreRate(1, 64, 5e9), placed(1, 4), entries * 500**2
    assert DGEMM.memory_bytes(params, placement) == 4 * whole
    assert DGEMM.memory_bytes(shared, placement) == whole
    one_s = cost * 2 * 500**3 / (0.7 * 1e10)  # of a core that multiplies alone
    for given_params, product_s in ((params, one_s), (shared, one_s / 4)):
        assert DGEMM.setup_s(given_params, placement, core) == pytest.approx(0.05 + whole / 1e9 + 2 * product_s)
        assert DGEMM.iteration_s(given_params, placement, core) == pytest.approx(product_s)


def test_hpcc_solves_a_system_at_a_fifth_of_the_peak_beside_its_other_tests() -> None:
    params: dict[str, int | str] = {"n": 2000, "nb": 80}
    assert HPCC.memory_bytes(params, placed(1)) == 8 * 2000**2
    wanted_s = 1 + 2 * 2000**3 / 3 / (0.2 * 1e10)
    assert HPCC.setup_s(params, placed(1), CoreRate(1, 64, 5e9)) == pytest.approx(wanted_s)
    assert HPCC.foreign
    lines = HPCC.foreign.inputs(params, placed(1), "")["hpccinf.txt"].splitlines()
    assert lines[5].split()[0] == "2000"  # N
    assert lines[7].split()[0] == "80"  # NB
    assert lines[31].startswith("#####")  # HPL's input has 31 lines


def linpack_points(benchmark: Benchmark, **params: int | str) -> list[tuple[int, int]]:
    points = benchmark.points(Resources(placed(1), described().topology, 10**9), params)
    return [(int(each["n"]), int(each["leading"])) for each in points]


def test_linpack_has_the_orders_and_leading_dimensions_of_the_benchmark() -> None:
    """J. Dongarra, Performance of Various Computers: n = 100 with LDA 201 and 200, n = 1000 with LDA 1001."""
    assert (
        linpack_points(FORTRAN)
        == linpack_points(LINPACK, method="plain")
        == [(100, 200), (100, 201), (1000, 1001)]
    )
    assert linpack_points(LINPACK, method="lapack") == [(1000, 1001)]
    assert linpack_points(LINPACK, method="lapack", n=100) == [(100, 200), (100, 201)]
    assert linpack_points(LINPACK, method="plain", n=200) == [(200, 201)]
    assert linpack_points(LINPACK, method="plain", n=201) == [(201, 203)]


@pytest.mark.parametrize("benchmark", [LINPACK, FORTRAN])
def test_linpack_holds_its_matrix_twice_and_solves_it_twice_before_samples(benchmark: Benchmark) -> None:
    params: dict[str, int | str] = {"n": 100, "leading": 201, "method": "plain"}
    core = CoreRate(1, 64, 5e9)  # 1e10 flop/s
    assert benchmark.memory_bytes(params, placed(1)) == 2 * 8 * 100 * 201 + 2 * 8 * 100
    solved_s = (2 * 100**3 / 3 + 2 * 100**2) / (0.04 * 1e10)
    assert benchmark.setup_s(params, placed(1), core) == pytest.approx(0.02 + 2 * solved_s)
    assert benchmark.iteration_s(params, placed(1), core) == pytest.approx(solved_s)
