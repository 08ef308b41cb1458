"""pairs: every pair of the ranks meets in one of the rounds, and passes the right bytes."""

import itertools

import pytest
from tests.mpi_ranks import FIRST, PAIR, QUICK, build_with, run
from tests.native_programs import ProgramOutput

from assay.model.record import End, Header, Series
from assay.model.toolchain import Build

pytestmark = [pytest.mark.native, pytest.mark.parametrize("built", FIRST, indirect=True)]


@pytest.fixture
def built(request: pytest.FixtureRequest) -> Build:
    return build_with(request.param)


def met(header: Header) -> list[tuple[int, int]]:
    """The pairs of a round."""
    return list(header.mpi.pairs)


def by_case(result: ProgramOutput) -> list[tuple[Header, set[int]]]:
    """Each case with the ranks that it has series of."""
    found: list[tuple[Header, set[int]]] = []
    for record in result.records:
        if isinstance(record, Header):
            found.append((record, set()))
        elif isinstance(record, Series):
            found[-1][1].add(record.rank)
    return found


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_each_pair_meets_once_and_each_has_a_series_of_its_own(built: Build, ranks: int) -> None:
    rounds = ranks - 1 + ranks % 2
    words = [word for each in range(rounds) for word in ("--case", f"{each}", "--round", f"{each}")]
    result = run(built, "pairs", ranks, *QUICK, *words)
    assert result.exit_code == 0, result.words
    cases = by_case(result)
    pairs = [pair for header, _ in cases for pair in met(header)]
    assert sorted(pairs) == list(itertools.combinations(range(ranks), 2))
    for header, timing in cases:
        assert timing == {first for first, _ in met(header)}
        assert header.work == {"message": {"messages": 2, "bytes": 16, "one-way": 2}}


def test_every_pattern_and_schedule_passes_the_right_bytes(built: Build) -> None:
    wanted = list(itertools.product(PAIR, ("one", "all"), (0, 1000, 100_000)))
    words = [
        word
        for pattern, schedule, size in wanted
        for word in (
            *("--case", f"{pattern},{schedule},{size}"),
            *(f"--pattern={pattern}", f"--schedule={schedule}", f"--bytes={size}", "--window=4", "--round=2"),
        )
    ]
    result = run(built, "pairs", 4, *QUICK, *words)
    assert result.exit_code == 0, result.words
    assert result.ends == [End("complete")] * len(wanted)
    for header, timing in by_case(result):
        both = header.params["pattern"] == "bidirectional"
        assert timing == {rank for pair in met(header) for rank in (pair if both else pair[:1])}


@pytest.mark.parametrize(("ranks", "last"), [(2, 0), (3, 2)])
def test_a_round_that_there_is_not_is_refused(built: Build, ranks: int, last: int) -> None:
    result = run(built, "pairs", ranks, "--round", f"{last + 1}")
    assert result.exit_code == 2
    assert f"has rounds 0 to {last}" in result.words


def test_one_rank_makes_no_pair(built: Build) -> None:
    result = run(built, "pairs", 1)
    assert result.exit_code == 2
    assert "one rank alone is here" in result.words
