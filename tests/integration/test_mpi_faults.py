"""Faults of an MPI's launch on one machine, with real processes: told in words, and nothing else is lost."""

import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from tests.impatient import ASSAY
from tests.mpi_ranks import build_with, environment, mpi

from assay import store

pytestmark = pytest.mark.native

STUDY = """
title = "Port"
question = "Is it told?"
launches = 1
precision = 0.5

[[measure]]
benchmark = "memcpy"
placements = ["one-core"]
axes = { bytes = 64, buffers = "hot" }

[[measure]]
benchmark = "pt2pt"
placements = ["pair"]
axes = { bytes = 8 }
"""


def test_a_port_that_is_taken_is_told_and_costs_the_launches_that_want_it_only(tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this machine has one cpu")
    name = mpi(build_with("mpich")).name
    (tmp_path / "port.toml").write_text(STUDY)
    with socket.create_server(("0.0.0.0", 0)) as taken:  # noqa: S104 (what the launcher listens at)
        port = taken.getsockname()[1]
        done = subprocess.run(
            [*ASSAY, "run", "port.toml", "--mpi", name],
            cwd=tmp_path,
            env={**environment(), "MPIEXEC_PORT_RANGE": f"{port}:{port}", "MPICH_PORT_RANGE": f"{port}:{port}"},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    (folder,) = (tmp_path / "assay-runs").glob("*-port-*")
    run = store.load(folder)
    failed = [records.launch for records in run.launches if records.launch.exit_code]
    assert {launch.program for launch in failed} == {"pt2pt"}
    assert all("a port that was to be listened at is taken" in launch.message for launch in failed)
    assert re.search(r"case failed: .*port that was to be listened at is taken", " ".join(done.stdout.split()))
    assert {records.launch.program for records in run.launches if not records.launch.exit_code} >= {"memcpy"}


KILLED = """
title = "Killed"
question = "Is it told?"
launches = 3
precision = 0.000001

[[measure]]
benchmark = "pt2pt"
placements = ["pair"]
axes = { bytes = [8, 1024] }
"""
_LIMIT_S = 300.0


def _rank_of(folder: Path) -> int:
    """A rank of the run in a folder that has measured for a while; 0 if there is none."""
    for found in Path("/proc").glob("[0-9]*"):
        try:
            if (found / "comm").read_text().strip() == "pt2pt" and (found / "cwd").resolve().is_relative_to(
                folder
            ):
                used = sum(map(int, (found / "stat").read_text().rsplit(")", 1)[1].split()[11:13]))
                if used > 0.2 * os.sysconf("SC_CLK_TCK"):
                    return int(found.name)
        except (OSError, IndexError):  # it has ended
            continue
    return 0


def test_a_run_with_a_killed_rank_is_exit_1_though_its_other_launches_make_the_figure(tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this machine has one cpu")
    name = mpi(build_with("openmpi")).name
    (tmp_path / "killed.toml").write_text(KILLED)
    with subprocess.Popen(
        [*ASSAY, "run", "killed.toml", "--mpi", name],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        began, killed = time.monotonic(), 0
        while not killed and running.poll() is None and time.monotonic() - began < _LIMIT_S:
            if killed := _rank_of(tmp_path):
                os.kill(killed, signal.SIGKILL)
            time.sleep(0.02)
        _, told = running.communicate(timeout=_LIMIT_S)
    assert killed
    assert running.returncode == 1, told
    (folder,) = (tmp_path / "assay-runs").glob("*-killed-*")
    made = [records.launch for records in store.load(folder).launches if records.launch.program == "pt2pt"]
    assert sorted(launch.exit_code == 0 for launch in made) == [False, True, True]
    assert "lack launches that failed" in told
    assert subprocess.run(
        [*ASSAY, "show", "last", "--fail-on", "problem"], cwd=tmp_path, capture_output=True, check=False
    ).returncode in {1, 3}  # 3: this machine need not be quiet
