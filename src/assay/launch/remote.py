"""Parts that launchers on remote hosts share: options of ssh, and the environment that they forward."""

import shlex
from collections.abc import Sequence

from assay.launch.command import Layout, Site

#: From the request to end to the order to. Open MPI 4 takes 3 s to end ranks on other hosts that do not listen.
GRACE_S = 10.0

#: Nobody is there to answer questions, and a node that is gone is noticed within 30 s.
_SSH: tuple[str, ...] = (
    *("-o", "BatchMode=yes"),
    *("-o", "ConnectTimeout=10"),
    *("-o", "ServerAliveInterval=10"),
    *("-o", "ServerAliveCountMax=3"),
)
_KEEP_OPEN_S = 60
#: Hosts that are asked something in the same moment, each by a process here.
AT_ONCE = 64
#: Of 107 characters that a socket's path may have ssh takes 58: a hash of the connection, and a suffix at first.
_LONGEST_FOLDER = 49


def ssh_options(site: Site) -> tuple[str, ...]:
    """Options of every `ssh` that is started from here."""
    config = ("-F", site.ssh_config) if site.ssh_config else ()
    if not 0 < len(site.sockets) <= _LONGEST_FOLDER:
        return (*config, *_SSH)
    shared = ("ControlMaster=auto", f"ControlPath={site.sockets}/%C", f"ControlPersist={_KEEP_OPEN_S}")
    return (*config, *_SSH, *(word for option in shared for word in ("-o", option)))


def doctor_command(hosts: Sequence[str], site: Site) -> str:
    """The `assay doctor` command that checks hosts; it reaches them as the failed command did."""
    return shlex.join(("assay", "doctor", "--hosts", ",".join(hosts), *_ssh_config(site)))


def resume_command(run: str, site: Site, *options: str) -> str:
    """The command that resumes a run with the options with which it was started.

    A run of a batch job is resumed by another job: the reader of its output is not on its nodes.
    """
    verb = "submit" if site.job else "run"
    launcher = ("--launcher", site.launcher) if site.launcher else ()
    return shlex.join(("assay", verb, "--resume", run, *options, *launcher, *_ssh_config(site)))


def _ssh_config(site: Site) -> tuple[str, ...]:
    return ("--ssh-config", site.ssh_config) if site.ssh_config else ()


def is_own_launcher(name: str, scheduler: str, layout: Layout, site: Site) -> bool:
    """Whether a scheduler's own launcher fits: it is asked for, or the MPI has none; hosts have as many ranks."""
    if site.scheduler != scheduler or layout.mpi is None or len(set(layout.counts)) > 1:
        return False
    return site.launcher == name or not layout.mpi.launcher


def uses_remote_hosts(layout: Layout, site: Site) -> bool:
    """Whether any rank of the layout runs on another host."""
    return set(layout.hosts) != {site.host}


def forwarded_environment(environment: dict[str, str], site: Site) -> dict[str, str]:
    """The variables of a program on another host: it does not end with this process, but its run id finds it."""
    run = {"ASSAY_RUN": site.run} if site.run else {}
    return environment | {"ASSAY_PARENT": ""} | run


def cpu_mask(cpus: tuple[int, ...]) -> int:
    """The bit mask of cpus: bit i for cpu i."""
    return sum(1 << cpu for cpu in cpus)
