"""Planted faults: wrong results, no clock, full disks, readers that leave. Each is reported."""

import os
import signal
import subprocess
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest
from tests.native_programs import LIMIT_S, start, valid_records
from tests.planted_programs import compiled, copied, nearby

from assay.model.record import End, Verdict
from assay.model.toolchain import Build

pytestmark = pytest.mark.native

QUICK = ("--seconds", "0.02")

#: A memcpy that leaves large blocks alone: small ones belong to the program's own strings.
LAZY_MEMCPY = """
#include <cstddef>
extern "C" void* memcpy(void* target, const void* source, std::size_t bytes) {
    if (bytes < 4096 || bytes % 4096 != 0) {
        for (std::size_t i = 0; i < bytes; ++i) {
            static_cast<volatile char*>(target)[i] = static_cast<const char*>(source)[i];
        }
    }
    return target;
}
"""

UNREADABLE_CLOCK = """
#include <cerrno>
#include <ctime>
extern "C" int clock_gettime(clockid_t, timespec*) noexcept { errno = EINVAL; return -1; }
"""

STOPPED_CLOCK = """
#include <ctime>
extern "C" int clock_gettime(clockid_t, timespec* time) noexcept { *time = {1, 0}; return 0; }
"""

#: The partner of core_to_core asks for its thread id first of all; here it never gets an answer.
SLEEPING_PARTNER = """
#include <unistd.h>
extern "C" pid_t gettid() noexcept { for (;;) pause(); }
"""


def preloaded(build: Build, folder: Path, source: str) -> Mapping[str, str]:
    """An environment in which this source stands before the C library."""
    (folder / "planted.cpp").write_text(source)
    library = folder / "planted.so"
    flags = ["-O1", "-fno-builtin", "-shared", "-fPIC"]
    subprocess.run([build.toolchain.compiler, *flags, str(folder / "planted.cpp"), "-o", str(library)], check=True)
    return {**os.environ, "LD_PRELOAD": str(library)}


@pytest.fixture(scope="session")
def faulty(build: Build) -> Generator[Path]:
    """Programs built without OpenMP, and with a triad that is wrong in one element of a thousand."""
    with nearby() as folder:
        native = copied(folder, "stream", "core_to_core")
        for path, right, wrong in (
            (
                "CMakeLists.txt",
                '"Use OpenMP where the compiler has it" ON',
                '"Use OpenMP where the compiler has it" OFF',
            ),
            (
                "benchmarks/memory/stream.cpp",
                "loop(arrays, mine);",
                "loop(arrays, mine); if (kernel == triad) { arrays.x[0] += 1e-9; }",
            ),
        ):
            text = (native / path).read_text()
            assert text.count(right) == 1
            (native / path).write_text(text.replace(right, wrong))
        # No other test has compiled the rest of them without OpenMP.
        yield compiled(native, build.toolchain, ("-O0",))


def test_a_wrong_result_is_a_failed_verdict_and_exit_1(faulty: Path) -> None:
    cpu = str(min(os.sched_getaffinity(0)))
    result = start(str(faulty / "stream"), *QUICK, "--elements", "1000", "--cpus", cpu)
    assert result.exit_code == 1
    (verdict,) = [record for record in result.records if isinstance(record, Verdict)]
    assert not verdict.passed
    assert verdict.tolerance < verdict.error < 1e-6
    assert result.ends == [End("failed", "the results are wrong")]


def test_without_openmp_one_cpu_is_measured_and_more_are_refused(faulty: Path) -> None:
    first, *others = sorted(os.sched_getaffinity(0))
    result = start(str(faulty / "stream"), *QUICK, "--elements", "1000", "--cpus", str(first))
    assert result.header.build["openmp"] == "no"
    assert result.series
    if not others:
        pytest.skip("this machine lends one cpu")
    result = start(str(faulty / "stream"), *QUICK, "--cpus", f"{first},{others[0]}")
    assert result.exit_code == 4
    assert "there is no OpenMP" in result.words
    assert [end.status for end in result.ends] == ["failed"]
    result = start(str(faulty / "core_to_core"), *QUICK, "--cpus", f"{first},{others[0]}")
    assert result.ends == [End("complete")]


@pytest.mark.parametrize("buffers", ["hot", "cold"])
def test_a_memcpy_that_does_not_copy_is_caught(build: Build, tmp_path: Path, buffers: str) -> None:
    environment = preloaded(build, tmp_path, LAZY_MEMCPY)
    sizes = ("--case", "right", "--bytes", "4000", "--case", "wrong", "--bytes", "8192")
    command = (build.programs["memcpy"], *QUICK, "--buffers", buffers, "--pool", "64K", *sizes)
    result = start(*command, environment=environment)
    assert result.exit_code == 1
    assert [end.status for end in result.ends] == ["complete", "failed"]
    assert [record.error for record in result.records if isinstance(record, Verdict)] == [0, 1]


def test_the_copy_of_stream_is_its_own_loop_and_no_memcpy(build: Build, tmp_path: Path) -> None:
    command = (build.programs["stream"], *QUICK, "--elements", "65536")
    assert start(*command, environment=preloaded(build, tmp_path, LAZY_MEMCPY)).ends == [End("complete")]


@pytest.mark.parametrize(
    ("source", "why"), [(UNREADABLE_CLOCK, "Invalid argument"), (STOPPED_CLOCK, "stands still")]
)
def test_a_clock_that_cannot_be_read_is_refused(build: Build, tmp_path: Path, source: str, why: str) -> None:
    result = start(build.programs["stream"], *QUICK, environment=preloaded(build, tmp_path, source))
    assert result.exit_code == 4
    assert "the clock cannot be used" in result.words
    assert why in result.words
    assert [end.status for end in result.ends] == ["failed"]


def test_more_memory_than_ulimit_leaves_is_refused(build: Build) -> None:
    limited = ("sh", "-c", 'ulimit -v 1000000; exec "$@"', "sh")
    command = (*limited, build.programs["memcpy"], *QUICK, "--case", "large", "--bytes", "1G", "--case", "small")
    result = start(*command)
    assert result.exit_code == 4
    assert "ulimit -v" in result.words
    assert [end.status for end in result.ends] == ["failed", "complete"]


def test_a_partner_that_never_runs_ends_the_case(build: Build, tmp_path: Path) -> None:
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        pytest.skip("this machine lends one cpu")
    result = start(build.programs["core_to_core"], environment=preloaded(build, tmp_path, SLEEPING_PARTNER))
    assert result.exit_code == 1
    assert f"cpu {cpus[1]} does not answer" in result.words
    assert [end.status for end in result.ends] == ["failed"]
    assert result.series == []


@pytest.mark.parametrize("option", ["--help", "--describe", "--seconds=0.02"])
def test_a_full_disk_is_reported(build: Build, option: str) -> None:
    with Path("/dev/full").open("w") as full:
        command = [build.programs["memcpy"], option]
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=LIMIT_S
        )
    assert done.returncode == 4
    assert "cannot be written" in done.stderr
    assert "No space left" in done.stderr


def test_a_reader_that_leaves_is_reported(build: Build) -> None:
    command = [build.programs["memcpy"], *QUICK]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.close()
        words = program.stderr.read()
    assert program.returncode == 4
    assert "Broken pipe" in words


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once_and_keeps_the_cases_that_ended(build: Build, ending: signal.Signals) -> None:
    cases = ("--case", "short", "--case", "long", "--seconds", "100", "--bytes", "64M")
    sampling = ("--precision", "1e-12", "--max-samples", "10M", "--bytes", "1K", "--seconds", "0.02")
    command = [build.programs["memcpy"], *sampling, *cases]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        lines: list[str] = []
        while not lines or '"type":"end"' not in lines[-1]:
            lines.append(program.stdout.readline())
        program.send_signal(ending)
        assert program.wait(timeout=10) == -ending
        lines.append(program.stdout.read())
    assert valid_records("".join(lines))[-1] == End("complete")
