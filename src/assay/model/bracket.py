"""What the machine did around a launch: probes just before and after it, and the load of other processes."""

import msgspec


class Handover(msgspec.Struct, frozen=True):
    """Samples of the hand-over probe: the time a cache line takes from one core to another, one way.

    Attributes:
        cpus: the two cores.
        iterations: hand-overs in each sample.
        seconds: duration of each sample, undivided.
    """

    cpus: tuple[int, ...]
    iterations: int
    seconds: list[float]

    @property
    def median_s(self) -> float:
        """Median time of one hand-over, seconds."""
        ordered = sorted(self.seconds)
        middle = len(ordered) // 2
        median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
        return median / self.iterations


class Bracket(msgspec.Struct, frozen=True):
    """What the machine did around a launch.

    Attributes:
        before: probe just before it; None if there is one core or no probe.
        after: probe just after it.
        elapsed_s: wall time of the launch, start of program to its end.
        steal: share of the cpus' time that the hypervisor took during the launch (on other hosts than this one:
            while cases were sampled), for the worst host; None if it was not measured.
        foreign: share of the cpus' time that other processes used; None if it was not measured.
        involuntary_switches: context switches forced on the program; -1 if unknown.
        load: one-minute load average before it.
    """

    before: Handover | None
    after: Handover | None
    elapsed_s: float
    steal: float | None
    foreign: float | None
    involuntary_switches: int
    load: float

    #: Probes that differ by more than this factor (far / near is about 4 on virtual machines) mean that the cores
    #: moved.
    MOVED = 1.5
    #: More than this share of foreign CPU disturbs a launch.
    FOREIGN = 0.05

    @property
    def probes(self) -> tuple[Handover, ...]:
        """The probes that were made."""
        return tuple(each for each in (self.before, self.after) if each is not None)

    @property
    def is_crowded(self) -> bool:
        """Whether other processes used more cpu time than a launch tolerates."""
        return self.foreign is not None and self.foreign > self.FOREIGN

    @property
    def disturbance(self) -> str:
        """Why the launch should be repeated; empty if it was quiet."""
        if self.before and self.after:
            ratio = self.after.median_s / self.before.median_s
            if not 1 / self.MOVED < ratio < self.MOVED:
                return f"hand-over changed x{ratio:.2f} during the launch"
        return f"other processes used {100 * (self.foreign or 0):.0f} % of the cpus" if self.is_crowded else ""
