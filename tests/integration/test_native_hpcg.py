"""HPCG's program as it is started: ranks and threads, its checks, its counts, and what it refuses."""

from pathlib import Path

import pytest
from tests import mpi_ranks
from tests.native_programs import ProgramOutput, start
from tests.planted_programs import planted

from assay.model.record import FigureOfMerit, Verdict
from assay.model.toolchain import Build
from assay.topics.kernels.benchmarks.hpcg import benchmark, counts, operations
from assay.topics.kernels.grid import grid_of

pytestmark = pytest.mark.native

_SMALL = ("--n", "16", "--cg-iterations", "10", "--seconds", "0.05")


@pytest.fixture(scope="module")
def built() -> Build:
    return mpi_ranks.build_with("openmpi")


def verdict(result: ProgramOutput) -> Verdict:
    (only,) = (each for each in result.records if isinstance(each, Verdict))
    return only


@pytest.mark.parametrize("ranks", [1, 2, 4, 6])
def test_a_solution_is_right_and_counted_with_every_number_of_ranks(built: Build, ranks: int) -> None:
    result = mpi_ranks.run(built, "hpcg", ranks, *_SMALL)
    mpi_ranks.complete(result, 1)
    assert result.header.facts["grid"] == " x ".join(map(str, grid_of(ranks)))
    assert verdict(result).passed
    assert 0 < verdict(result).error <= verdict(result).tolerance == 1
    figures = [each for each in result.records if isinstance(each, FigureOfMerit)]
    assert figures
    for figure in figures:
        assert figure.seconds
        assert figure.value == pytest.approx(operations(ranks, 16, 10) / figure.seconds)
        assert set(figure.phases) == set(benchmark.kernels[1:]) - ({"exchange"} if ranks == 1 else set())
    counted = counts(ranks, 16, 10)
    moved = sum(each.bytes for each in counted.values()) / sum(each.flops for each in counted.values())
    assert result.header.work["rate"] == pytest.approx({"solution": 1, "bytes": moved})


def test_a_rank_with_two_cores_works_with_two_threads(built: Build) -> None:
    first, second = mpi_ranks.cpus(2)
    placed = ("--cpus", f"{first},{second}", *_SMALL)
    result = start(built.programs["hpcg"], *placed, environment=mpi_ranks.environment())
    mpi_ranks.complete(result, 1)
    assert sorted(result.header.ranks[0].cpus) == sorted((first, second))


@pytest.mark.parametrize("edge", ["20", "8", "1032"])
def test_a_box_that_cannot_be_halved_three_times_is_refused(built: Build, edge: str) -> None:
    result = mpi_ranks.run(built, "hpcg", 1, "--n", edge)
    assert result.exit_code == 2
    assert f"a box of {edge} points along each edge cannot be solved" in result.words


def test_a_box_too_large_is_refused_with_its_size(built: Build) -> None:
    result = mpi_ranks.run(built, "hpcg", 1, "--n", "1024")
    assert result.exit_code != 0
    assert "more memory than may be used" in result.words


def test_a_wrong_solution_is_a_failed_verdict(built: Build, near_path: Path) -> None:
    faults = (
        ("solver_.solve({iterations_});", "solver_.solve({iterations_, 0, false});"),
        ("solver_.write();", "solver_.write(); solver_.finest().scale(77, 1.001);"),
    )
    for program in planted(built.toolchain, near_path, "hpcg", faults):
        result = start(program, *_SMALL, environment=mpi_ranks.environment())
        assert result.exit_code == 1, program
        assert not verdict(result).passed
        assert [each.status for each in result.ends] == ["failed"]
