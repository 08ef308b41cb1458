"""One-sided transfers: every operation in every synchronisation with each MPI, and what is refused."""

from collections.abc import Mapping, Sequence
from itertools import product

import pytest
from tests.mpi_ranks import KINDS, QUICK, Axes, build_with, cases, complete, run
from tests.native_programs import ProgramOutput

from assay.catalogue import benchmarks
from assay.model.record import Header
from assay.model.traffic import Traffic

pytestmark = [pytest.mark.native, pytest.mark.parametrize("kind", KINDS)]

DECLARED = benchmarks.get("onesided")
OPERATIONS = ("put", "get", "accumulate")
SYNCHRONISATIONS = ("flush", "lock", "fence", "pscw")


def onesided(kind: str, *arguments: str, ranks: int = 2) -> ProgramOutput:
    return run(build_with(kind), "onesided", ranks, *QUICK, *arguments)


def works(kind: str, wanted: Sequence[Axes]) -> list[Mapping[str, float]]:
    """What each case of one launch transfers; all are complete."""
    result = onesided(kind, *cases(*wanted))
    complete(result, len(wanted))
    assert {each.rank for each in result.series} == {0}
    return [each.work["transfer"] for each in result.records if isinstance(each, Header)]


def test_what_is_transferred_to_and_fro_is_seen_and_right(kind: str) -> None:
    both = [*product(OPERATIONS, SYNCHRONISATIONS)]
    found = works(kind, [{"operation": one, "synchronisation": other, "bytes": 4096} for one, other in both])
    alone = [one == "get" and other in {"flush", "lock"} for one, other in both]
    assert found == [{"bytes": 4096 if each else 8192, "one-way": 1 if each else 2} for each in alone]


def test_windows_of_transfers_arrive_in_slots_of_their_own(kind: str) -> None:
    asked: Axes = {"pattern": "bandwidth", "window": 7, "bytes": 1000}
    both = product(OPERATIONS, ("allocate", "create"))
    found = works(kind, [{**asked, "operation": one, "allocation": other} for one, other in both])
    assert found == [{"bytes": 7000}] * 6


def test_every_synchronisation_ends_windows(kind: str) -> None:
    works(kind, [{"pattern": "bandwidth", "synchronisation": each, "bytes": 0} for each in SYNCHRONISATIONS])


def test_bytes_of_all_transfers_are_counted(kind: str) -> None:
    result = onesided(kind, "--pattern", "bandwidth", "--window", "10", "--bytes", "100")
    (traffic,) = [each for each in result.records if isinstance(each, Traffic)]
    assert traffic.payload % 1000 == 0
    assert traffic.payload >= 1000 * sum(len(each.seconds) * each.iterations for each in result.series)


@pytest.mark.parametrize(
    ("ranks", "asked", "why"),
    [
        (3, (), "measured between two"),
        (2, ("--operation", "accumulate", "--bytes", "12"), "adds doubles of 8 B"),
        (2, ("--bytes", "3000000000"), "an MPI count ends at"),
    ],
)
def test_what_means_nothing_is_refused_and_says_why(
    kind: str, ranks: int, asked: tuple[str, ...], why: str
) -> None:
    result = onesided(kind, *asked, ranks=ranks)
    assert result.exit_code == 2
    assert why in result.words
