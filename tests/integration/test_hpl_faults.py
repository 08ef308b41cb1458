"""A system of equations in a real run whose launches go wrong: told in words, and nothing else is lost."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.impatient import ASSAY
from tests.integration.test_native_blas import compiled
from tests.integration.test_native_hpl import WRONG
from tests.mpi_ranks import build_with, environment

from assay import store
from assay.analyse import analyse
from assay.model.result import Analysis
from assay.model.run import LaunchRecords, Run
from assay.report import html

pytestmark = pytest.mark.native

STUDY = """
title = "System"
question = "Is it told?"
launches = 3
precision = 0.5

[[measure]]
benchmark = "memcpy"
placements = ["one-core"]
axes = {{ bytes = 64, buffers = "hot" }}

[[measure]]
benchmark = "hpl"
placements = ["{where}"]
axes = {{ n = {order} }}
"""


def begun(folder: Path, where: str, order: int, *words: str) -> "subprocess.Popen[str]":
    (folder / "system.toml").write_text(STUDY.format(where=where, order=order))
    build_with("openmpi")
    return subprocess.Popen(
        [*ASSAY, "run", "system.toml", *words],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def stored(folder: Path) -> Run:
    (path,) = (folder / "assay-runs").glob("*-system-*")
    return store.load(path)


def of_hpl(run: Run) -> tuple[list[LaunchRecords], list[LaunchRecords]]:
    """Launches of hpl that failed, and the others."""
    every = [each for each in run.launches if each.launch.program == "hpl"]
    return [each for each in every if each.launch.exit_code], [each for each in every if not each.launch.exit_code]


def rates(analysis: Analysis, benchmark: str) -> list[int]:
    """Launches of each figure."""
    every = [each for each in analysis.estimates if each.benchmark == benchmark and each.median]
    return [each.launches for each in every if benchmark != "hpl" or each.kernel == "rate"]


def test_a_killed_rank_costs_its_launch_alone(tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this machine has one cpu")
    with begun(tmp_path, "pair", 5000) as running:
        try:
            os.kill(_solving(running), signal.SIGKILL)
            stdout, stderr = running.communicate(timeout=300)
        finally:
            running.kill()
        assert not list(_ranks_below(running.pid))
    assert running.returncode == 1, stderr
    assert "2 of 3 launches" in stderr
    assert "Traceback" not in stderr
    run = stored(tmp_path)
    analysis = analyse(run)
    (failed,), good = of_hpl(run)
    assert len(good) >= 2
    assert all(case.verdict and case.verdict.passed for each in good for case in each.cases)
    assert not any(case.end for case in failed.cases)
    (outcome,) = (each for each in analysis.outcomes if each.case.startswith("hpl/"))
    assert (outcome.status, outcome.launches, outcome.planned) == ("complete", 2, 3)
    assert outcome.reason.startswith("2 of 3 launches: ")
    assert "signal 9" in outcome.reason
    assert rates(analysis, "hpl") == [2]
    assert set(rates(analysis, "memcpy")) == {3}
    assert "1 of 2 cases lack launches that failed: 2 of 3 launches: " in " ".join(stdout.split())
    assert "every case of the plan is complete" not in html.render(run, analysis)


def _solving(running: "subprocess.Popen[str]") -> int:
    """One of two ranks, once both solve: launchers may hang where a rank dies while they still connect it."""
    deadline = time.monotonic() + 120
    while running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
        ranks = list(_ranks_below(running.pid))
        if len(ranks) == 2 and all(_cpu_seconds(rank) > 0.5 for rank in ranks):
            return ranks[-1]
    pytest.fail("no two ranks of hpl solve a system")


def _cpu_seconds(process: int) -> float:
    """User time so far; 0 where it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


def _ranks_below(process: int) -> Iterator[int]:
    """Processes of hpl that this process has started, directly or not."""
    try:
        listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        for child in map(int, listed):
            if Path(f"/proc/{child}/cmdline").read_bytes().partition(b"\0")[0].endswith(b"/hpl"):
                yield child
            yield from _ranks_below(child)
    except OSError:  # it has ended
        return


def test_a_wrong_solution_yields_no_figure_and_exit_code_1(tmp_path: Path) -> None:
    with begun(tmp_path, "one-core", 300, "--blas", compiled(tmp_path, WRONG)) as running:
        stdout, stderr = running.communicate(timeout=300)
    assert running.returncode == 1, stderr
    assert "wrong result: error" in " ".join(stdout.split())
    assert "Traceback" not in stderr
    analysis = analyse(stored(tmp_path))
    assert rates(analysis, "hpl") == []
    assert set(rates(analysis, "memcpy")) == {3}


def test_a_matrix_too_large_is_left_out_and_the_rest_measured(tmp_path: Path) -> None:
    with begun(tmp_path, "one-core", 4_000_000) as running:
        _, stderr = running.communicate(timeout=300)
    assert running.returncode == 0, stderr
    run = stored(tmp_path)
    (left,) = run.plan.left_out
    assert "it needs 116 TiB of memory" in left.reason
    assert set(rates(analyse(run), "memcpy")) == {3}
