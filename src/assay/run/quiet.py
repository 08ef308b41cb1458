"""The cpu time that other processes use, and the wait until they use little."""

from collections import Counter
from collections.abc import Iterable

from assay.launch.command import CpuTimes, Executor
from assay.model.bracket import Bracket
from assay.model.run import CaseRecords

#: The kernel counts cpu time in ticks: a difference of one tick per cpu may be its rounding.
_TICK_S = 0.01
#: Seconds between two readings of the counters: 5 % of two cpus are ten ticks.
_LOOK_S = 0.5


def wait_until_quiet(executor: Executor, most_s: float) -> bool:
    """Wait until others use no more of the cpus than a launch tolerates; return whether they do.

    The counters are read at least once, even if `most_s` is 0.

    Args:
        executor: reads the counters.
        most_s: seconds to wait.
    """
    began_s = executor.now()
    while True:
        before, looked_s = executor.cpu_times(), executor.now()
        executor.sleep(_LOOK_S)
        now_s = executor.now()
        _, foreign = shares(before, executor.cpu_times(), now_s - looked_s)
        if foreign <= Bracket.FOREIGN:
            return True
        if now_s - began_s >= most_s:
            return False


def shares_elsewhere(cases: Iterable[CaseRecords]) -> tuple[float | None, float | None]:
    """The same shares on the worst host while cases were sampled, read by programs there; None if not read.

    Programs on hosts of one kernel see each other's work: the full capacity of the cpus of all these ranks does
    not count as foreign.
    """
    found = []
    for case in cases:
        if case.traffic is None or case.traffic.seconds <= 0:
            continue
        span, hosts = case.traffic.seconds, Counter(host.boot_id for host in case.traffic.hosts)
        occupied = Counter[str]()
        for rank in case.header.ranks:
            occupied[rank.boot_id] += len(rank.cpus)
        for host in (each for each in case.traffic.hosts if each.cpus):
            own = host.own_s if hosts[host.boot_id] == 1 else occupied[host.boot_id] * span
            foreign = host.used_s - own - _TICK_S * host.cpus
            found.append((host.stolen_s / (host.cpus * span), foreign / (host.cpus * span)))
    if not found:
        return None, None
    steal, foreign = (min(1.0, max(0.0, *each)) for each in zip(*found, strict=True))
    return steal, foreign


def shares(before: CpuTimes, after: CpuTimes, elapsed_s: float) -> tuple[float, float]:
    """Share of the cpus' time that the hypervisor took, and that other processes certainly used."""
    available = after.cpus * elapsed_s
    if available <= 0:
        return 0.0, 0.0
    foreign = after.busy - before.busy - (after.own - before.own) - _TICK_S * after.cpus
    steal = after.steal - before.steal
    return min(1.0, max(0.0, steal) / available), min(1.0, max(0.0, foreign) / available)
