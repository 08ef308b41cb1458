"""An original program beside Assay's benchmark of the same, measured for real in the same blocks."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.impatient import ASSAY

from assay import store
from assay.analyse import analyse
from assay.analyse.comparisons import PROGRAM, conditions

pytestmark = pytest.mark.native

PEER = """
[application]
title = "Planted"
measures = "the time of a load"
command = ["planted", "{bytes}"]
seconds = 0.1
limit = "20s"

[application.needs]
program = "planted"
install = "plant it"

[application.parameters.bytes]
meaning = "working set"
values = [16384]
unit = "B"

[application.figures.latency]
pattern = '^(\\S+) ns$'
unit = "ns"
meaning = "one load"

[[application.verify]]
about = "its size"
present = '^size {bytes}$'

[application.beside]
benchmark = "latency"
axes = { bytes = 16384, pages = "small", line = 64 }
differs = ["the one is planted"]

[application.beside.figures]
latency = { kernel = "chase", metric = "latency", statistic = "best" }
"""


def assay(folder: Path, env: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [*ASSAY, *arguments]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done


def test_a_program_and_its_counterpart_are_measured_in_the_same_blocks(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "assay" / "applications"
    folder.mkdir(parents=True)
    (folder / "planted.toml").write_text(PEER)
    program = tmp_path / "theirs" / "planted"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nsleep 0.1\necho "size $1"; echo "1000 ns"\n')
    program.chmod(0o755)
    env = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config")}
    without = assay(tmp_path, env, "run", "beside:planted", "--runs", "runs")
    assert without.returncode == 4
    assert "plant it" in without.stderr
    assert "assay run beside:planted --peer DIR" in without.stderr
    peer = ("--peer", str(program.parent))
    planned = assay(tmp_path, env, "plan", "beside:planted", *peer).stdout  # lines are wrapped
    assert f"program:{program}" in "".join(planned.split())
    done = assay(tmp_path, env, "run", "beside:planted", *peer, "--runs", "runs", "--launches", "6")
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "runs").glob("*-beside*")
    run = store.load(path)
    analysis = analyse(run)
    (found,) = (each for each in analysis.comparisons if each.differ == PROGRAM)
    estimates = {each.id: each for each in analysis.estimates}
    assert (found.level, found.base, found.blocks, found.verdict) == ("latency", "planted", 6, "faster")
    assert found.ratio == pytest.approx((estimates[found.a].min or 0) / 1e-6, rel=0.2)
    conditions_of = conditions.conditions(run)
    own, other = (conditions_of[estimates[each].case] for each in (found.a, found.b))
    assert other.cpus == own.cpus
    assert other.program  # its interpreter: it is a script
    page = (path / "report.html").read_text()
    assert "the one is planted" in page
    assert "Conditions of both programs" in page
    assert [each for each in analysis.findings if each.rule == "slower_than_peer"] == []


@pytest.mark.long
def test_the_hpl_of_hpcc_runs_beside_ours_with_the_same_mpi_and_blas(tmp_path: Path) -> None:
    """hpcc comes from the network, in a minute."""
    env = {**os.environ, "ASSAY_CACHE": str(tmp_path / "cache")}
    assert assay(tmp_path, env, "build", "--application", "hpc-challenge").returncode == 0
    options = ("--set", "n=1000", "--launches", "2", "--runs", "runs")
    done = assay(tmp_path, env, "run", "beside:hpcc", *options)
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "runs").glob("*-beside*")
    run = store.load(path)
    analysis = analyse(run)
    estimates = {each.id: each for each in analysis.estimates}
    found = [each for each in analysis.comparisons if each.differ == PROGRAM]
    assert found
    known = conditions.conditions(run)
    for each in found:
        own, other = (known[estimates[name].case] for name in (each.a, each.b))
        assert own.cpus == other.cpus
        assert Path(other.program).name == "hpcc"
        assert own.mpi == other.mpi != ""
        assert own.blas == other.blas != ""


def test_a_program_that_the_budget_ends_has_not_failed_and_is_measured_when_the_run_goes_on(
    tmp_path: Path,
) -> None:
    (tmp_path / "planted.toml").write_text(PEER.partition("[application.beside]")[0])
    program = tmp_path / "planted"
    program.write_text('#!/bin/sh\nsleep ${PLANTED_S:-0}\necho "size $1"; echo "1000 ns"\n')
    program.chmod(0o755)
    words = ("./planted.toml", "--peer", str(tmp_path), "--launches", "1", "--budget", "3s", "--runs", "runs")
    cut = assay(tmp_path, {**os.environ, "PLANTED_S": "30"}, "run", *words)
    assert cut.returncode == 5, cut.stderr
    (path,) = (tmp_path / "runs").iterdir()
    run = store.load(path)
    assert [each.launch.over_budget for each in run.launches if "planted" in each.launch.cases[0]] == [True]
    (outcome,) = (each for each in analyse(run).outcomes if "planted" in each.case)
    assert (outcome.status, outcome.failed) == ("skipped", 0)
    again = assay(tmp_path, dict(os.environ), "run", "--resume", path.name, "--runs", "runs", "--budget", "30s")
    assert again.returncode == 0, again.stderr
    (outcome,) = (each for each in analyse(store.load(path)).outcomes if "planted" in each.case)
    assert (outcome.status, outcome.launches) == ("complete", 1)
