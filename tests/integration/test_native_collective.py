"""Collective operations: each with each MPI among 2, 3 and 4 ranks, whose time it is, and what they refuse."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from tests.mpi_ranks import FIRST, KINDS, QUICK, Axes, build_with, cases, complete, run
from tests.native_programs import ProgramOutput
from tests.planted_programs import compiled, copied

from assay.catalogue import benchmarks
from assay.model.record import Series, Verdict
from assay.model.traffic import Traffic

pytestmark = pytest.mark.native

DECLARED = benchmarks.get("collective")
OPERATIONS = next([*map(str, axis.values)] for axis in DECLARED.axes if axis.name == "operation")
ROOTED = {"bcast", "reduce", "gather", "scatter"}
#: What is written once among the calls, and a slip there.
FAULTS = (
    ("MPI_Iallreduce, sent, received, doubles_,", "MPI_Iallreduce, sent, received, doubles_ - 1,"),
    ("MPI_Igather, sent, bytes_, MPI_BYTE,", "MPI_Igather, received, bytes_, MPI_BYTE,"),
    ("MPI_Ibcast, root_ == ranks_.rank() ? sent : received,", "MPI_Ibcast, received,"),
)


def collective(kind: str, ranks: int, *arguments: str) -> ProgramOutput:
    return run(build_with(kind), "collective", ranks, *QUICK, *arguments)


def measured(result: ProgramOutput, kernel: str) -> list[Series]:
    return [each for each in result.series if (each.kernel, each.phase) == (kernel, "measured")]


def all_complete(kind: str, ranks: int, wanted: Sequence[Axes]) -> ProgramOutput:
    """Cases of one launch: a launcher takes far longer than they do. Few samples: ranks that share a core wait."""
    result = collective(kind, ranks, "--seconds", "0.001", "--max-samples", "2", *cases(*wanted))
    complete(result, len(wanted))
    return result


@pytest.mark.parametrize("kind", KINDS)
def test_every_operation_is_right_among_three_ranks(kind: str) -> None:
    result = all_complete(kind, 3, [{"operation": operation, "bytes": 4000} for operation in OPERATIONS])
    assert [each.rank for each in measured(result, "slowest")] == [0, 1, 2] * len(OPERATIONS)
    assert [each.rank for each in measured(result, "own")] == [0, 1, 2] * len(OPERATIONS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_operation_can_be_begun_and_waited_for(kind: str) -> None:
    roots = {each: "rotating" if each in ROOTED else "fixed" for each in OPERATIONS if each != "dissemination"}
    wanted: list[Axes] = [
        {"operation": each, "calls": "nonblocking", "root": root} for each, root in roots.items()
    ]
    all_complete(kind, 2, wanted)


@pytest.mark.parametrize("kind", FIRST)
def test_more_ranks_than_cores_end_at_any_size(kind: str) -> None:
    operations = ("allreduce", "alltoall", "bcast", "reduce-scatter")
    all_complete(kind, 4, [{"operation": each, "bytes": size} for each in operations for size in (0, 8, 65536)])


@pytest.mark.parametrize("kind", KINDS)
def test_the_slowest_of_each_repetition_is_known_to_all_and_own_times_are_their_own(kind: str) -> None:
    result = collective(kind, 2, "--operation", "bcast", "--bytes", "65536")
    one, other = (each.seconds for each in measured(result, "slowest"))
    assert one == other
    root, receiver = (each.seconds for each in measured(result, "own"))
    assert root != receiver


@pytest.mark.parametrize("kind", KINDS)
def test_the_least_that_must_be_sent_is_what_the_traffic_is_held_against(kind: str) -> None:
    result = collective(kind, 2, "--operation", "allgather", "--bytes", "1000", "--root", "fixed")
    (traffic,) = [each for each in result.records if isinstance(each, Traffic)]
    assert traffic.payload % 2000 == 0
    assert traffic.payload >= 2000 * sum(len(each.seconds) * each.iterations for each in result.series) / 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("--operation", "allreduce", "--bytes", "12"), "adds doubles of 8 B"),
        (("--operation", "barrier", "--root", "rotating"), "it has no root"),
        (("--operation", "dissemination", "--calls", "nonblocking"), "which blocks"),
        (("--operation", "bcast", "--bytes", "3000000000"), "an MPI count ends at"),
    ],
)
def test_what_means_nothing_is_refused_and_says_why(asked: tuple[str, ...], message: str) -> None:
    refused = collective("openmpi", 2, *asked)
    assert refused.exit_code == 2
    assert message in refused.words


def test_a_call_that_loses_an_element_or_takes_the_wrong_root_fails_its_verdict(near_path: Path) -> None:
    build = build_with("openmpi")
    native = copied(near_path, "collective")
    calls = native / "benchmarks" / "collectives" / "collective_calls.hpp"
    text = calls.read_text()
    for right, wrong in FAULTS:
        assert text.count(right) == 1, right
        text = text.replace(right, wrong)
    calls.write_text(text)
    programs = {"collective": str(compiled(native, build.toolchain) / "collective")}
    spoilt = msgspec.structs.replace(build, programs=programs)
    for operation in ("allreduce", "gather", "bcast"):
        result = run(spoilt, "collective", 2, *QUICK, "--operation", operation)
        assert result.exit_code == 1
        assert [each.passed for each in result.records if isinstance(each, Verdict)] == [False], operation
