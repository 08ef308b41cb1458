"""Facts of this moment: who uses the machine now, and what the limits around this process leave."""

import os
import resource
import time
from pathlib import Path
from typing import NamedTuple

from assay.machine import files, memory_limit
from assay.model.facts import Fact, unavailable

_STAT = "proc/stat"
_BUSIEST = 3
#: A process below this share of one cpu is not worth a name.
_WORTH_A_NAME = 0.05
#: What cgroup version 1 allows by default for one period, in µs.
_PERIOD_US = 100_000


class Times(NamedTuple):
    """Counters since boot, in ticks: of all cpus together, and of each process by its number."""

    all: int
    used: int
    steal: int
    processes: dict[int, tuple[str, int]]


class Watch:
    """A watch of what others use, from now on. What this process's children do meanwhile does not count.

    Args:
        root: `/`, or a stand-in.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._before, self._children, self._began_s = _times(root), _children_ticks(), time.monotonic()

    @property
    def elapsed_s(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._began_s

    def facts(self, own: frozenset[int]) -> dict[str, Fact]:
        """The section `now`, by what was used since it began.

        Args:
            own: numbers of processes that are ours and do not count.
        """
        after = _times(self._root)
        return {
            **_shares(self._before, after, own, _children_ticks() - self._children),
            "swap in use": _swap_in_use(self._root),
            "cpu quota": _cpu_quota(self._root),
            "lockable memory": _lockable(),
        }


def _children_ticks() -> int:
    """Time that ended children of this process used, in ticks."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round((used.ru_utime + used.ru_stime) * os.sysconf("SC_CLK_TCK"))


def _times(root: Path) -> Times | None:
    words = (files.text(root / _STAT) or "").split("\n", 1)[0].split()
    if len(words) < 9 or words[0] != "cpu":  # noqa: PLR2004 (proc(5): eight counters, steal is the last)
        return None
    user, nice, system, idle, iowait, irq, softirq, steal = (int(word) for word in words[1:9])
    used = user + nice + system + irq + softirq
    return Times(used + idle + iowait + steal, used, steal, dict(_processes(root)))


def _processes(root: Path) -> list[tuple[int, tuple[str, int]]]:
    """Number, name and ticks of user and system time of each process (proc(5), fields 2, 14 and 15)."""
    found = []
    for folder in files.entries(root / "proc", "[0-9]*"):
        before, bracket, after = (files.text(folder / "stat") or "").rpartition(")")
        fields = after.split()
        if bracket and len(fields) > 12:  # noqa: PLR2004 (field 15 is the thirteenth after the name)
            name = before.partition("(")[2]
            found.append((int(folder.name), (name, int(fields[11]) + int(fields[12]))))
    return found


def _shares(before: Times | None, after: Times | None, own: frozenset[int], children: int) -> dict[str, Fact]:
    names = ("used by others", "busiest processes", "taken by the hypervisor")
    if before is None or after is None or after.all <= before.all:
        return dict.fromkeys(names, unavailable(f"/{_STAT}: no usable counters"))
    span = after.all - before.all
    used = {
        number: ticks - before.processes.get(number, (name, ticks))[1]
        for number, (name, ticks) in after.processes.items()
    }
    others = max(0, after.used - before.used - children - sum(used.get(number, 0) for number in own))
    busiest = sorted((number for number in used if number not in own), key=lambda number: -used[number])
    named = tuple(
        f"{after.processes[number][0]} ({number})"
        for number in busiest[:_BUSIEST]
        if used[number] > _WORTH_A_NAME * span
    )
    source = f"/{_STAT}, while the checks ran"
    return {
        "used by others": Fact(others / span, source=source),
        "busiest processes": Fact(named or "none", source="/proc/*/stat"),
        "taken by the hypervisor": Fact((after.steal - before.steal) / span, source=source),
    }


def _swap_in_use(root: Path) -> Fact:
    info = files.fields(files.text(root / "proc/meminfo"))
    amounts = [info.get(name, "").split()[:1] for name in ("SwapTotal", "SwapFree")]
    if not all(amounts):
        return unavailable("/proc/meminfo: no usable value")
    total, free = (int(words[0]) * 1024 for words in amounts)
    return Fact(total - free, "B", "/proc/meminfo (SwapTotal - SwapFree)")


def _cpu_quota(root: Path) -> Fact:
    """Cpus' worth of time that the cgroups around this process leave it; 0 where they do not limit it."""
    least: tuple[float, str] | None = None
    for folder in memory_limit.cgroup_folders(root, "cpu"):
        quota, period = _quota(folder)
        if quota is not None and quota > 0 and period > 0:
            name = "/" + str(folder.relative_to(root))
            least = min(least or (quota / period, name), (quota / period, name))
    return Fact(least[0], source=least[1]) if least else Fact(0.0, source="no cgroup limits cpu time")


def _quota(folder: Path) -> tuple[int | None, int]:
    unified = (files.text(folder / "cpu.max") or "").split()
    if len(unified) == 2:  # noqa: PLR2004 (quota and period)
        return (None if unified[0] == "max" else int(unified[0])), int(unified[1])
    return files.number(folder / "cpu.cfs_quota_us"), files.number(folder / "cpu.cfs_period_us") or _PERIOD_US


def _lockable() -> Fact:
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return Fact("unlimited" if soft == resource.RLIM_INFINITY else soft, "B", "ulimit -l")
