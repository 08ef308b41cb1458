"""HPCG: its boxes and counts, its figures and parts, and what the report says; all simulated."""

from pathlib import Path

import pytest
from tests.simulation import TWO_CORES, described, plan_for, simulated_run

from assay import store
from assay.analyse import analyse
from assay.catalogue import benchmarks
from assay.model.benchmark import Resources
from assay.model.placement import Memory, Placement
from assay.model.plan import Measure, Study
from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.report.section import Section
from assay.report.sections import sections
from assay.simulation import Fault, Law
from assay.topics.kernels.benchmarks.hpcg import benchmark, counts, operations
from assay.topics.kernels.grid import grid_of

HPCG = benchmarks.get("hpcg")
PLACED = Placement("one-core", "", (0,), Memory(), ("n1",))


def study(*placements: str, **axes: object) -> Study:
    measure = Measure("hpcg", placements or ("all",), axes=axes)  # type: ignore[arg-type]
    return Study("Gradients", "How fast?", (measure,), launches=6)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return store.load(simulated_run(tmp_path_factory.mktemp("hpcg"), Law(), study="hpcg"))


@pytest.fixture(scope="module")
def analysis(run: Run) -> Analysis:
    return analyse(run)


def estimates(analysis: Analysis, metric: str) -> dict[int, Estimate]:
    found = [each for each in analysis.estimates if each.benchmark == "hpcg" and each.metric == metric]
    return {int(each.params["n"]): each for each in found}


def section(run: Run, analysis: Analysis) -> Section:
    return next(each for each in sections(run, analysis) if each.id == "hpcg")


@pytest.mark.parametrize(
    ("ranks", "grid"),
    [(1, (1, 1, 1)), (2, (1, 1, 2)), (8, (2, 2, 2)), (12, (2, 2, 3)), (7, (1, 1, 7)), (360, (5, 8, 9))],
)
def test_the_grid_of_known_numbers_of_ranks(ranks: int, grid: tuple[int, int, int]) -> None:
    assert grid_of(ranks) == grid


def test_ranks_along_each_direction_are_as_close_to_each_other_as_mpi_dims_create_sets_them() -> None:
    """MPI 4.1, 8.5.2: the dimensions are set to be as close to each other as possible."""
    for ranks in range(1, 513):
        every = [
            (x, y, ranks // (x * y))
            for x in range(1, ranks + 1)
            if ranks % x == 0
            for y in range(1, ranks // x + 1)
            if ranks // x % y == 0
        ]
        grid = grid_of(ranks)
        assert grid in every
        assert max(grid) - min(grid) == min(max(each) - min(each) for each in every)


def test_operations_are_those_that_the_reference_counts() -> None:
    """HPCG 3.1 with one rank and 16 points along an edge, 50 iterations: worked out from its ReportResults."""
    entries, coarse = 46**3, 22**3 + 10**3
    counted = counts(1, 16, 50)
    assert counted["ddot"].flops == counted["waxpby"].flops == (3 * 50 + 1) * 2 * 4096
    assert counted["spmv"].flops == (50 + 1) * 2 * entries
    assert counted["mg"].flops == 50 * (2 * 4 + 2) * (entries + coarse) + 50 * 4 * 4**3
    assert operations(1, 16, 50) == sum(each.flops for each in counted.values())
    flops, moved = (sum(each) for each in zip(*counts(8, 64, 50).values(), strict=True))
    assert 5.5 < moved / flops < 6.5


def test_boxes_go_as_far_as_memory_and_patience() -> None:
    placement = Placement("all", "all", (0, 1), Memory(), ("n1",), ((0,), (1,)))

    def edges(memory: int, params: dict[str, int]) -> list[tuple[int, int]]:
        points = HPCG.points(Resources(placement, described().topology, memory), params)
        return [(int(each["n"]), int(each["cg-iterations"])) for each in points]

    assert edges(10**6, {}) == []
    assert [edge for edge, _ in edges(4 * 10**8, {})] == [32, 64]
    assert [edge for edge, _ in edges(10**12, {})] == [32, 64, 128]
    assert all(5 <= iterations <= 50 for _, iterations in edges(10**12, {}))
    assert edges(10**12, {"n": 16}) == [(16, 50)]


def test_a_box_too_large_is_left_out_with_what_it_needs() -> None:
    plan = plan_for(TWO_CORES, study(n=(32, 512)))
    assert [int(case.params["n"]) for case in plan.cases if case.role == "measure"] == [32]
    (left,) = plan.left_out
    assert (left.request, left.instead) == ("hpcg at all, n=512", "n=128")
    assert "GiB" in left.reason


def test_a_rate_stands_against_what_memory_allows(analysis: Analysis) -> None:
    rates, traffics = estimates(analysis, "rate"), estimates(analysis, "traffic")
    assert len(rates) > 1
    largest = max(rates)
    rate, traffic = rates[largest], traffics[largest]
    assert rate.launches == 6
    assert rate.basis == "interval"
    assert rate.median
    assert traffic.median
    assert rate.limit
    assert traffic.limit
    assert 0.5 < rate.median / rate.limit.value < 1
    assert rate.median / rate.limit.value == pytest.approx(traffic.median / traffic.limit.value)


def test_without_a_program_that_measures_memory_nothing_is_a_limit(tmp_path: Path) -> None:
    alone = analyse(store.load(simulated_run(tmp_path, Law(), study=study(n=64))))
    found = [each for each in alone.estimates if each.metric in {"rate", "traffic"} and each.benchmark == "hpcg"]
    assert len(found) == 2
    assert all(each.value and each.limit is None and each.exceeds is None for each in found)


def test_ranks_of_a_host_share_its_caches(tmp_path: Path) -> None:
    """A box of 17 MB lies in 32 MB of cache; four of them do not, and stand against what memory moves."""
    four = "pack:1 numa:1(memory=8GB) l3:1(size=32MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
    boxes = Measure("hpcg", ("one-core", "all"), axes={"n": 32})
    wanted = Study("Caches", "Do they hold it?", (boxes, Measure("stream", ("one-core", "all"))), launches=2)
    found = analyse(store.load(simulated_run(tmp_path, Law(), description=four, study=wanted)))
    of_boxes = (each for each in found.estimates if (each.benchmark, each.metric) == ("hpcg", "traffic"))
    traffic = {each.placement.label: each for each in of_boxes}
    assert 4 * HPCG.memory_bytes({"n": 32}, PLACED) > 32 * 2**20 > HPCG.memory_bytes({"n": 32}, PLACED)
    assert traffic["one-core"].limit is None
    assert traffic["all"].limit
    assert traffic["all"].limit.source == "simulated"


def test_parts_add_up_to_the_time_of_a_solution(analysis: Analysis) -> None:
    for edge, rate in estimates(analysis, "rate").items():
        parts = [
            each for each in analysis.estimates if each.case == rate.case and each.kernel in benchmark.kernels[1:]
        ]
        assert {each.kernel for each in parts if each.median} == set(benchmark.kernels[1:])
        assert rate.median
        whole = operations(2, edge, int(rate.params["cg-iterations"])) / rate.median
        assert sum(each.median or 0.0 for each in parts) == pytest.approx(whole, rel=0.02)


def test_the_section_shows_each_part_and_says_that_it_is_not_official(run: Run, analysis: Analysis) -> None:
    found = section(run, analysis)
    assert {each.id for each in found.figures} == {"figure-hpcg", "figure-hpcg-phases"}
    assert "This is not an official result of HPCG." in " ".join(found.meaning)
    solutions, parts = found.tables
    assert "Of limit" in solutions.columns
    named = [dict(zip(parts.columns, row, strict=True)) for row in parts.rows]
    assert [each["Part"] for each in named] == [
        "multigrid",
        "matrix product",
        "sums",
        "vector updates",
        "exchange",
    ]
    assert named[0]["Operations"].endswith("FLOP/s")
    assert named[-1]["Operations"] == named[-1]["Traffic"] == ""


def test_a_single_rank_exchanges_nothing(tmp_path: Path) -> None:
    one = store.load(simulated_run(tmp_path, Law(), study=study("one-core", n=32)))
    kernels = {each.kernel for each in analyse(one).estimates if each.value}
    assert "exchange" not in kernels
    assert {"rate", "mg", "spmv"} <= kernels


def test_a_failed_check_yields_no_figure(tmp_path: Path) -> None:
    law = Law(faults=(Fault("wrong-result"),))
    wrong = store.load(simulated_run(tmp_path, law, study=study(n=32)))
    assert any("wrong result" in str(each) for each in analyse(wrong).outcomes)
