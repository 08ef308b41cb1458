"""Faults of an MPI's launch on one machine, with real processes: told in words, and nothing else is lost."""

import os
import re
import socket
import subprocess
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
