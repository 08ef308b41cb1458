"""A program of somebody else: placed by Assay's starter, its placement proven, its output kept and parsed."""

import gzip
import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.impatient import ASSAY

from assay import store
from assay.analyse import analyse
from assay.catalogue.benchmarks import get
from assay.launch.command import Outcome
from assay.model.placement import Memory, Placement
from assay.model.plan import Case
from assay.model.rank import Rank
from assay.model.record import End, FigureOfMerit, Header, Output, Verdict, decode_program_record
from assay.model.toolchain import Build
from assay.model.traffic import HostTraffic, Traffic
from assay.run.foreign import with_figures

pytestmark = pytest.mark.native

STUDY = """
title = "HPL of hpcc"
question = "What does an installed HPL reach on one core?"
launches = 2

[[measure]]
benchmark = "hpcc"
placements = ["one-core"]
axes = { n = 800, nb = 80 }
"""
CODES = """
title = "NPB"
question = "What rate do the pseudo-applications reach?"
launches = 2

[[measure]]
benchmark = "npb"
placements = ["one-core"]
axes = { npb = ["bt", "lu"], npb-class = "S" }
"""


def started(build: Build, *options: str) -> tuple[dict[type, Any], int]:
    done = subprocess.run([build.programs["start"], *options], capture_output=True, text=True, check=False)
    found = [decode_program_record(line) for line in done.stdout.splitlines()]
    return {type(each): each for each in found}, done.returncode


def test_the_output_is_kept_whole_and_the_time_taken_from_outside(build: Build) -> None:
    found, code = started(build, "--cpus", "0", "--case", "a", "--figure", "rate", "--", "printf", "a\\n\\377b")
    assert code == 0
    assert found[Header].case == "a"
    assert found[Header].facts["command"].startswith("printf")
    assert found[Output].text == "a\n\ufffdb"
    assert 0 < found[FigureOfMerit].value < 10
    assert found[End].status == "complete"


def test_the_results_are_in_a_file_whose_name_has_the_time(build: Build) -> None:
    script = "echo aside; echo result > result-$$.txt"
    found, _ = started(build, "--cpus", "0", "--output", "result-*.txt", "--", "sh", "-c", script)
    assert found[Output].text == "result\n"


def test_threads_that_stay_on_the_cpus_of_the_rank_prove_the_rank(build: Build) -> None:
    found, _ = started(build, "--cpus", "1", "--", "sh", "-c", "sleep 0.1; true")
    (rank,) = found[Header].ranks
    assert (rank.requested_cpus, rank.cpus, rank.proof) == ((1,), (1,), "thread")
    found, _ = started(build, "--cpus", "0,1", "--", "sleep", "0.1")
    assert found[Header].ranks[0].proof == "rank"


#: Works on each cpu for so many seconds of its own time: cpu, seconds, cpu, seconds ...; as a library: on cpu 0
#: while it is loaded, as the constructor of libpsm2 does in each rank of Debian's Open MPI.
_MOVES = """
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <time.h>
static void work(int cpu, double seconds) {
    cpu_set_t one;
    struct timespec t = {0, 0}, begin;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    while (t.tv_sec - begin.tv_sec + 1e-9 * (t.tv_nsec - begin.tv_nsec) < seconds)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
}
#ifdef LOADED
__attribute__((constructor)) static void load(void) {
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    work(0, 0.15);
    sched_setaffinity(0, sizeof before, &before);
}
#else
int main(int count, char** words) {
    for (int at = 1; at < count; at += 2) work(atoi(words[at]), atof(words[at + 1]));
}
#endif
"""


@pytest.fixture(scope="module")
def moves(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that moves, with a library beside it that moves its process for a moment."""
    folder = tmp_path_factory.mktemp("moves")
    (folder / "moves.c").write_text(_MOVES)
    subprocess.run(["gcc", "-O1", "-o", folder / "moves", folder / "moves.c"], check=True)
    as_library = ("-DLOADED", "-shared", "-fPIC")
    subprocess.run(["gcc", *as_library, "-o", folder / "moves.so", folder / "moves.c"], check=True)
    return str(folder / "moves")


@pytest.mark.parametrize(
    "command",
    [
        "taskset -c 0 sleep 0.1",
        "{moves} 1 0.05 0 0.05",  # bound elsewhere in the middle
        "sh -c '{moves} 1 0.05; {moves} 0 0.05; true'",  # a process of it that nobody sees end
        "{moves} 1 0.1 0 0.5 1 0.1",  # elsewhere for long, and back
    ],
)
def test_a_command_that_leaves_its_cpus_is_invalid(build: Build, moves: str, command: str) -> None:
    found, code = started(build, "--cpus", "1", "--", *shlex.split(command.format(moves=moves)))
    assert code == 1
    assert found[End].status == "invalid"
    assert "cpu 0" in found[End].reason


@pytest.mark.parametrize("library", ["{moves}.so", "/usr/lib/x86_64-linux-gnu/libpsm2.so.2"])
def test_a_library_that_moves_its_process_while_it_is_loaded_moves_no_launch(
    build: Build, moves: str, library: str
) -> None:
    path = library.format(moves=moves)
    if not Path(path).exists():
        pytest.skip(f"{path} is not here")
    found, _ = started(build, "--cpus", "1", "--", "env", f"LD_PRELOAD={path}", moves, "1", "0.1")
    assert found[End] == End("complete")
    (rank,) = found[Header].ranks
    assert rank.cpus == (1,)
    assert rank.usage
    assert rank.usage.strayed_s < 0.2
    if path == f"{moves}.so":
        assert rank.usage.strayed_s > 0.05


#: Two threads that work for a third of a second.
_THREADS = """
#include <omp.h>
#include <stdio.h>
int main(void) {
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    {
        double end = omp_get_wtime() + 0.3;
        while (omp_get_wtime() < end) {}
        threads = 1;
    }
    printf("%d\\n", threads);
}
"""


def test_openmp_threads_of_a_program_are_pinned_one_to_a_cpu(build: Build, tmp_path: Path) -> None:
    (tmp_path / "threads.c").write_text(_THREADS)
    program = str(tmp_path / "threads")
    subprocess.run(["gcc", "-fopenmp", "-o", program, tmp_path / "threads.c"], check=True)
    found, _ = started(build, "--cpus", "0,1", "--", program)
    assert found[Output].text == "2\n"
    assert found[Header].ranks[0].cpus == (0, 1)
    assert found[Header].facts["program"] == program
    assert found[Header].ranks[0].proof == "thread"
    (host,) = found[Traffic].hosts
    assert 0.1 < host.own_s <= host.cpus * found[Traffic].seconds


def test_a_failing_command_and_a_missing_one_say_so(build: Build) -> None:
    found, code = started(build, "--cpus", "0", "--", "sh", "-c", "exit 3")
    assert (code, found[End].status) == (1, "failed")
    assert "exit code 3" in found[End].reason
    assert started(build, "--cpus", "0", "--", "/nowhere/program") == ({}, 4)


HERE = Placement("one-core", "", (0,), Memory(), ("here",))
HPCC = Case("hpcc/one-core", "hpcc", {"n": 400, "nb": 80}, HERE)
NPB = Case("npb/one-core", "npb", {"npb": "lu", "npb-class": "S"}, HERE)


def test_what_the_starters_of_all_ranks_read_of_their_hosts_stands_once_for_each() -> None:
    def load(host: str, own_s: float) -> HostTraffic:
        return HostTraffic(host, f"boot-of-{host}", {}, {}, 4, 3.0, 0.0, own_s)

    rank = Rank(1, "n1", "boot-of-n1", (1,), (1,), "first-touch", {})
    placed = [
        {"type": "placed", "rank": msgspec.structs.replace(rank, rank=number), "host": load(host, own_s)}
        for number, host, own_s in ((1, "n1", 0.5), (2, "n2", 0.75), (3, "n2", 0.25))
    ]
    stderr = b"".join(
        msgspec.json.encode({**each, "status": "complete", "reason": "", "last": ""}) + b"\n" for each in placed
    )
    stdout = msgspec.json.encode(Traffic(1.0, 0.0, (load("n1", 1.0),))) + b"\n"
    outcome = with_figures(Outcome(stdout, stderr, 0), [HPCC], "kept").outcome
    assert decode_program_record(outcome.stdout.strip()) == Traffic(1.0, 0.0, [load("n1", 1.5), load("n2", 1.0)])


def answered(text: str, case: Case = HPCC) -> dict[type, Any]:
    lines = [Output(text), End("complete")]
    stdout = b"".join(json.dumps({"type": "output", "text": text}).encode() + b"\n" for _ in lines[:1])
    stdout += b'{"type":"end","status":"complete"}\n'
    outcome = with_figures(Outcome(stdout, b"", 0), [case], "kept").outcome
    records = [decode_program_record(line) for line in outcome.stdout.splitlines()]
    return {type(each): each for each in records}


ROW = "WR11C2R4         600    80     1     1               0.02              7.268e+00\n"


def test_figures_are_read_from_the_output_by_the_parser_of_imports() -> None:
    found = answered(ROW + "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=  0.0043350 ...... PASSED\n")
    assert found[FigureOfMerit] == FigureOfMerit("time", "s", 0.02, 0.02)
    assert found[Verdict].passed
    assert found[End].status == "complete"


def test_a_failed_residual_is_a_failed_verdict() -> None:
    found = answered(ROW + "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=  43.350 ...... FAILED\n")
    assert not found[Verdict].passed


def test_an_output_without_a_result_fails_and_its_end_is_shown() -> None:
    found = answered("HPL ERROR from process # 0\nnot enough memory\n")
    assert found[End].status == "failed"
    assert "not enough memory" in found[End].reason


#: What NPB 3.3.1 printed on somebody's machine, 2017.
LU = """ NAS Parallel Benchmarks (NPB3.3-OMP) - LU Benchmark

 Verification Successful


 LU Benchmark Completed.
 Class           =                        S
 Size            =             12x  12x  12
 Iterations      =                       50
 Time in seconds =                     1.33
 Total threads   =                        1
 Mop/s total     =                    77.16
 Operation type  =           floating point
 Verification    =               SUCCESSFUL
 Version         =                    3.3.1
"""


def test_npb_is_read_by_its_parser_and_its_own_verification_counts() -> None:
    found = answered(LU, NPB)
    assert found[FigureOfMerit] == FigureOfMerit("time", "s", 1.33, 1.33)
    assert found[Verdict].passed
    assert not answered(LU.replace("  SUCCESSFUL", "UNSUCCESSFUL"), NPB)[Verdict].passed
    torn = answered(LU[:200], NPB)[End]
    assert torn.status == "failed"
    assert "no 'Time in seconds' belongs to this result" in torn.reason


def test_a_sites_own_npb_is_measured_and_what_it_did_not_build_is_left_out(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "lu.S.x"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nsleep 0.1\ncat << 'END'\n{LU}END\n")
    program.chmod(0o755)
    (tmp_path / "codes.toml").write_text(CODES)
    done = subprocess.run(
        [*ASSAY, "run", "./codes.toml", "--runs", str(tmp_path / "runs")],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "runs").glob("*-codes-*")
    run = store.load(path)
    assert [each.reason.partition(":")[0] for each in run.plan.left_out] == ["the program bt.S.x is not here"]
    found = {each.metric: each for each in analyse(run).estimates if each.benchmark == "npb"}
    assert (found["rate"].median, found["time"].median) == (77.16e6, 1.33)
    assert found["elapsed"].median
    assert found["elapsed"].median > 0.1
    assert found["rate"].launches == 2
    assert found["rate"].placement.proven
    assert found["rate"].placement.proven.as_asked
    assert found["rate"].params == {"npb": "lu", "npb-class": "S"}


def test_an_installed_hpl_is_measured_with_interval_placement_and_limit(tmp_path: Path) -> None:
    (tmp_path / "hpl.toml").write_text(STUDY)
    done = subprocess.run(
        [*ASSAY, "run", "./hpl.toml", "--runs", str(tmp_path / "runs")],
        cwd=tmp_path,
        env={**os.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "runs").glob("*-hpl-*")
    run = store.load(path)
    estimates = {each.metric: each for each in analyse(run).estimates if each.benchmark == "hpcc"}
    assert set(estimates) == {metric.name for metric in get("hpcc").metrics}
    rate = estimates["rate"]
    assert rate.status == "complete"
    assert rate.launches >= 2
    assert rate.median
    assert 1e8 < rate.median < 1e12
    assert rate.placement.proven
    assert rate.placement.proven.as_asked
    outputs = [gzip.decompress(each.read_bytes()) for each in path.glob("logs/*.output.gz")]
    assert len(outputs) == 2
    assert all(b"PASSED" in each for each in outputs)


_PAGES = """
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <string.h>
int main(int argc, char** argv) {
    size_t bytes = (size_t)64 << 20;
    char* start = aligned_alloc((size_t)2 << 20, bytes);
    madvise(start, bytes, argc > 1 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(start, 1, bytes);
    usleep(300000);
    return start[bytes / 2] - 1;
}
"""


def test_the_share_of_huge_pages_of_a_program_is_read_back(build: Build, tmp_path: Path) -> None:
    (tmp_path / "pages.c").write_text(_PAGES)
    program = str(tmp_path / "pages")
    subprocess.run(["gcc", "-o", program, tmp_path / "pages.c"], check=True)
    (small,) = started(build, "--cpus", "0", "--", program)[0][Header].ranks
    assert small.huge_page_share == pytest.approx(0, abs=0.02)
    enabled = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if enabled.is_file() and "[never]" not in enabled.read_text():
        (huge,) = started(build, "--cpus", "0", "--", program, "huge")[0][Header].ranks
        assert (huge.huge_page_share or 0) > 0.9
