"""The weather's program as it is started: ranks and threads, its checks, its counts, and what it refuses."""

from pathlib import Path

import msgspec
import pytest
from tests import mpi_ranks
from tests.native_programs import ProgramOutput, start
from tests.planted_programs import planted

from assay.model.placement import Memory, Placement
from assay.model.rank import MpiCall
from assay.model.record import End, FigureOfMerit, Verdict
from assay.model.toolchain import Build
from assay.model.traffic import Traffic
from assay.topics.stencil.benchmarks.weather import (
    EXCHANGES,
    ROW_BYTES,
    benchmark,
    cells,
)

pytestmark = pytest.mark.native

_SMALL = ("--nx", "100", "--time-steps", "12", "--seconds", "0.05", "--max-samples", "3")


@pytest.fixture(scope="module")
def built() -> Build:
    return mpi_ranks.build_with("openmpi")


def verdict(result: ProgramOutput) -> Verdict:
    (only,) = (each for each in result.records if isinstance(each, Verdict))
    return only


def figures(result: ProgramOutput) -> list[FigureOfMerit]:
    return [each for each in result.records if isinstance(each, FigureOfMerit)]


@pytest.mark.parametrize("ranks", [1, 2, 3, 6])
def test_a_solution_is_right_and_counted_with_every_number_of_ranks(built: Build, ranks: int) -> None:
    result = mpi_ranks.run(built, "weather", ranks, *_SMALL)
    mpi_ranks.complete(result, 1)
    assert result.header.facts["plane"] == "100 x 50"
    assert verdict(result).passed
    assert 0 < verdict(result).error <= verdict(result).tolerance == 1
    assert figures(result)
    for figure in figures(result):
        assert figure.seconds
        assert figure.value == pytest.approx(12 * cells(100) / figure.seconds)
        assert set(figure.phases) == set(benchmark.kernels[1:]) - ({"halo"} if ranks == 1 else set())
    work = {"updates": 1, "flops": 540, "traffic_bytes": 640, "steps": 1 / cells(100)}
    assert result.header.work["rate"] == pytest.approx(work)


def test_the_published_test_of_400_seconds_passes(built: Build) -> None:
    result = mpi_ranks.run(built, "weather", 1, "--nx", "100", "--time-steps", "600", "--seconds", "0.01")
    mpi_ranks.complete(result, 1)
    assert float(result.header.facts["simulated"].split()[0]) == pytest.approx(400)
    assert 0 < verdict(result).error < 1


def test_a_rank_with_two_cores_works_with_two_threads(built: Build) -> None:
    first, second = mpi_ranks.cpus(2)
    placed = ("--cpus", f"{first},{second}", *_SMALL, "--tile", "24")
    result = start(built.programs["weather"], *placed, environment=mpi_ranks.environment())
    mpi_ranks.complete(result, 1)
    assert sorted(result.header.ranks[0].cpus) == sorted((first, second))


def calls(result: ProgramOutput) -> list[dict[str, MpiCall]]:
    """Those of each rank while solutions that count were made."""
    counted = [rank.mpi for rank in result.header.ranks if rank.mpi]
    assert len(counted) == len(result.header.ranks)
    assert all(0 < each.inside < each.seconds for each in counted)
    return [each.calls for each in counted]


@pytest.mark.parametrize("kind", mpi_ranks.FIRST)
def test_neighbours_pass_what_is_counted_and_copies_nothing(kind: str) -> None:
    built = mpi_ranks.build_with(kind)
    together, alone = (
        mpi_ranks.run(built, "weather", 2, *_SMALL, "--coupling", word) for word in ("sharing", "uncoupled")
    )
    mpi_ranks.complete(alone, 1)
    (passed,) = (each.payload for each in together.records if isinstance(each, Traffic))
    (none,) = (each.payload for each in alone.records if isinstance(each, Traffic))
    of_step = 2 * 2 * EXCHANGES * ROW_BYTES * 50
    two = Placement("2x1", "", (0, 1), Memory(), ("here",), ranks=((0,), (1,)))
    foreseen = benchmark.growth.exchange({"nx": 100, "coupling": "sharing"}, two)
    assert foreseen
    assert 2 * sum(each.number * each.bytes for each in foreseen.messages) == of_step
    checked = 2
    assert passed == of_step * (12 * len(figures(together)) + checked)
    assert none == 0
    steps = 12 * sum(not each.warmup for each in figures(together))
    for rank in calls(together):
        started = rank["MPI_Startall"]
        assert started.bytes * 2 == of_step * steps
        assert sum(started.sizes.values()) == 2 * EXCHANGES * steps
    assert all("MPI_Startall" not in rank or not rank["MPI_Startall"].bytes for rank in calls(alone))
    assert alone.header.work["rate"]["steps"] == pytest.approx(1 / cells(100))
    for figure in figures(alone):
        assert figure.seconds
        assert figure.value == pytest.approx(12 * cells(100) / figure.seconds)
        assert "halo" not in figure.phases


@pytest.mark.parametrize(("ranks", "columns"), [(1, 101), (1, 6), (3, 16), (1, 2**21)])
def test_a_plane_that_cannot_be_worked_on_is_refused(built: Build, ranks: int, columns: int) -> None:
    result = mpi_ranks.run(built, "weather", ranks, "--nx", str(columns))
    assert result.exit_code == 2
    assert f"a plane of {columns} cells along x cannot be worked on" in result.words


def test_columns_that_nobody_passes_are_a_failed_verdict(built: Build, near_path: Path) -> None:
    faults = (("air_.connect(all());", "air_.connect(MPI_COMM_SELF);"),)
    (program,) = planted(built.toolchain, near_path, "weather", faults)
    result = mpi_ranks.run(msgspec.structs.replace(built, programs={"weather": program}), "weather", 2, *_SMALL)
    assert result.exit_code == 1
    assert result.ends == [End("failed", "the results are wrong")]
    assert verdict(result).error > 2 * verdict(result).tolerance
