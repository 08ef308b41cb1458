"""Nonblocking operations beside computing: each with each MPI, right and in three kernels."""

import pytest
from tests.mpi_ranks import FIRST, Axes, build_with, cases, complete, run

from assay.catalogue import benchmarks
from assay.model.record import End

pytestmark = [pytest.mark.native, pytest.mark.parametrize("kind", FIRST)]

DECLARED = benchmarks.get("overlap")
OPERATIONS = next(axis.values for axis in DECLARED.axes if axis.name == "operation")
SHORT = ("--seconds", "0.03", "--max-samples", "10")


def test_every_operation_is_right_alone_and_beside_computing(kind: str) -> None:
    wanted: list[Axes] = [{"operation": str(operation), "bytes": 4096} for operation in OPERATIONS]
    result = run(build_with(kind), "overlap", 2, *SHORT, *cases(*wanted))
    complete(result, len(OPERATIONS))
    assert [each.kernel for each in result.series if each.phase == "measured"].count(DECLARED.kernels[0])
    assert all(seconds >= 0 for each in result.series for seconds in each.seconds)


@pytest.mark.parametrize(("ranks", "tests"), [(2, 100), (3, 10), (4, 0)])
def test_calls_of_test_between_steps_and_more_ranks_than_cores_do_no_harm(
    kind: str, ranks: int, tests: int
) -> None:
    result = run(build_with(kind), "overlap", ranks, *SHORT, "--bytes", "8192", "--tests", str(tests))
    assert result.ends == [End("complete")], result.words
