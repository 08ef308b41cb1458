"""Threads and pages lie where they were asked to, as the kernel itself tells."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.native_programs import start

from assay.catalogue import benchmarks
from assay.model.record import End
from assay.model.toolchain import Build

pytestmark = pytest.mark.native

QUICK = ("--seconds", "0.02", "--elements", "100000")


def allowed_cpus() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def cpu_that_does_not_exist() -> int:
    return max(int(entry.name[3:]) for entry in Path("/sys/devices/system/cpu").glob("cpu[0-9]*")) + 1


def test_threads_are_found_on_the_cpus_in_the_order_asked(build: Build) -> None:
    cpus = allowed_cpus()[::-1]
    result = start(build.programs["stream"], *QUICK, "--cpus", ",".join(map(str, cpus)))
    if len(cpus) > 1 and not build.openmp:
        pytest.skip("the compiler has no OpenMP")
    assert result.ends == [End("complete")]
    (rank,) = result.header.ranks
    assert list(rank.requested_cpus) == list(rank.cpus) == cpus
    assert [each.kernel for each in result.threads] == list(benchmarks.get("stream").kernels)
    assert all(len(each.seconds) == len(cpus) and min(each.seconds) > 0 for each in result.threads)


def test_the_kernel_agrees_with_the_affinity_that_is_recorded(build: Build) -> None:
    cpu = allowed_cpus()[-1]
    command = [build.programs["stream"], "--cpus", str(cpu), "--elements", "100000", "--precision", "1e-12"]
    sampling = ["--max-samples", "1M", "--seconds", "30"]
    program = subprocess.Popen([*command, *sampling], stdout=subprocess.DEVNULL)
    try:
        mask = set(allowed_cpus())
        while mask != {cpu} and program.poll() is None:
            mask = os.sched_getaffinity(program.pid)
        assert program.poll() is None
    finally:
        program.kill()
        program.wait()


def test_the_default_is_every_cpu_that_taskset_leaves(build: Build) -> None:
    cpu = allowed_cpus()[-1]
    result = start("taskset", "-c", str(cpu), build.programs["stream"], *QUICK)
    assert list(result.header.ranks[0].cpus) == [cpu]


def test_a_cpu_that_does_not_exist_is_refused_with_the_list_of_those_allowed(build: Build) -> None:
    result = start(build.programs["stream"], *QUICK, "--cpus", str(cpu_that_does_not_exist()))
    assert result.exit_code == 2
    assert f"cpu {cpu_that_does_not_exist()} cannot be used" in result.words
    assert re.search(rf"allowed: .*\b{allowed_cpus()[-1]}$", result.words, re.MULTILINE)
    assert [end.status for end in result.ends] == ["failed"]


def test_a_cpu_that_taskset_forbids_is_refused(build: Build) -> None:
    first, *others = allowed_cpus()
    if not others:
        pytest.skip("this machine lends one cpu")
    result = start("taskset", "-c", str(first), build.programs["stream"], *QUICK, "--cpus", str(others[0]))
    assert result.exit_code == 4
    assert "this process may not run on it" in result.words
    assert f"allowed: {first}\n" in result.words


def test_core_to_core_needs_exactly_two_cpus(build: Build) -> None:
    cpu = str(allowed_cpus()[0])
    result = start(build.programs["core_to_core"], "--cpus", cpu)
    assert result.exit_code == 2
    assert "needs exactly 2" in result.words


def test_core_to_core_is_quick_and_finds_both_threads(build: Build) -> None:
    cpus = allowed_cpus()[:2]
    if len(cpus) < 2:
        pytest.skip("this machine lends one cpu")
    result = start(build.programs["core_to_core"], "--cpus", f"{cpus[1]},{cpus[0]}", "--seconds", "0.005")
    assert result.ends == [End("complete")]
    assert list(result.header.ranks[0].cpus) == [cpus[1], cpus[0]]
    assert result.header.work == {"handover": {"handovers": 2}}


def test_memcpy_uses_one_cpu_and_refuses_two(build: Build) -> None:
    result = start(build.programs["memcpy"], "--seconds", "0.01", "--bytes", "1K")
    assert list(result.header.ranks[0].cpus) == allowed_cpus()[:1]
    if len(allowed_cpus()) > 1:
        result = start(build.programs["memcpy"], "--cpus", ",".join(map(str, allowed_cpus()[:2])))
        assert result.exit_code == 2
        assert "needs exactly 1" in result.words


def test_bound_pages_are_found_on_their_node(build: Build) -> None:
    status = Path("/proc/self/status").read_text()
    match = re.search(r"^Mems_allowed_list:\s*(\d+)", status, re.MULTILINE)
    node = match[1] if match else "0"
    result = start(build.programs["stream"], *QUICK, "--memory", f"bind:{node}")
    if result.exit_code == 4 and "refuses the memory policy" in result.words:
        pytest.skip("this machine refuses memory policies")
    (rank,) = result.header.ranks
    assert rank.requested_memory == f"bind:{node}"
    assert set(rank.page_nodes) <= {node}
    pages = sum(rank.page_nodes.values())
    assert not rank.page_nodes or pages >= 3 * 100000 * 8 // os.sysconf("SC_PAGESIZE")


def test_a_memory_node_that_does_not_exist_is_refused(build: Build) -> None:
    result = start(build.programs["stream"], *QUICK, "--memory", "bind:1000")
    if not Path("/sys/devices/system/node/online").exists():
        pytest.skip("this machine does not list its memory nodes")
    assert result.exit_code == 2
    assert "memory node 1000 cannot be used" in result.words
    assert "it does not exist" in result.words
    assert [end.status for end in result.ends] == ["failed"]
