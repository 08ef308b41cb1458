"""Machines of the lab: their first processes, which hold their namespaces and end all that runs in them."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from .errors import LabError
from .layout import Lab
from .programs import PATH, entering, path_of

#: Variables by which the processes of a lab are known; whatever else happens, they are found by these.
FOLDER, MACHINE = "LAB_FOLDER", "LAB_MACHINE"
PATIENCE_S = 20.0

_NAMESPACES = ("mount", "uts", "ipc", "net", "pid")
_INIT = Path(__file__).with_name("machine.sh")


def start(lab: Lab, name: str) -> None:
    """Make the machine's namespaces, and what it sees of files its own."""
    own = lab.own_seen_from_here(name)
    command = [path_of("unshare"), *(f"--{kind}" for kind in _NAMESPACES), "--propagation", "slave", "--fork"]
    command += ["--kill-child", "--mount-proc", "sh", str(_INIT), name, str(lab.folder), str(own)]
    environment = {"PATH": PATH, FOLDER: str(lab.folder), MACHINE: name}
    own.mkdir(exist_ok=True)
    with (own / "boot.log").open("wb") as log:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    for _ in waiting():
        if (own / "ready").exists():
            return
        if process.poll() is not None:
            break
    said = (own / "boot.log").read_text().strip()
    raise LabError(f"{name} did not start: {said}", "docker run --privileged, where this is a container")


def first_process(lab: Lab, name: str) -> int:
    """Id of the process that all others of a machine end with; LabError where there is none."""
    for process, variables in ours(lab.folder):
        if variables.get(MACHINE) == name and _is_first(process):
            return process
    raise LabError(f"{name} is not running", "tools/lab/lab down && tools/lab/lab up")


def inside(lab: Lab, name: str, first: int = 0) -> tuple[str, ...]:
    """The words before a command that is to run in a machine, whose first process is searched for if not given."""
    cpus = ",".join(map(str, lab.cpus(name)))
    return (*entering(first or first_process(lab, name), *_NAMESPACES), "taskset", "--cpu-list", cpus)


def inside_here(lab: Lab, name: str, first: int) -> tuple[str, ...]:
    """The same, in the folder that we are in where the machine has it."""
    here = Path.cwd()
    seen = Path(f"/proc/{first}/root{here}").is_dir()
    return (*inside(lab, name, first), "env", "-C", str(here if seen else "/"))


def end(folder: Path) -> None:
    """Kill every process of the lab with this state folder, and wait until the kernel is done with them."""
    for process, _variables in ours(folder):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue  # its machine's first process took it along
    for _ in waiting():
        if not any(True for _ in ours(folder)):
            return
    raise LabError("processes of the lab would not end", f"ps e | grep {FOLDER}={folder}", 1)


def ours(folder: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Processes that say by their environment that they are of this lab: id and variables."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # ended just now, or of somebody else
        variables = dict(word.split("=", 1) for word in words if "=" in word)
        if variables.get(FOLDER) == str(folder):
            yield int(entry.name), variables


def waiting() -> Iterator[None]:
    """Turns of a loop that looks again and again, for as long as patience lasts."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        yield
        time.sleep(0.02)


def _is_first(process: int) -> bool:
    status = Path(f"/proc/{process}/status").read_text()
    return next(line for line in status.splitlines() if line.startswith("NSpid")).split()[-1] == "1"
