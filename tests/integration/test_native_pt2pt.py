"""pt2pt: every pattern and kind of call passes the right bytes, and counts them."""

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from pathlib import Path

import pytest
from tests.mpi_ranks import (
    COUNTED,
    KINDS,
    MULTI,
    PAIR,
    QUICK,
    Axes,
    build_with,
    cases,
    complete,
    counted,
    environment,
    launcher,
    run,
)
from tests.native_programs import start

from assay.model.record import Header
from assay.model.toolchain import Build
from assay.model.traffic import Traffic

pytestmark = [pytest.mark.native, pytest.mark.parametrize("built", KINDS, indirect=True)]


@pytest.fixture
def built(request: pytest.FixtureRequest) -> Build:
    return build_with(request.param)


def batches(words: Sequence[Axes], size: int = 60) -> Iterator[Sequence[Axes]]:
    """Cases of one launch after the other."""
    yield from (words[first : first + size] for first in range(0, len(words), size))


def sensible(axes: Axes) -> bool:
    both_ways = axes["pattern"] == "bidirectional"
    return (both_ways and axes["calls"] == "blocking") == (axes["exchange"] == "combined")


def test_every_pattern_call_source_and_buffer_passes_the_right_bytes(built: Build) -> None:
    names = ("pattern", "calls", "exchange", "source", "buffers")
    values = (
        (*PAIR, *MULTI),
        ("nonblocking", "blocking", "persistent", "synchronous"),
        ("separate", "combined"),
        ("named", "any"),
        ("hot", "rotating"),
    )
    wanted: list[Axes] = [
        {**axes, "bytes": 1000, "window": 5}
        for axes in (dict(zip(names, each, strict=True)) for each in product(*values))
        if sensible(axes)
    ]
    for batch in batches(wanted):
        complete(run(built, "pt2pt", 2, *QUICK, *cases(*batch)), len(batch))


def test_every_size_from_nothing_to_beyond_the_eager_limits_arrives(built: Build) -> None:
    wanted = [
        {"pattern": pattern, "bytes": size, "window": 4}
        for pattern in PAIR
        for size in (0, 1, 7, 64, 4096, 65536, 300_000, 4_194_304)
    ]
    result = run(built, "pt2pt", 2, *QUICK, *cases(*wanted))
    complete(result, len(wanted))


def test_layouts_offsets_alignments_and_cold_pools_are_right(built: Build) -> None:
    wanted: list[Axes] = [
        *({"datatype": kind, "bytes": size} for kind in ("vector", "indexed") for size in (0, 4, 8, 65536)),
        *({"bytes": size, "offset": offset} for size in (1, 4096) for offset in (-3, 3)),
        *({"bytes": 100, "alignment": alignment, "buffers": "rotating"} for alignment in (1, 8, 4096)),
        *({"buffers": "cold", "pool": "1M", "bytes": size, "pattern": "bandwidth"} for size in (8, 3000)),
        {"buffers": "cold", "pool": 1, "bytes": 3000},
    ]
    result = run(built, "pt2pt", 2, *QUICK, *cases(*wanted))
    complete(result, len(wanted))


@pytest.mark.parametrize(("pattern", "ranks", "work"), COUNTED)
def test_messages_of_all_pairs_and_both_directions_are_counted(
    built: Build, pattern: str, ranks: int, work: dict[str, float]
) -> None:
    assert counted(built, "pt2pt", pattern, ranks, work).seconds > 0


def test_threads_pass_messages_at_once_each_on_a_cpu_of_its_own(built: Build) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2 or not built.openmp:
        pytest.skip("this machine or its compiler has no second thread")
    both = f"{allowed[0]},{allowed[1]}"
    words = [launcher(built), "-n", "2", built.programs["pt2pt"], "--cpus", f"{both}/{both}", "--threads", "2"]
    result = start(*words, *QUICK, "--bytes", "100", "--pattern", "bandwidth", environment=environment())
    complete(result, 1)
    assert result.header.mpi.threads == "multiple"
    assert result.header.work["message"] == {"messages": 128, "bytes": 12800}


@pytest.mark.parametrize("program", ["pt2pt", "tcp"])
def test_a_pause_comes_before_each_message_and_is_no_part_of_its_time(built: Build, program: str) -> None:
    gap_us = 10_000
    result = run(built, program, 2, "--seconds", "1", "--max-samples", "10", "--gap", str(gap_us), "--bytes", "8")
    complete(result, 1)
    for series in result.series:
        assert series.iterations == 1
        assert all(after - before >= 1e-6 * gap_us for before, after in pairwise(series.start_s))
    # Other work on this machine may hold up some of them, but not all.
    assert 0 < min(second for series in result.series for second in series.seconds) < 1e-6 * gap_us


def test_the_record_of_the_traffic_has_the_mtu_of_every_interface(built: Build) -> None:
    result = run(built, "pt2pt", 2, *QUICK)
    (traffic,) = (record for record in result.records if isinstance(record, Traffic))
    (host,) = traffic.hosts
    there = {path.parent.name: int(path.read_text()) for path in Path("/sys/class/net").glob("*/mtu")}
    assert dict(host.mtus) == there


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--exchange combined", ("--exchange combined", "--pattern latency")),
        ("--exchange combined --pattern bidirectional", ("--exchange combined", "--calls nonblocking")),
        ("--pattern bidirectional --calls blocking", ("--calls blocking", "--exchange separate")),
        ("--buffers cold --calls persistent --pool 1M", ("--buffers cold", "--calls persistent")),
        ("--datatype vector --bytes 64 --offset 3", ("--datatype vector", "--offset")),
        ("--alignment 48", ("--alignment 48",)),
        ("--threads 2", ("--threads 2", "--cpus")),
        ("--gap 100 --pattern bidirectional", ("--gap", "--pattern bidirectional")),
    ],
)
def test_combinations_that_mean_nothing_are_refused_by_their_names(
    built: Build, arguments: str, words: tuple[str, ...]
) -> None:
    result = run(built, "pt2pt", 2, *arguments.split())
    assert result.exit_code == 2
    assert [end.status for end in result.ends] == ["failed"]
    assert all(result.words.splitlines()[0].count(word) == 1 for word in words), result.words
    assert "\n  next: " in result.words


@pytest.mark.parametrize(("ranks", "words"), [(3, "3 ranks are here"), (4, "cannot be had with 4 ranks")])
def test_numbers_of_ranks_that_make_no_pair_are_refused(built: Build, ranks: int, words: str) -> None:
    result = run(built, "pt2pt", ranks)
    assert result.exit_code == 2
    assert words in result.words
    assert not any(isinstance(record, Header) for record in result.records)
