"""One-sided transfers: every operation in every synchronisation with each MPI, and what is refused."""

import pytest
from tests.mpi_ranks import KINDS, QUICK, build_with, run
from tests.native_programs import Told

from assay.model import benchmarks
from assay.model.record import End, Traffic

pytestmark = [pytest.mark.native, pytest.mark.parametrize("kind", KINDS)]

DECLARED = benchmarks.get("onesided")
OPERATIONS = ("put", "get", "accumulate")
SYNCHRONISATIONS = ("flush", "lock", "fence", "pscw")


def onesided(kind: str, *arguments: str, ranks: int = 2) -> Told:
    return run(build_with(kind), "onesided", ranks, *QUICK, *arguments)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("synchronisation", SYNCHRONISATIONS)
def test_what_is_transferred_to_and_fro_is_seen_and_right(kind: str, operation: str, synchronisation: str) -> None:
    told = onesided(kind, "--operation", operation, "--synchronisation", synchronisation, "--bytes", "4096")
    assert told.ends == [End("complete")], told.words
    assert {each.rank for each in told.series} == {0}
    alone = operation == "get" and synchronisation in {"flush", "lock"}
    assert told.header.work["transfer"] == {"bytes": 4096 if alone else 8192, "one-way": 1 if alone else 2}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("allocation", ["allocate", "create"])
def test_windows_of_transfers_arrive_in_slots_of_their_own(kind: str, operation: str, allocation: str) -> None:
    asked = ("--operation", operation, "--pattern", "bandwidth", "--window", "7", "--bytes", "1000")
    told = onesided(kind, *asked, "--allocation", allocation)
    assert told.ends == [End("complete")], told.words
    assert told.header.work["transfer"] == {"bytes": 7000}


@pytest.mark.parametrize("synchronisation", SYNCHRONISATIONS)
def test_every_synchronisation_ends_windows(kind: str, synchronisation: str) -> None:
    told = onesided(kind, "--pattern", "bandwidth", "--synchronisation", synchronisation, "--bytes", "0")
    assert told.ends == [End("complete")], told.words


def test_bytes_of_all_transfers_are_counted(kind: str) -> None:
    told = onesided(kind, "--pattern", "bandwidth", "--window", "10", "--bytes", "100")
    (traffic,) = [each for each in told.records if isinstance(each, Traffic)]
    assert traffic.payload % 1000 == 0
    assert traffic.payload >= 1000 * sum(len(each.seconds) * each.iterations for each in told.series)


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
    told = onesided(kind, *asked, ranks=ranks)
    assert told.exit_code == 2
    assert why in told.words
