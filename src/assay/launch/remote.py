"""Shared parts of launchers for remote hosts: options of ssh, and the forwarded environment."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from assay.launch.command import Command, Layout, Site
from assay.launch.networks import step_variables, uses_prrte
from assay.model.toolchain import MpiKind

#: Seconds between SIGTERM and SIGKILL. Open MPI 4 needs 3 s to end ranks on other hosts that ignore signals.
GRACE_S = 10.0

#: No questions to the user, and a lost node is noticed within 30 s.
_SSH: tuple[str, ...] = (
    *("-o", "BatchMode=yes"),
    *("-o", "ConnectTimeout=10"),
    *("-o", "ServerAliveInterval=10"),
    *("-o", "ServerAliveCountMax=3"),
)
_KEEP_OPEN_S = 60
#: Hosts that are contacted in parallel, each by a local process.
AT_ONCE = 64
#: A socket's path may have 107 characters, and ssh needs 58: a hash of the connection, and a temporary suffix.
_LONGEST_FOLDER = 49


def ssh_options(site: Site) -> tuple[str, ...]:
    """Options of every `ssh` that Assay starts."""
    config = ("-F", site.ssh_config) if site.ssh_config else ()
    if not 0 < len(site.sockets) <= _LONGEST_FOLDER:
        return (*config, *_SSH)
    shared = ("ControlMaster=auto", f"ControlPath={site.sockets}/%C", f"ControlPersist={_KEEP_OPEN_S}")
    return (*config, *_SSH, *(word for option in shared for word in ("-o", option)))


def doctor_command(hosts: Sequence[str], site: Site) -> str:
    """The `assay doctor` command that checks hosts, with the same ssh configuration as the failed command."""
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


class MpiLauncher:
    """The launcher that belongs to an MPI, on any hosts."""

    name: MpiKind
    preference = 20

    def fits(self, layout: Layout, site: Site) -> bool:  # noqa: ARG002 (wherever Assay runs)
        """A program of this MPI, on any hosts."""
        return layout.mpi is not None and layout.mpi.kind == self.name and bool(layout.mpi.launcher)


@dataclass
class StepLauncher:
    """A scheduler's launcher, whose daemons start the ranks; they bind themselves, and no ssh is needed.

    Attributes:
        name: name for users.
        scheduler: in whose allocations it works.
        words: its words; they may hold `{hosts}` and `{size}`, the numbers of hosts and ranks, `{each}`, the ranks
            on each host, and `{names}`, the hosts.
        variable: option for a variable; empty if the environment is passed on.
        prrte: further words for an Open MPI that PRRTE launches.
    """

    name: str
    scheduler: str
    words: tuple[str, ...]
    variable: str = ""
    prrte: tuple[str, ...] = ()
    preference = 25

    def fits(self, layout: Layout, site: Site) -> bool:
        """In its scheduler, if the user names it or the MPI has no launcher; hosts must have equal ranks."""
        if site.scheduler != self.scheduler or layout.mpi is None or len(set(layout.counts)) > 1:
            return False
        return site.launcher == self.name or not layout.mpi.launcher

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """The hosts with the same number of ranks on each."""
        variables = forwarded_environment(environment, site) | step_variables(layout)
        numbers = {"hosts": len(layout.hosts), "size": layout.size, "each": layout.counts[0]}
        words = (each.format(names=",".join(layout.hosts), **numbers) for each in self.words)
        by_prrte = layout.mpi and layout.mpi.kind == "openmpi" and uses_prrte(layout.mpi)
        passed = (word for each in variables.items() if self.variable for word in (self.variable, "=".join(each)))
        return Command((*words, *(self.prrte if by_prrte else ()), *passed, *argv), variables, GRACE_S)


def uses_remote_hosts(layout: Layout, site: Site) -> bool:
    """Whether any rank of the layout runs on another host."""
    return set(layout.hosts) != {site.host}


def forwarded_environment(environment: dict[str, str], site: Site) -> dict[str, str]:
    """Variables of a program on another host: it does not end with this process, but is found by its run id."""
    run = {"ASSAY_RUN": site.run} if site.run else {}
    return environment | {"ASSAY_PARENT": ""} | run


def cpu_mask(cpus: tuple[int, ...]) -> int:
    """The bit mask of cpus: bit i is cpu i."""
    return sum(1 << cpu for cpu in cpus)
