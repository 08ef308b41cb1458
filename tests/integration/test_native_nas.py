"""The NAS kernels as they are started: every problem verifies on any number of ranks, and what is refused."""

import math

import pytest
from tests import mpi_ranks
from tests.native_programs import ProgramOutput, start

from assay.model.record import FigureOfMerit, Header, Verdict
from assay.model.toolchain import Build
from assay.model.traffic import Traffic
from assay.topics.kernels.sizes import PROBLEMS, demand, passed

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def built() -> Build:
    return mpi_ranks.build_with("openmpi")


def run(built: Build, ranks: int, size: str, *problems: str) -> ProgramOutput:
    """One solution of each problem, all in one launch."""
    cases = mpi_ranks.cases(*({"npb": each, "npb-class": size} for each in problems))
    return mpi_ranks.run(built, "nas", ranks, "--seconds", "0.000001", *cases)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_every_problem_meets_its_published_values_on_any_number_of_ranks(built: Build, ranks: int) -> None:
    result = run(built, ranks, "S", *PROBLEMS)
    mpi_ranks.complete(result, len(PROBLEMS))
    verdicts = [each for each in result.records if isinstance(each, Verdict)]
    assert all(each.passed and each.error <= each.tolerance <= 1e-8 for each in verdicts)
    figures = [each for each in result.records if isinstance(each, FigureOfMerit)]
    assert len(verdicts) == len(figures) == len(PROBLEMS)
    for problem, figure in zip(PROBLEMS, figures, strict=True):
        assert figure.seconds
        assert figure.unit == "op/s"
        assert figure.value * figure.seconds == pytest.approx(demand(problem, "S").operations, rel=1e-12)
        assert set(figure.phases) == ({"computation", "messages"} if ranks > 1 else {"computation"})
        assert math.fsum(figure.phases.values()) == pytest.approx(figure.seconds)


def test_class_w_meets_its_published_values(built: Build) -> None:
    mpi_ranks.complete(run(built, 2, "W", *PROBLEMS), len(PROBLEMS))


def test_what_a_program_counts_is_what_is_declared(built: Build) -> None:
    headers = [each for each in run(built, 1, "S", *PROBLEMS).records if isinstance(each, Header)]
    for problem, header in zip(PROBLEMS, headers, strict=True):
        work, need = header.work["rate"], demand(problem, "S")
        assert work["flops"] == pytest.approx(need.flops_per_operation)
        assert work["traffic_bytes"] * need.operations == pytest.approx(need.traffic_bytes)


def test_what_ranks_send_is_counted_once(built: Build) -> None:
    result = run(built, 2, "S", "is", "cg", "ft")
    sent = [each.payload for each in result.records if isinstance(each, Traffic)]
    # Half of the keys ten times; a vector in each of 26 products of 15 iterations; half of the points seven times.
    expected = [10 * 4 * 2**16 / 2, 15 * 26 * 8 * 1400, 7 * 16 * 64**3 / 2]
    assert sent == pytest.approx(expected, rel=0.05)


def test_what_is_foreseen_of_messages_is_what_ranks_are_counted_to_send(built: Build) -> None:
    result = run(built, 2, "S", "ep", "cg", "mg")
    headers = [each for each in result.records if isinstance(each, Header)]
    for problem, header in zip(("ep", "cg", "mg"), headers, strict=True):
        foreseen = sum(each.number * each.bytes for each in passed(problem, "S", 2) or ())
        for rank in header.ranks:
            assert rank.mpi
            sent = sum(call.bytes for call in rank.mpi.calls.values())
            assert sent == pytest.approx(foreseen, rel=0.01, abs=1000)


def test_independent_ranks_solve_a_problem_each_without_messages(built: Build) -> None:
    cases = mpi_ranks.cases(*({"npb": each, "npb-class": "S", "coupling": "independent"} for each in PROBLEMS))
    result = mpi_ranks.run(built, "nas", 2, "--seconds", "0.000001", *cases)
    mpi_ranks.complete(result, len(PROBLEMS))
    figures = [each for each in result.records if isinstance(each, FigureOfMerit)]
    for problem, figure in zip(PROBLEMS, figures, strict=True):
        assert figure.seconds
        assert figure.value * figure.seconds == pytest.approx(2 * demand(problem, "S").operations, rel=1e-12)
        assert set(figure.phases) == {"computation"}
    assert not any(each.payload for each in result.records if isinstance(each, Traffic))


def test_one_process_needs_no_launcher(built: Build) -> None:
    words = ("--npb", "mg", "--seconds", "0.01")
    mpi_ranks.complete(start(built.programs["nas"], *words, environment=mpi_ranks.environment()), 1)


def test_ranks_without_work_are_refused(built: Build) -> None:
    result = run(built, 33, "W", "ft")
    assert result.exit_code != 0
    assert "ft, class W, has no work for 33 ranks" in result.words
