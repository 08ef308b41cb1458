"""Where a run happens: nodes that are named, an allocation that is found, or this machine."""

import os
from pathlib import Path

import pytest

from assay.cli.support import site
from assay.launch import select
from assay.launch.command import Layout
from assay.launch.remote import resume_command
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.toolchain import Mpi

HERE = os.uname().nodename
OPEN_MPI = Mpi("openmpi-5.0.8", "openmpi", "5.0.8", "/opt/mpicxx", "/opt/mpiexec")


def test_outside_an_allocation_it_is_this_machine() -> None:
    assert site.node_names((), None) == ()
    assert site.find().scheduler == ""


def test_inside_an_allocation_its_nodes_are_taken_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "node[01-02]")
    assert site.node_names((), None) == ("node01", "node02")
    assert site.node_names(("node02",), None) == ("node02",)
    assert select(Layout(("node01", "node02"), ((0,),), OPEN_MPI), site.find()).name == "srun"


def test_a_job_goes_on_in_another_job_and_what_was_typed_by_being_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_JOB", raising=False)
    assert resume_command("r1", site.find(), "--budget", "3m") == "assay run --resume r1 --budget 3m"
    monkeypatch.setenv("ASSAY_JOB", "20261121-network")
    assert resume_command("r1", site.find("srun"), "--budget", "3m") == (
        "assay submit --resume r1 --budget 3m --launcher srun"
    )


def test_in_an_allocation_of_this_node_programs_are_started_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", HERE)
    assert site.node_names((), None) == (HERE,)
    assert select(Layout((HERE,), ((0,),)), site.find()).name == "local"


def test_the_node_file_of_pbs_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nodes").write_text("n1\nn1\nn2\n")
    monkeypatch.setenv("PBS_NODEFILE", str(tmp_path / "nodes"))
    assert site.node_names((), None) == ("n1", "n2")
    assert site.find().scheduler == "pbs"
    assert site.find().task_starter == ""
    (tmp_path / "pbs_tmrsh").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert site.find().task_starter == str(tmp_path / "pbs_tmrsh")


def test_a_scheduler_that_does_not_tell_its_nodes_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PBS_NODEFILE", "/nonesuch")
    monkeypatch.setenv("PBS_JOBID", "7.server")
    with pytest.raises(UnfitEnvironmentError, match=r"the nodes of job 7\.server are not known") as refused:
        site.node_names((), None)
    assert "--hosts" in refused.value.remedy
    assert site.node_names(("n1",), None) == ("n1",)


def test_a_host_file_may_hold_slots_and_remarks(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("# ours\nnode01 slots=2\nnode[02-03]  # new\n\n")
    assert site.node_names((), str(tmp_path / "hosts")) == ("node01", "node02", "node03")
    with pytest.raises(UsageError, match="--hosts and --hostfile both name nodes"):
        site.node_names(("n1",), str(tmp_path / "hosts"))
