"""himeno: points, flops and GOSA as published, right on any number of threads, wrong results caught."""

import os
from pathlib import Path

import pytest
from tests.native_programs import ProgramOutput, start
from tests.planted_programs import planted

from assay.catalogue import benchmarks
from assay.model.placement import Memory, Placement
from assay.model.record import End, Verdict
from assay.model.toolchain import Build
from assay.topics.stencil.benchmarks.himeno import GRIDS

pytestmark = pytest.mark.native

QUICK = ("--seconds", "0.1", "--size", "XS")


def himeno(build: Build, *arguments: str) -> ProgramOutput:
    return start(build.programs["himeno"], *QUICK, *arguments)


def verdict(result: ProgramOutput) -> Verdict:
    (only,) = [record for record in result.records if isinstance(record, Verdict)]
    return only


@pytest.mark.parametrize(("size", "inner"), [("XS", 30 * 30 * 62), ("S", 62 * 62 * 126), ("M", 126 * 126 * 254)])
def test_work_is_that_of_the_official_grids(build: Build, size: str, inner: int) -> None:
    result = himeno(build, "--size", size)
    assert result.ends == [End("complete")]
    assert result.header.work == {
        "jacobi": {"flops": 34 * inner, "bytes": 64 * inner, "traffic_bytes": 72 * inner}
    }


def test_mflops_follow_from_work_and_time_as_the_benchmark_defines_them(build: Build) -> None:
    result = himeno(build, "--size", "S")
    sample, series = result.series[-1].seconds[0], result.series[-1]
    i, j, k = GRIDS["S"]
    official = (i - 2) * (j - 2) * (k - 2) * 34 / sample * 1e-6 * series.iterations
    assert result.header.work["jacobi"]["flops"] * series.iterations / sample / 1e6 == pytest.approx(official)


@pytest.mark.parametrize("touch", ["parallel", "serial"])
def test_results_are_right_on_every_number_of_cpus(build: Build, touch: str) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    for count in range(1, min(len(allowed), 4) + 1):
        result = himeno(build, "--touch", touch, "--cpus", ",".join(map(str, allowed[:count])))
        assert result.ends == [End("complete")]
        assert verdict(result).error < 2e-7
        own = [seconds for each in result.threads for seconds in each.seconds]  # of one thread it is that of all
        assert len(own) == (count if count > 1 else 0)
        assert all(0 < seconds <= 1.01 * sum(result.series[-1].seconds) for seconds in own)


@pytest.mark.parametrize("size", ["XS", "S", "M"])
def test_the_declared_memory_is_what_the_pages_show(build: Build, size: str) -> None:
    result = himeno(build, "--size", size)
    pages = sum(result.header.ranks[0].page_nodes.values())
    if not pages:
        pytest.skip("this machine's kernel does not say where pages lie")
    declared = benchmarks.get("himeno").memory_bytes(
        result.header.params, Placement("", "", (0,), Memory(), ("n1",))
    )
    assert min(-(-declared // os.sysconf("SC_PAGESIZE")), 65536) == pages


def test_a_wrong_sweep_is_a_failed_verdict(build: Build, near_path: Path) -> None:
    sweep = "gosa = grid_.sweep(mine);"
    faults = (
        ("grid_.copy_back(mine);", "if (iteration > 0) { grid_.copy_back(mine); }"),
        (sweep, "gosa = 1.01 * grid_.sweep(mine);"),
        (sweep, "gosa = grid_.sweep({mine.begin, mine.end - 1});"),
        (sweep, sweep + " grid_.pressure(65536 / 2 + 5) += 1e-5F;"),
        (sweep, sweep + " grid_.pressure(0) = -1;"),
    )
    for program in planted(build.toolchain, near_path, "himeno", faults):
        result = start(program, *QUICK)
        assert result.exit_code == 1, program
        assert result.ends == [End("failed", "the results are wrong")]
        assert verdict(result).error > 2 * verdict(result).tolerance
