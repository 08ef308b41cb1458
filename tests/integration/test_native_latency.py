"""Walks along random cycles: alone and beside streams, in pages of the size asked for, and what they refuse."""

import os
import sys
from pathlib import Path

import pytest
from tests.native_programs import ProgramOutput, start
from tests.planted_programs import compiled, copied

from assay.model.record import End, Verdict
from assay.model.toolchain import Build

pytestmark = pytest.mark.native

SMALL = ("--seconds", "0.02", "--bytes", "64K")
LOADED = ("--seconds", "0.05", "--bytes", "64K", "--buffers", "1M", "--pages", "small")

#: Starts a program for which the kernel gives no huge pages (PR_SET_THP_DISABLE outlasts exec).
WITHOUT_HUGE_PAGES = """
import ctypes, os, sys
if ctypes.CDLL(None).prctl(41, 1, 0, 0, 0) != 0:
    sys.exit(99)
os.execv(sys.argv[1], sys.argv[1:])
"""

#: A walk that stays where it is would be the fastest of all.
STANDING_STILL = ("line = line->next;", "line = line;")


def latency(build: Build, *arguments: str) -> ProgramOutput:
    return start(build.programs["latency"], *SMALL, *arguments)


def two_cpus() -> list[int]:
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        pytest.skip("this machine lends one cpu")
    return cpus


def loaded(build: Build, *arguments: str) -> ProgramOutput:
    cpus = ",".join(map(str, two_cpus()))
    return start(build.programs["loaded_latency"], "--cpus", cpus, *LOADED, *arguments)


def share(result: ProgramOutput) -> float:
    """Share of the buffers in huge pages, where the kernel tells."""
    (rank,) = result.header.ranks
    if rank.huge_page_share is None:
        pytest.skip("the kernel of this machine does not tell the size of pages")
    return rank.huge_page_share


@pytest.mark.parametrize("size", [64, 65, 127, 4096, 100_003, 3 * 2**20])
def test_any_working_set_of_a_line_or_more_is_walked(build: Build, size: int) -> None:
    result = start(build.programs["latency"], "--seconds", "0.01", "--bytes", str(size))
    assert result.ends == [End("complete")]
    assert result.header.params == {"bytes": size, "pages": "small", "line": 64, "seed": 1}
    assert result.header.work == {"chase": {"loads": 1}}


def test_a_working_set_without_a_line_is_refused(build: Build) -> None:
    result = start(build.programs["latency"], "--bytes", "63")
    assert result.exit_code == 1
    assert "63 bytes cannot be walked in lines of 64" in result.words
    assert [end.status for end in result.ends] == ["failed"]


def test_small_pages_are_small(build: Build) -> None:
    result = latency(build, "--bytes", "8M")
    assert share(result) == 0
    assert result.ends == [End("complete")]


@pytest.mark.parametrize("size", ["4K", "5M"])
def test_huge_pages_are_whole_or_the_case_is_invalid(build: Build, size: str) -> None:
    result = latency(build, "--bytes", size, "--pages", "huge")
    if share(result) >= 0.99:
        assert result.ends == [End("complete")]
    else:
        assert result.ends[0].status == "invalid"
        pytest.skip("this machine gives no huge pages")


def test_huge_pages_that_the_kernel_refuses_make_the_case_invalid_and_the_next_one_runs(build: Build) -> None:
    cases = ("--case", "refused", "--pages", "huge", "--case", "small")
    command = (sys.executable, "-c", WITHOUT_HUGE_PAGES, build.programs["latency"], *SMALL, *cases)
    result = start(*command)
    if result.exit_code == 99:
        pytest.skip("the kernel of this machine cannot refuse huge pages")
    assert result.exit_code == 1
    assert [end.status for end in result.ends] == ["invalid", "complete"]
    assert "huge pages" in result.ends[0].reason
    assert result.header.ranks[0].huge_page_share in {0, None}


def test_other_benchmarks_record_what_pages_they_got_and_are_content(build: Build) -> None:
    program = (build.programs["stream"], "--seconds", "0.02", "--elements", "1M")
    result = start(sys.executable, "-c", WITHOUT_HUGE_PAGES, *program)
    if result.exit_code == 99:
        pytest.skip("the kernel of this machine cannot refuse huge pages")
    assert share(result) == 0
    assert result.ends == [End("complete")]


def test_more_memory_than_there_is_is_refused(build: Build) -> None:
    result = latency(build, "--case", "vast", "--bytes", "200T", "--line", "64K", "--case", "small")
    assert result.exit_code == 4
    assert "more memory than may be used" in result.words
    assert [end.status for end in result.ends] == ["failed", "complete"]


def test_memory_that_ulimit_forbids_is_refused_also_that_of_the_set_up(build: Build) -> None:
    limited = ("sh", "-c", 'ulimit -v 600000; exec "$@"', "sh")
    result = start(
        *limited, build.programs["latency"], *SMALL, "--case", "large", "--bytes", "560M", "--case", "small"
    )
    assert result.exit_code == 4
    assert "ulimit -v" in result.words
    assert [end.status for end in result.ends] == ["failed", "complete"]


def test_a_walk_of_more_lines_than_it_can_number_is_refused(build: Build) -> None:
    result = latency(build, "--bytes", "256G", "--line", "16")
    assert result.exit_code == 1
    assert "1 to 2^32 whole lines" in result.words
    assert [end.status for end in result.ends] == ["failed"]


def test_a_walk_that_stands_still_is_caught(build: Build, near_path: Path) -> None:
    native = copied(near_path, "latency")
    right, wrong = STANDING_STILL
    cycle = (native / "harness" / "pointer_cycle.hpp").read_text()
    assert cycle.count(right) == 2
    source = native / "benchmarks" / "memory" / "latency.cpp"  # its own alone: the harness is compiled already
    (source.parent / "standing_still.hpp").write_text(cycle.replace(right, wrong))
    source.write_text(source.read_text().replace("harness/pointer_cycle.hpp", "standing_still.hpp"))
    program = compiled(native, build.toolchain) / "latency"
    result = start(str(program), *SMALL, "--cpus", str(min(os.sched_getaffinity(0))))
    assert result.exit_code == 1
    assert [record.passed for record in result.records if isinstance(record, Verdict)] == [False]


def test_loaded_latency_finds_the_walk_and_each_stream_on_its_cpu(build: Build) -> None:
    cpus = two_cpus()[::-1]
    command = (build.programs["loaded_latency"], *LOADED, "--cpus", ",".join(map(str, cpus)))
    result = start(*command)
    assert result.ends == [End("complete")]
    (rank,) = result.header.ranks
    assert list(rank.requested_cpus) == list(rank.cpus) == cpus
    assert [(series.kernel, series.phase) for series in result.series] == [
        (kernel, phase) for kernel in ("chase", "load") for phase in ("warmup", "measured")
    ]


@pytest.mark.parametrize("delay", [0, 1, 63, 64, 1000])
def test_every_block_is_read_right_and_as_often_as_asked_whatever_the_delay(build: Build, delay: int) -> None:
    result = loaded(build, "--delay", str(delay))
    assert [record.error for record in result.records if isinstance(record, Verdict)] == [0]
    assert result.header.work["load"]["bytes"] == 64 * (65536 if delay < 64 else 8192)


def test_a_buffer_smaller_than_a_block_is_one_block(build: Build) -> None:
    assert loaded(build, "--buffers", "1").ends == [End("complete")]


def test_loaded_latency_needs_two_cpus(build: Build) -> None:
    result = start(build.programs["loaded_latency"], *LOADED, "--cpus", str(min(os.sched_getaffinity(0))))
    assert result.exit_code == 2
    assert "needs at least 2" in result.words
    assert [end.status for end in result.ends] == ["failed"]


def test_a_delay_below_nothing_is_refused(build: Build) -> None:
    result = start(build.programs["loaded_latency"], "--delay", "-1")
    assert result.exit_code == 2
    assert result.records == ()


def test_pages_of_the_streams_have_to_be_as_asked_too(build: Build) -> None:
    cpus = ",".join(map(str, two_cpus()))
    program = (build.programs["loaded_latency"], *LOADED, "--cpus", cpus, "--pages", "huge")
    result = start(sys.executable, "-c", WITHOUT_HUGE_PAGES, *program)
    if result.exit_code == 99:
        pytest.skip("the kernel of this machine cannot refuse huge pages")
    assert [end.status for end in result.ends] == ["invalid"]
