"""What a launcher makes and an executor starts."""

from typing import Protocol

import msgspec

from assay.model.plan import Case, Plan, PlannedLaunch


class Command(msgspec.Struct, frozen=True):
    """One process to start, ready for `execve`; no shell is involved.

    Attributes:
        argv: program and arguments.
        environment: variables to set beside those inherited; part of the record, so never a secret.
    """

    argv: tuple[str, ...]
    environment: dict[str, str]


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
        involuntary_switches: context switches forced on it, -1 where unknown.
    """

    stdout: bytes
    stderr: bytes
    exit_code: int | None
    involuntary_switches: int = -1


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


class Launcher(Protocol):
    """A pure translator. `launch/` has one module for each; `translate` and `probe` do no I/O."""

    name: str

    def fits(self, plan: Plan) -> bool:
        """Whether it can start the launches of the plan, here and now."""

    def translate(
        self, plan: Plan, launch: PlannedLaunch, cases: tuple[Case, ...], program: str, sampling: Sampling
    ) -> Command:
        """The command that runs the cases of a launch with `program`, the path of its executable."""

    def probe(self, plan: Plan, program: str, seconds: float) -> Command:
        """The command that measures the hand-over between the plan's probe cpus for `seconds`."""


class Executor(Protocol):
    """Starts commands and tells the time: the one place that touches the machine, and the one that is faked."""

    def execute(self, command: Command, timeout: float) -> Outcome:
        """Start it, wait, and return its output; end it and all it started after `timeout` seconds."""

    def now(self) -> float:
        """Seconds on a clock that never goes back."""

    def cpu_times(self) -> CpuTimes:
        """The host's counters now."""
