"""What goes wrong between nodes, for real: each fault ends with its cause, its exit code, and no orphan."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cluster.lab_cluster import Lab
from tests.cluster.lab_runs import HOLDING, PATIENCE_S, Desk, desk_in, leave, mpi_of, until
from tests.impatient import ASSAY

from assay.model.run import Run

pytestmark = pytest.mark.cluster

GBE = ("--network", "gbe=gbe0")


@pytest.fixture
def desk(lab: Lab) -> Generator[Desk]:
    made = desk_in(lab)
    yield made
    leave(made)


def single(desk: Desk, kind: str = "openmpi", *more: str) -> list[str]:
    """A run of one launch between nodes."""
    return desk.words("run", "single.toml", *GBE, "--mpi", mpi_of(kind), *more)


def held(desk: Desk, kind: str = "openmpi", *more: str) -> list[str]:
    """The same, but the launch lasts until something happens to it."""
    mpi_of(kind)
    declared(desk, kind)
    return desk.words("run", "single.toml", *GBE, "--mpi", "mine", *more)


def held_by_srun(desk: Desk, command: Sequence[str]) -> subprocess.Popen[str]:
    """The same by Slurm: `salloc ... assay run` or `assay submit`."""
    desk.stand_in("srun", str(shutil.which("srun")))
    with_srun = replace(desk, variables={**desk.variables, "PATH": f"{desk.folder}:{os.environ['PATH']}"})
    return with_srun.started([*command, "single.toml", *GBE, "--mpi", mpi_of("openmpi")])


def failures(desk: Desk, status: str = "failed") -> set[str]:
    """Why cases ended so, as `assay show --json` has it."""
    shown = json.loads(desk.typed([*ASSAY, "show", "last", "--json"]).stdout)
    return {each["reason"] for each in shown["outcomes"] if each["status"] == status}


def launches_of(run: Run, program: str) -> list[str]:
    return [records.launch.message for records in run.launches if records.launch.program == program]


def complete(run: Run) -> set[str]:
    """Cases that came to a good end at least once."""
    ended = (case for records in run.launches for case in records.cases)
    return {case.header.case for case in ended if case.end and case.end.status == "complete"}


def declared(desk: Desk, kind: str, script: str = HOLDING) -> None:
    """An MPI `mine` whose launcher says of itself what the true one does, and then does something else."""
    launcher = desk.stand_in("mpiexec", f"mpiexec.{kind}", script)
    compiler = f"mpicxx.{kind}"
    (desk.folder / "assay.toml").write_text(f'[mpi.mine]\ncompiler = "{compiler}"\nlauncher = "{launcher}"\n')


@pytest.mark.parametrize(("kind", "words"), [("openmpi", "exited on signal 9"), ("mpich", "RUNNING AT node02")])
def test_a_rank_that_is_killed_costs_its_launch_only(desk: Desk, kind: str, words: str) -> None:
    process = desk.started(held(desk, kind, "--launches", "2"))
    desk.held()
    (rank,) = desk.ranks("node02")
    desk.lab.output("node02", "sh", "-c", f"kill -KILL {rank}")
    _, said = process.communicate(timeout=PATIENCE_S)
    run = desk.run()
    assert process.returncode in {0, 1}, said
    messages = launches_of(run, "pt2pt")
    assert any(words in message for message in messages), messages
    assert len(complete(run)) == len(run.plan.cases)
    desk.is_clean()


@pytest.mark.long  # the rank that waits for it uses a core until the time limit
def test_a_rank_that_is_stopped_is_named_with_its_host(desk: Desk) -> None:
    process = desk.started(held(desk))
    desk.held()
    (rank,) = desk.ranks("node02")
    desk.lab.output("node02", "sh", "-c", f"kill -STOP {rank}")
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, said
    assert "rank 1 on node02 is stopped" in " ".join(said.split())
    run = desk.run()
    assert any("rank 1 on node02 is stopped" in message for message in launches_of(run, "pt2pt"))
    assert any("rank 1 on node02 is stopped" in reason for reason in failures(desk, "timed-out"))
    assert "rank 1 on node02 is stopped" in Path(run.path, "report.html").read_text()
    desk.is_clean()


def test_a_node_that_disappears_ends_the_run(desk: Desk) -> None:
    process = desk.started(held(desk))
    desk.held()
    with desk.lab.link_down("node02"):
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 4, said
    assert "'node02' cannot be reached any more" in said
    assert f"assay run --resume {Path(desk.run().path).name}" in said
    assert {"sentinel"} <= complete(desk.run()) < {case.id for case in desk.run().plan.cases}
    assert failures(desk) == {"node failure: node02"}
    desk.is_clean()


@pytest.mark.long  # the rank that waits for it uses a core until somebody notices
@pytest.mark.parametrize("patience_s", [300, 10], ids=["Assay notices", "Slurm notices"])
def test_a_node_that_slurm_loses_ends_the_run(desk: Desk, patience_s: int) -> None:
    process = held_by_srun(desk, ["salloc", "--quiet", "-N2", "--exclusive", *ASSAY, "run"])
    desk.held()
    with desk.lab.impatient_slurm(patience_s), desk.lab.link_down("node02"):
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 4, said
    assert "'node02' cannot be reached any more" in said
    assert f"assay run --resume {Path(desk.run().path).name}" in said
    assert failures(desk) == {"node failure: node02"}
    desk.is_clean()


def test_a_node_that_refuses_ssh_is_named_before_anything_is_measured(desk: Desk) -> None:
    with desk.lab.no_sshd("node02"):
        done = desk.typed(single(desk))
    assert done.returncode == 4
    assert "'node02' cannot be reached" in done.stderr
    assert "Connection refused" in done.stderr
    assert not (desk.folder / "runs").exists()


def test_a_name_that_does_not_resolve_is_reported(desk: Desk) -> None:
    words = [*ASSAY, "run", "single.toml", *GBE, "--hosts", "node01,nowhere", "--ssh-config"]
    done = desk.typed([*words, str(desk.lab.ssh_config)])
    assert done.returncode == 4
    assert "'nowhere' cannot be reached" in done.stderr
    assert "Could not resolve hostname nowhere" in done.stderr


def test_a_launcher_of_another_mpi_is_refused_before_anything_is_measured(desk: Desk) -> None:
    done = desk.typed(single(desk, "mpich", "--launcher", "openmpi"))
    assert done.returncode == 4
    assert f"nothing here starts 2 processes on node01, node02 with {mpi_of('mpich')}" in done.stderr
    assert not (desk.folder / "runs").exists()


@pytest.mark.parametrize("kind", ["openmpi", "mpich"])
def test_a_launcher_that_starts_each_rank_alone_is_found_out(desk: Desk, kind: str) -> None:
    mpi_of(kind)
    declared(desk, kind, 'while [ "${{1##*/}}" != pt2pt ]; do shift; done; "$@" & "$@"; wait')
    done = desk.typed([*ASSAY, "run", "inside.toml", "--mpi", "mine"])
    assert done.returncode == 1, done.stderr
    assert "2 ranks were expected, 1 " in done.stderr
    assert complete(desk.run()) == {"sentinel"}


def test_a_launcher_that_hangs_ends_at_its_limit_with_all_that_it_started_elsewhere(desk: Desk) -> None:
    mpi_of("openmpi")
    there = f"ssh -F {desk.lab.ssh_config} node02 env ASSAY_RUN=$ASSAY_RUN sleep 601"
    hanging = f'case " $* " in *" --case "*) {there} & exec sleep 602 ;; esac\nexec {{launcher}} "$@"'
    declared(desk, "openmpi", hanging)
    process = desk.started(desk.words("run", "single.toml", *GBE, "--mpi", "mine"))
    until(lambda: any("sleep 601" in args for args in desk.lab.foreign_processes("node02")))
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, said
    assert "time limit" in said
    # This machine sees the processes of its nodes, too: whoever of them looks first finds what is left.
    assert re.search(r"ended on .*sleep 601", "\n".join(launches_of(desk.run(), "pt2pt")))
    desk.is_clean()


def test_a_peer_that_never_connects_is_named_with_its_address_and_costs_its_case_only(desk: Desk) -> None:
    with desk.lab.no_new_connections("node02", "gbe0"):
        done = desk.typed(desk.words("run", "sockets.toml", *GBE, "--mpi", mpi_of("openmpi")))
    assert done.returncode == 1, done.stderr
    here, there = desk.lab.addresses["node01-gbe"], desk.lab.addresses["node02-gbe"]
    said = " ".join(done.stderr.split())
    assert re.search(rf"no connection from {re.escape(here)} to {re.escape(there)} port \d+: nothing was", said)
    assert "(rank 0 on node01)" in said
    assert "next: assay show " in said
    assert {case.partition("/")[0] for case in complete(desk.run())} == {"sentinel", "pt2pt"}
    desk.is_clean()
    words = [*ASSAY, "run", "sockets.toml", *GBE, "--hosts", "node01,node02", "--mpi", mpi_of("openmpi")]
    again = desk.typed([*words, "--ssh-config", str(desk.lab.ssh_config), "--runs", "again"])
    assert again.returncode == 0, again.stderr  # the node is as it was


def test_shared_memory_that_is_full_is_said(desk: Desk) -> None:
    words = [*ASSAY, "run", "inside.toml", "--hosts", "node02", "--ssh-config", str(desk.lab.ssh_config)]
    with desk.lab.full_shm("node02"):
        done = desk.typed([*words, "--mpi", mpi_of("mpich")])
    assert done.returncode == 1, done.stderr
    assert "shared memory cannot be had" in done.stderr
    desk.run()
    desk.is_clean()


def test_a_run_that_is_interrupted_leaves_no_process_on_any_node_and_goes_on(desk: Desk) -> None:
    process = desk.started(held(desk))
    desk.held()
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, said
    desk.is_clean()
    missing = len(desk.run().plan.cases) - len(complete(desk.run()))
    assert missing > 0
    words = [*ASSAY, "run", "--resume", "last", "--ssh-config", str(desk.lab.ssh_config)]
    done = desk.typed(words)
    assert done.returncode == 0, done.stderr
    assert len(complete(desk.run())) == len(desk.run().plan.cases)


def test_a_job_that_is_cancelled_keeps_what_it_has_and_goes_on_in_another(desk: Desk) -> None:
    first = held_by_srun(desk, [*ASSAY, "submit", "-N", "2"])
    result, said = first.communicate(timeout=PATIENCE_S)
    assert first.returncode == 0, said
    desk.held()
    job = result.split()[-1]
    assert desk.typed(["scancel", job]).returncode == 0
    until(lambda: desk.typed(["squeue", "-h", "-j", job]).stdout.strip() == "")
    desk.is_clean()
    assert len(complete(desk.run())) < len(desk.run().plan.cases)
    second = desk.typed([*ASSAY, "submit", "--resume", Path(desk.run().path).name])
    assert second.returncode == 0, second.stderr
    job = second.stdout.split()[-1]
    until(lambda: desk.typed(["squeue", "-h", "-j", job]).stdout.strip() == "", PATIENCE_S)
    run = desk.run()
    assert run.ending is not None
    assert run.ending.status == "complete"
    assert len(complete(run)) == len(run.plan.cases)
