"""Commands that launchers make and executors start, and the interfaces of both."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal, Protocol

import msgspec

from assay.model.toolchain import Mpi


class Command(msgspec.Struct, frozen=True):
    """One process to start, ready for `execve`; no shell is involved.

    Attributes:
        argv: program and arguments.
        environment: variables to set in addition to the inherited ones; recorded, so never a secret.
        grace_s: seconds between SIGTERM and SIGKILL: launchers need time to end remote processes.
        files: variable -> lines of a file whose path the variable has while the command runs, for texts that are
            too long for a command line.
        ends: number of end records that it prints; 0 if it prints none.
    """

    argv: tuple[str, ...]
    environment: dict[str, str]
    grace_s: float = 1.0
    files: dict[str, tuple[str, ...]] = {}
    ends: int = 0


class Sampling(msgspec.Struct, frozen=True):
    """Limits of the measurements of a program in one launch.

    Attributes:
        precision: stop when the relative half-width of the median's interval is below this.
        min_samples: minimum samples of a kernel.
        max_samples: maximum samples of a kernel.
        seconds: case id -> maximum seconds for the case, without set-up.
    """

    precision: float
    min_samples: int
    max_samples: int
    seconds: dict[str, float]


class Outcome(msgspec.Struct, frozen=True):
    """How a command ended.

    Attributes:
        stdout: all of it.
        stderr: all of it.
        exit_code: negative for a signal; None if it was ended at its time limit.
        involuntary_switches: involuntary context switches; -1 if unknown.
        lingered: whether it was ended because it did not exit after its last record.
    """

    stdout: bytes
    stderr: bytes
    exit_code: int | None
    involuntary_switches: int = -1
    lingered: bool = False

    @property
    def last_error_line(self) -> str:
        """The last line of stderr; empty if there is none."""
        lines = self.stderr.decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""


class CpuTimes(msgspec.Struct, frozen=True):
    """Counters of the host since boot, summed over its cpus, in seconds.

    Attributes:
        busy: user, nice, system, interrupts.
        steal: taken by the hypervisor.
        own: cpu time of this process and its ended children.
        cpus: number of cpus.
        load: one-minute load average.
    """

    busy: float
    steal: float
    own: float
    cpus: int
    load: float


class Layout(msgspec.Struct, frozen=True):
    """The places of the processes of one launch.

    Attributes:
        hosts: nodes, in the order of the ranks.
        ranks: cpus of each rank on a host, the same on every host; ranks are numbered host by host. No cpus: any.
        by_host: the ranks of each host if hosts differ; else empty.
        mpi: MPI of the program; None for a program without MPI on each host.
        network: device for messages, an interface (`eth0`) or a port (`mlx5_0:1`); empty: the MPI chooses.
    """

    hosts: tuple[str, ...]
    ranks: tuple[tuple[int, ...], ...]
    mpi: Mpi | None = None
    network: str = ""
    by_host: tuple[tuple[tuple[int, ...], ...], ...] = ()

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of ranks on each host."""
        return tuple(map(len, self.by_host)) or (len(self.ranks),) * len(self.hosts)

    @property
    def size(self) -> int:
        """Number of ranks."""
        return sum(self.counts)


class Site(msgspec.Struct, frozen=True):
    """The place where Assay runs.

    Attributes:
        host: name of this machine.
        scheduler: scheduler of the current allocation; empty outside an allocation.
        launcher: name of the launcher that the user wants; empty: the one that fits best.
        run: id that all remote processes carry (`ASSAY_RUN`), so that they can be found and ended.
        ssh_config: file for `ssh -F`; empty: the user's own.
        sockets: private folder on a local disk for ssh connections that stay open for the next command; empty:
            each command has its own connection.
        root: whether this process is root, which some launchers refuse without an option.
        job: name of the job of this process (`assay submit`); empty if the command was typed.
        task_starter: path of the program that starts a task of a PBS job on another node (`pbs_tmrsh`); empty
            elsewhere, and for a PBS without it.
    """

    host: str
    scheduler: Literal["", "slurm", "pbs", "flux", "lsf"] = ""
    launcher: str = ""
    run: str = ""
    ssh_config: str = ""
    sockets: str = ""
    root: bool = False
    job: str = ""
    task_starter: str = ""


class Launcher(Protocol):
    """A pure translator: it starts nothing and reads nothing. `launch/` has one module for each.

    Attributes:
        name: name for users.
        preference: of the launchers that fit, the one with the lowest value is used.
    """

    name: str
    preference: int

    def fits(self, layout: Layout, site: Site) -> bool:
        """Whether it can start a program with this layout."""

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """The command that starts `argv`, with these variables set, on each rank of the layout."""


class Executor(Protocol):
    """Starts commands and has the clock: the only part that acts on the machine, and that tests replace."""

    def execute(self, command: Command, timeout: float) -> Outcome:
        """Start it, wait, and return its output; end it and its children after `timeout` seconds."""

    def execute_together(
        self, commands: Sequence[Command], timeout: float, at_limit: Callable[[], None] = ...
    ) -> tuple[Outcome, ...]:
        """The same with several commands at once; `at_limit` is called before the time limit ends any of them."""

    def now(self) -> float:
        """Seconds on a clock that never goes back."""

    def date(self) -> datetime:
        """The current date and time of day, which may be set."""

    def sleep(self, seconds: float) -> None:
        """Let time pass without using a cpu."""

    def cpu_times(self) -> CpuTimes:
        """The current counters of the host."""
