"""Running programs, here and in machines of the lab, and finding missing ones."""

import os
import shutil
import subprocess
from collections.abc import Sequence

from .errors import LabError

#: Program -> its Debian package.
PACKAGES = {
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "ip": "iproute2",
    "tc": "iproute2",
    "hostname": "hostname",
    "ssh": "openssh-client",
    "sshd": "openssh-server",
    "slurmctld": "slurm-wlm",
    "slurmd": "slurm-wlm",
    "sinfo": "slurm-wlm",
    "munged": "munge",
}
#: Daemons are in folders outside a user's PATH.
PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))


def require() -> None:
    """LabError if a program is missing, or if this user may not make namespaces."""
    missing = [program for program in PACKAGES if not shutil.which(program, path=PATH)]
    if missing:
        packages = sorted({PACKAGES[program] for program in missing})
        raise LabError(f"the lab needs {', '.join(missing)}", f"sudo apt install {' '.join(packages)}")
    if os.geteuid() != 0:
        raise LabError("the lab needs root: it makes namespaces and network interfaces", "sudo make lab")


def path_of(program: str) -> str:
    """The program's absolute path, which sshd requires."""
    return shutil.which(program, path=PATH) or program


def call(*command: str, variables: dict[str, str] | None = None) -> str:
    """Run a program to its end and return its output; LabError with its messages if it fails."""
    words = [path_of(command[0]), *command[1:]]
    environment = {**os.environ, "PATH": PATH, **(variables or {})}
    done = subprocess.run(
        words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise LabError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}", "read the message above", 1)
    return done.stdout


def entering(process: int, *kinds: str) -> Sequence[str]:
    """The words before a command that put it into the namespaces of a process."""
    return ("nsenter", "--target", str(process), *(f"--{kind}" for kind in kinds))
