"""himeno_mpi: one GOSA however the grid is dealt; copies pass no messages; what cannot be is refused."""

from pathlib import Path

import msgspec
import pytest
from tests import mpi_ranks
from tests.native_programs import ProgramOutput, start
from tests.planted_programs import planted

from assay.model.record import End, Series, Verdict
from assay.model.toolchain import Build
from assay.model.traffic import Traffic

pytestmark = pytest.mark.native

INNER = 30 * 30 * 62


@pytest.fixture(scope="module")
def built() -> Build:
    return mpi_ranks.build_with("openmpi")


def run(built: Build, ranks: int, *axes: str) -> ProgramOutput:
    return mpi_ranks.run(built, "himeno_mpi", ranks, *mpi_ranks.QUICK, "--size", "XS", *axes)


def verdict(result: ProgramOutput) -> Verdict:
    (only,) = (each for each in result.records if isinstance(each, Verdict))
    return only


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2), (1, 2, 2), (3, 2, 1), (2, 1, 3)])
def test_every_shape_gives_the_same_result(built: Build, shape: tuple[int, int, int]) -> None:
    i, j, k = shape
    result = run(built, i * j * k, "--i", str(i), "--j", str(j), "--k", str(k))
    mpi_ranks.complete(result, 1)
    assert result.header.facts["shape"] == f"{i} x {j} x {k}"
    assert result.header.work["jacobi"]["flops"] == 34 * INNER
    assert verdict(result).error < 2e-7


def test_ranks_with_threads_share_a_grid(built: Build) -> None:
    first, second = mpi_ranks.cpus(2)
    cpus = ("--cpus", f"{first},{second}/{first},{second}", "--expect-ranks", "2")
    command = [mpi_ranks.launcher(built), "-n", "2", built.programs["himeno_mpi"], *cpus, *mpi_ranks.QUICK]
    result = start(*command, "--size", "XS", environment=mpi_ranks.environment())
    mpi_ranks.complete(result, 1)
    assert verdict(result).error < 2e-7


def test_copies_do_as_many_times_the_work_and_pass_no_messages(built: Build) -> None:
    result = run(built, 2, "--coupling", "independent")
    mpi_ranks.complete(result, 1)
    assert result.header.work["jacobi"]["flops"] == 2 * 34 * INNER
    assert result.header.facts["shape"] == "1 x 1 x 1"
    (alone,) = (each for each in result.records if isinstance(each, Traffic))
    both = run(built, 2)
    (together,) = (each for each in both.records if isinstance(each, Traffic))
    assert alone.payload == 0 < together.payload
    # The library that is linked in counts the same of the samples: planes that are not in one piece, to one side.
    series = [each for each in both.records if isinstance(each, Series) and each.phase == "measured"]
    steps = series[0].iterations * len(series[0].seconds)
    sent = sum(rank.mpi.calls["MPI_Startall"].bytes for rank in both.header.ranks if rank.mpi)
    assert sent % steps == 0
    assert together.payload % (sent / steps) == 0


def test_a_grid_that_cannot_be_dealt_so_is_refused(built: Build) -> None:
    result = run(built, 2, "--i", "1", "--j", "1", "--k", "4")
    assert result.exit_code != 0
    assert "cannot be dealt to 2 ranks" in result.words


def test_a_message_that_is_missing_is_a_failed_verdict(built: Build, near_path: Path) -> None:
    faults = (("            halo_->exchange();\n", ""),)
    (program,) = planted(built.toolchain, near_path, "himeno_mpi", faults)
    faulty = msgspec.structs.replace(built, programs={"himeno_mpi": program})
    result = run(faulty, 2)
    assert result.exit_code == 1
    assert result.ends == [End("failed", "the results are wrong")]
    assert verdict(result).error > 2 * verdict(result).tolerance
