"""Machines of the lab: their first processes hold their namespaces and end all other processes."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from .errors import LabError
from .layout import Lab
from .programs import PATH, entering, path_of

#: Variables that identify the processes of a lab, whatever else happens.
FOLDER, MACHINE = "LAB_FOLDER", "LAB_MACHINE"
PATIENCE_S = 20.0

_NAMESPACES = ("mount", "uts", "ipc", "net", "pid")
_INIT = Path(__file__).with_name("machine.sh")


def start(lab: Lab, name: str) -> None:
    """Make the machine's namespaces and its private files."""
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
    """Id of the process whose end ends all others of a machine; LabError if there is none."""
    for process, variables in ours(lab.folder):
        if variables.get(MACHINE) == name and _is_first(process):
            return process
    raise LabError(f"{name} is not running", "tools/lab/lab down && tools/lab/lab up")


def inside(lab: Lab, name: str, first: int = 0) -> tuple[str, ...]:
    """The words before a command to run in a machine; its first process is searched for if not given."""
    cpus = ",".join(map(str, lab.cpus(name)))
    return (*entering(first or first_process(lab, name), *_NAMESPACES), "taskset", "--cpu-list", cpus)


def inside_here(lab: Lab, name: str, first: int) -> tuple[str, ...]:
    """The same, in the current folder if the machine has it."""
    here = Path.cwd()
    seen = Path(f"/proc/{first}/root{here}").is_dir()
    return (*inside(lab, name, first), "env", "-C", str(here if seen else "/"))


def end(folder: Path) -> None:
    """Kill every process of the lab with this state folder, and wait until the kernel has removed them."""
    for process, _variables in ours(folder):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue  # ended with its machine's first process
    for _ in waiting():
        if not any(True for _ in ours(folder)):
            return
    raise LabError("processes of the lab would not end", f"ps e | grep {FOLDER}={folder}", 1)


def ours(folder: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Processes whose environment says that they belong to this lab: id and variables."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # has just ended, or belongs to another user
        variables = dict(word.split("=", 1) for word in words if "=" in word)
        if variables.get(FOLDER) == str(folder):
            yield int(entry.name), variables


def waiting() -> Iterator[None]:
    """Iterations of a loop that checks repeatedly, until a time limit."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        yield
        time.sleep(0.02)


def _is_first(process: int) -> bool:
    status = Path(f"/proc/{process}/status").read_text()
    return next(line for line in status.splitlines() if line.startswith("NSpid")).split()[-1] == "1"
