"""What others take of the machine's cpus, and the wait until they take little."""

from collections import Counter
from collections.abc import Iterable

from assay.launch.command import CpuTimes, Executor
from assay.model.bracket import Bracket
from assay.model.run import CaseRecords

#: The kernel counts cpu time in ticks: what differs by no more than one on each cpu is not known to be foreign.
_TICK_S = 0.01
#: Counters are read so far apart: 5 % of two cpus are ten ticks in it.
_LOOK_S = 0.5


def wait_until_quiet(executor: Executor, most_s: float) -> tuple[bool, float]:
    """Whether others have come to use no more of the cpus than a launch tolerates, and the seconds waited for it.

    The machine is looked at once even if nothing may be waited.

    Args:
        executor: that reads the counters.
        most_s: seconds to wait.
    """
    began_s = executor.now()
    while True:
        before, looked_s = executor.cpu_times(), executor.now()
        executor.sleep(_LOOK_S)
        now_s = executor.now()
        _, foreign = shares(before, executor.cpu_times(), now_s - looked_s)
        if foreign <= Bracket.FOREIGN:
            return True, now_s - began_s
        if now_s - began_s >= most_s:
            return False, now_s - began_s


def shares_elsewhere(cases: Iterable[CaseRecords]) -> tuple[float | None, float | None]:
    """The same of the worst other host while cases were sampled, as programs there read it; None if none did.

    Programs on hosts of one kernel see each other's work before and after their own: as much as the cpus that they
    stand on can do is none of others.
    """
    found = []
    for case in cases:
        if case.traffic is None or case.traffic.seconds <= 0:
            continue
        span, hosts = case.traffic.seconds, Counter(host.boot_id for host in case.traffic.hosts)
        standing = Counter[str]()
        for rank in case.header.ranks:
            standing[rank.boot_id] += len(rank.cpus)
        for host in (each for each in case.traffic.hosts if each.cpus):
            own = host.own_s if hosts[host.boot_id] == 1 else standing[host.boot_id] * span
            foreign = host.used_s - own - _TICK_S * host.cpus
            found.append((host.stolen_s / (host.cpus * span), foreign / (host.cpus * span)))
    if not found:
        return None, None
    steal, foreign = (min(1.0, max(0.0, *each)) for each in zip(*found, strict=True))
    return steal, foreign


def shares(before: CpuTimes, after: CpuTimes, elapsed_s: float) -> tuple[float, float]:
    """Share of the cpus' time that the hypervisor took, and that other processes used for certain."""
    available = after.cpus * elapsed_s
    if available <= 0:
        return 0.0, 0.0
    foreign = after.busy - before.busy - (after.own - before.own) - _TICK_S * after.cpus
    steal = after.steal - before.steal
    return min(1.0, max(0.0, steal) / available), min(1.0, max(0.0, foreign) / available)
