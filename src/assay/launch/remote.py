"""What launchers have in common that start programs by others' hands: ssh, and the environment that travels."""

import shlex
from collections.abc import Sequence

from assay.launch.command import Layout, Site

#: From the request to end to the order to. Open MPI 4 takes 3 s to end ranks on other hosts that do not listen.
GRACE_S = 10.0

#: Nobody is there to answer questions, and a node that is gone is noticed within 30 s.
_SSH = (
    *("-o", "BatchMode=yes"),
    *("-o", "ConnectTimeout=10"),
    *("-o", "ServerAliveInterval=10"),
    *("-o", "ServerAliveCountMax=3"),
)
_KEEP_OPEN_S = 60
#: Of 107 characters that a socket's path may have ssh takes 58: a hash of the connection, and a suffix at first.
_LONGEST_FOLDER = 49


def ssh_options(site: Site) -> tuple[str, ...]:
    """Options of every `ssh` that is started from here."""
    config = ("-F", site.ssh_config) if site.ssh_config else ()
    if not 0 < len(site.sockets) <= _LONGEST_FOLDER:
        return (*config, *_SSH)
    shared = ("ControlMaster=auto", f"ControlPath={site.sockets}/%C", f"ControlPersist={_KEEP_OPEN_S}")
    return (*config, *_SSH, *(word for option in shared for word in ("-o", option)))


def doctor(hosts: Sequence[str], site: Site) -> str:
    """What is typed to learn what is wrong with hosts: it reaches them as the command did that failed."""
    return shlex.join(("assay", "doctor", "--hosts", ",".join(hosts), *_ssh_config(site)))


def going_on(run: str, site: Site, *options: str) -> str:
    """What is typed to go on with a run in the way in which it was begun: no option of its place is lost.

    What a job measured goes on in another job: its nodes are not those of whom reads what it printed.
    """
    verb = "submit" if site.job else "run"
    launcher = ("--launcher", site.launcher) if site.launcher else ()
    return shlex.join(("assay", verb, "--resume", run, *options, *launcher, *_ssh_config(site)))


def _ssh_config(site: Site) -> tuple[str, ...]:
    return ("--ssh-config", site.ssh_config) if site.ssh_config else ()


def is_elsewhere(layout: Layout, site: Site) -> bool:
    """Whether any of it runs on another host."""
    return set(layout.hosts) != {site.host}


def carried(environment: dict[str, str], site: Site) -> dict[str, str]:
    """The variables of a program that others start: it cannot end with this process, but be found by its run."""
    run = {"ASSAY_RUN": site.run} if site.run else {}
    return environment | {"ASSAY_PARENT": ""} | run


def mask(cpus: tuple[int, ...]) -> int:
    """One bit for each cpu."""
    return sum(1 << cpu for cpu in cpus)
