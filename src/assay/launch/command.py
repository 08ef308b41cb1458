"""What a launcher makes and an executor starts."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal, Protocol

import msgspec

from assay.model.toolchain import Mpi


class Command(msgspec.Struct, frozen=True):
    """One process to start, ready for `execve`; no shell is involved.

    Attributes:
        argv: program and arguments.
        environment: variables to set beside those inherited; part of the record, so never a secret.
        grace_s: seconds from the request to end to the order to: launchers need a moment to end what they started
            elsewhere.
        files: variable -> lines of a file that it names while the command runs: for what is too long for a
            command line.
        ends: records that end a case, in what it prints until it is through; 0 if it prints none.
    """

    argv: tuple[str, ...]
    environment: dict[str, str]
    grace_s: float = 1.0
    files: dict[str, tuple[str, ...]] = {}
    ends: int = 0


class Sampling(msgspec.Struct, frozen=True):
    """How much a program may measure in one launch.

    Attributes:
        precision: stop when the relative half-width of the median's interval is below this.
        min_samples: of a kernel.
        max_samples: of a kernel.
        seconds: case id -> most seconds for the case, set-up excluded.
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
        exit_code: negative for a signal; None when it was ended at its time limit.
        involuntary_switches: context switches forced on it, -1 if unknown.
        lingered: whether it was ended because it stayed when it was through.
    """

    stdout: bytes
    stderr: bytes
    exit_code: int | None
    involuntary_switches: int = -1
    lingered: bool = False


class CpuTimes(msgspec.Struct, frozen=True):
    """Counters of the host since boot, summed over its cpus, in seconds.

    Attributes:
        busy: user, nice, system, interrupts.
        steal: taken by the hypervisor.
        own: cpu time of this process and its ended children.
        cpus: number of cpus that are counted.
        load: one-minute load average.
    """

    busy: float
    steal: float
    own: float
    cpus: int
    load: float


class Layout(msgspec.Struct, frozen=True):
    """Where the processes of one launch go.

    Attributes:
        hosts: nodes, in the order of the ranks.
        ranks: cpus of each rank on a host, the same on every host; ranks are numbered host by host. No cpus: any.
        by_host: the ranks of each host where they are not the same; empty if they are.
        mpi: what the program was built with; None for a program that stands alone on each host.
        network: device that messages shall use, an interface (`eth0`) or a port (`mlx5_0:1`); empty for whatever
            the MPI chooses.
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
    """The place where commands are typed.

    Attributes:
        host: name of this machine.
        scheduler: that gave the nodes that this process may use; empty outside an allocation.
        launcher: name of the launcher that the user wants; empty for the one that fits best.
        run: id that everything started elsewhere carries (`ASSAY_RUN`), so that it can be found and ended.
        ssh_config: file for `ssh -F`; empty for the user's own.
        sockets: folder of this user alone, on a local disk, where ssh keeps connections open for the next command;
            empty for a connection of its own for each.
        root: whether this process is root, which some launchers refuse to serve unless told to.
        job: name of the job that this process belongs to (`assay submit`); empty if the command was typed.
        task_starter: path of the program by which PBS starts a task of the job on another node (`pbs_tmrsh`);
            empty elsewhere, and of a PBS without it.
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
    """A pure translator: it starts nothing and asks nobody. `launch/` has one module for each.

    Attributes:
        name: as users say it.
        preference: of those that fit, the one with the lowest is taken.
    """

    name: str
    preference: int

    def fits(self, layout: Layout, site: Site) -> bool:
        """Whether it can start a program so."""

    def translate(self, layout: Layout, site: Site, argv: tuple[str, ...], environment: dict[str, str]) -> Command:
        """The command that starts `argv`, with these variables set, on each rank of the layout."""


class Executor(Protocol):
    """Starts commands and tells the time: the one place that touches the machine, and the one that is faked."""

    def execute(self, command: Command, timeout: float) -> Outcome:
        """Start it, wait, and return its output; end it and all it started after `timeout` seconds."""

    def execute_together(
        self, commands: Sequence[Command], timeout: float, at_limit: Callable[[], None] = ...
    ) -> tuple[Outcome, ...]:
        """The same with several at once, within the same time; `at_limit` is called before any is ended by it."""

    def now(self) -> float:
        """Seconds on a clock that never goes back."""

    def date(self) -> datetime:
        """The date and the time of day now, which somebody may set."""

    def sleep(self, seconds: float) -> None:
        """Let time pass without using a cpu."""

    def cpu_times(self) -> CpuTimes:
        """The host's counters now."""
