"""Jobs of a real Slurm, from submission to resumption, and the doctor of real nodes with real faults."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.lab_cluster import Lab

from assay import store

pytestmark = [pytest.mark.cluster, pytest.mark.native]

STUDY = """
title = "Tiny"
question = "Do jobs of two nodes run?"
launches = {launches}
precision = {precision}
budget_s = {budget}
[[measure]]
benchmark = "pt2pt"
placements = ["pair:other-node"]
axes = {{ pattern = "latency", calls = "blocking", bytes = [8] }}
"""
#: Each launch samples for two seconds, and no precision ends it: together longer than the half minute after which
#: Slurm looks at the limits of its jobs again.
LONGER_THAN_A_JOB = """
title = "Longer than a job"
question = "Is it finished by another?"
launches = 16
precision = 0.000001
[[measure]]
benchmark = "pt2pt"
placements = ["pair:other-node"]
axes = { pattern = "bandwidth", bytes = "4M", window = 16 }
"""
#: Programs may have to be built.
BUILDING_S = 900.0
PATIENCE_S = 120.0
Assay = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def mpi(lab: Lab) -> str:
    """The MPI of this machine for which Slurm has the interface, its programs built."""
    done = lab.run("head", [sys.executable, "-m", "assay", "build", "--mpi", "openmpi"], patience_s=BUILDING_S)
    if done.returncode == 4:
        pytest.skip(f"no Open MPI: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return "openmpi"


@pytest.fixture
def assay(lab: Lab) -> Assay:
    """`assay(*words)` typed on this machine, with the runs where the nodes see them."""

    def typed(*words: str | Path) -> subprocess.CompletedProcess[str]:
        runs = {"ASSAY_RUNS": str(lab.shared / "runs")}
        return lab.run("head", [sys.executable, "-m", "assay", *words], runs, patience_s=BUILDING_S)

    return typed


def study(lab: Lab, name: str, *, launches: int, precision: float, budget: int) -> Path:
    path = lab.shared / f"{name}.toml"
    path.write_text(STUDY.format(launches=launches, precision=precision, budget=budget))
    return path


def standing(assay: Assay, job: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(assay("status", job, "--json").stdout)["jobs"][-1]
    return result


def wait_for(
    assay: Assay, job: str, true: Callable[[dict[str, Any]], bool], patience_s: float = PATIENCE_S
) -> dict[str, Any]:
    """What is said of the job once it is so: asked seldom, for each answer takes a core for a second."""
    deadline = time.monotonic() + patience_s
    while not true(one := standing(assay, job)):
        assert time.monotonic() < deadline, one
        time.sleep(2)
    return one


def begun(lab: Lab, assay: Assay, mpi: str, time_limit: str) -> str:
    """A job longer than its limit of time, once it has made some launches."""
    path = lab.shared / "longer.toml"
    path.write_text(LONGER_THAN_A_JOB)
    job = assay("submit", path, "-N2", "--time", time_limit, "--mpi", mpi, "--network", "gbe0").stdout.strip()
    wait_for(assay, job, lambda one: one["made"] > 1)
    return job


def nothing_is_left(lab: Lab) -> None:
    """Of the job's processes at once; Slurm's own, one a step, may outlive the job by a moment."""
    left = [words for node in lab.nodes for words in lab.foreign_processes(node)]
    assert [words for words in left if not words.startswith("slurmstepd: ")] == []
    deadline = time.monotonic() + 15
    while any(lab.foreign_processes(node) for node in lab.nodes) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert lab.foreign_processes("node01") == lab.foreign_processes("node02") == []


def test_a_job_measures_between_its_nodes_with_no_further_option(
    lab: Lab, assay: Assay, mpi: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = study(lab, "tiny", launches=2, precision=0.2, budget=20)
    refused = assay("submit", tiny, "-N9", "--mpi", mpi)
    assert refused.returncode == 4, refused.stderr
    assert "no job of 9 nodes can start" in refused.stderr
    assert "partition lab has 2" in refused.stderr
    assert f"next: assay submit {tiny} -N 2 --mpi {mpi}" in refused.stderr
    monkeypatch.setenv("SBATCH_PARTITION", "elsewhere")  # what is typed counts
    monkeypatch.setenv("SBATCH_TIMELIMIT", "1")
    done = assay("submit", tiny, "-N2", "--partition", "lab", "--mpi", mpi)
    assert done.returncode == 0, done.stderr
    job = done.stdout.strip()
    watched = assay("status", job, "--watch")
    assert watched.returncode == 0, watched.stdout + watched.stderr
    one = standing(assay, job)
    assert (one["state"], one["made"], one["left_s"]) == ("complete", one["planned"], 0.0)
    shown = json.loads(assay("show", lab.shared / "runs" / one["run"], "--json").stdout)
    hosts = {tuple(each["placement"]["hosts"]) for each in shown["estimates"]}
    assert hosts == {("node01", "node02")}


def test_a_job_whose_time_is_up_is_resumed_by_another_and_may_be_cancelled(
    lab: Lab, assay: Assay, mpi: str
) -> None:
    long = study(lab, "long", launches=500, precision=0.0001, budget=1000)
    job = assay("submit", long, "-N2", "--time", "10m", "--mpi", mpi).stdout.strip()
    before = wait_for(assay, job, lambda one: one["made"] > 1)
    # What Slurm itself sends a minute before the limit, and to whom.
    lab.output("head", "scancel", "--signal=TERM", "--batch", job)
    ended = wait_for(assay, job, lambda one: one["state"] not in {"queued", "running"})
    assert ended["state"] == "timed-out"
    done = assay("status", job)
    assert done.returncode == 5
    assert f"next: assay submit --resume {ended['run']}" in done.stderr
    nothing_is_left(lab)

    resumed = assay("submit", "--resume", str(ended["run"])).stdout.strip()
    after = wait_for(assay, resumed, lambda one: one["made"] > ended["made"])
    assert after["run"] == ended["run"]
    assert ended["made"] >= before["made"]
    lab.output("head", "scancel", resumed)
    cancelled = wait_for(assay, resumed, lambda one: one["state"] not in {"queued", "running"})
    assert (cancelled["state"], cancelled["made"] >= after["made"]) == ("cancelled", True)
    assert standing(assay, job)["state"] == "timed-out"
    nothing_is_left(lab)


@pytest.mark.long
def test_a_job_that_reaches_its_own_time_limit_keeps_what_it_has_and_another_completes_it(
    lab: Lab, assay: Assay, mpi: str
) -> None:
    job = begun(lab, assay, mpi, "2m")
    # The last minute begins now, and Slurm asks to end by itself, as the script of the job wants it.
    lab.output("head", "scontrol", "update", f"JobId={job}", "TimeLimit=1")
    ended = wait_for(assay, job, lambda one: one["state"] not in {"queued", "running"})
    assert ended["state"] == "timed-out"
    assert 0 < ended["made"] < ended["planned"]
    done = assay("status", job)
    assert done.returncode == 5
    assert f"next: assay submit --resume {ended['run']}" in done.stderr
    result = lab.output("head", "scontrol", "--oneliner", "show", "job", job)
    assert "TimeLimit=00:01:00" in result
    nothing_is_left(lab)

    resumed = assay("submit", "--resume", str(ended["run"]), "--time", "10m").stdout.strip()
    whole_s = 600.0  # it has no budget: sixteen launches that never get as precise as asked for
    after = wait_for(assay, resumed, lambda one: one["state"] not in {"queued", "running"}, whole_s)
    assert (after["state"], after["run"], after["made"]) == ("complete", ended["run"], ended["planned"])
    run = store.load(lab.shared / "runs" / str(ended["run"]))
    assert run.ending is not None
    assert (run.ending.status, run.ending.cut) == ("complete", {})
    assert {each.launch.id for each in run.launches if each.cases} == {launch.id for launch in run.plan.order}
    nothing_is_left(lab)


@pytest.mark.long
def test_a_job_that_is_ended_at_once_at_its_limit_has_no_failed_launch_and_no_lost_node(
    lab: Lab, assay: Assay, mpi: str
) -> None:
    """The limit is lowered below the time that has passed: Slurm ends the steps as it warns."""
    job = begun(lab, assay, mpi, "4m")
    time.sleep(61)
    lab.output("head", "scontrol", "update", f"JobId={job}", "TimeLimit=1")
    ended = wait_for(assay, job, lambda one: one["state"] not in {"queued", "running"})
    assert ended["state"] == "timed-out"
    run = store.load(lab.shared / "runs" / str(ended["run"]))
    assert run.ending is not None
    assert run.ending.status == "interrupted"
    assert {(each.launch.exit_code, each.launch.lost) for each in run.launches} == {(0, ())}
    nothing_is_left(lab)


def doctor(lab: Lab, *words: str) -> tuple[int, dict[tuple[str, str], dict[str, Any]]]:
    """Exit code, and host and name of a check -> the check."""
    command = [sys.executable, "-m", "assay", "doctor", "--json", *words]
    done = lab.run("head", [*command, "--hosts", "node[01-02]", "--ssh-config", str(lab.ssh_config)])
    result = json.loads(done.stdout)
    return done.returncode, {
        (each["host"], one["name"]): one for each in result["hosts"] for one in each["checks"]
    }


def troubled(found: dict[tuple[str, str], dict[str, Any]], state: str) -> list[tuple[str, str]]:
    return [key for key, one in found.items() if one["state"] == state]


def test_a_sound_lab_can_be_measured_and_is_known_for_one_machine(lab: Lab, mpi: str) -> None:
    code, found = doctor(lab, "--mpi", mpi, "--network", "gbe=gbe0")
    assert code == 0
    assert troubled(found, "problem") == []
    assert [key for key in troubled(found, "warning") if key[1] != "boot id"] == []
    assert found["node01", "boot id"]["found"] == "one kernel: node01, node02"
    assert "starts" in found["node02", "MPI"]["found"]


def test_each_fault_of_a_node_is_found_there(lab: Lab) -> None:
    with lab.no_sshd("node02"):
        code, found = doctor(lab)
    assert (code, troubled(found, "problem")) == (4, [("node02", "reached")])
    assert "refused" in found["node02", "reached"]["found"]
    with lab.full_shm("node01"):
        code, found = doctor(lab)
    assert (code, troubled(found, "problem")) == (4, [("node01", "shared memory")])
    with lab.link_down("node02", "gbe0"):
        code, found = doctor(lab, "--network", "gbe=gbe0")
    problems = troubled(found, "problem")
    assert (code, [each for each in problems if each[0] in lab.nodes]) == (4, [("node02", "interfaces")])
    assert all(
        name.endswith("over gbe0") for host, name in problems if host not in lab.nodes
    )  # what follows of it
    code, found = doctor(lab, "--network", "ib=ib0")
    problems = troubled(found, "problem")
    assert (code, [each for each in problems if each[0] in lab.nodes]) == (
        4,
        [("node01", "interfaces"), ("node02", "interfaces")],
    )


def test_inside_an_allocation_the_doctor_asks_its_nodes_unasked(lab: Lab) -> None:
    done = lab.run("head", ["salloc", "-Q", "-N2", sys.executable, "-m", "assay", "doctor"])
    assert done.returncode == 0, done.stderr
    assert "ok: reached on node[01-02]: answers" in done.stdout
