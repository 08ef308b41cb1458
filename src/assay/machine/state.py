"""Facts of the current state: use of the machine by others, and limits of this process."""

import resource
from pathlib import Path

from assay.machine import counters, files, memory
from assay.machine.counters import STAT, Counters
from assay.model.facts import Fact, unavailable

_BUSIEST = 3
#: Processes below this share of one cpu are not named.
_WORTH_A_NAME = 0.05
#: Default period of cgroup version 1, in µs.
_PERIOD_US = 100_000


def facts(root: Path, before: Counters | None, own: frozenset[int]) -> dict[str, Fact]:
    """The section `now`. Ended children of this process do not count as others.

    Args:
        root: `/`, or a test folder.
        before: earlier counters: shares are of the time since then.
        own: ids of our own processes, which do not count.
    """
    return {
        **_shares(before, counters.read(root), own),
        "swap in use": _swap_in_use(root),
        "cpu quota": _cpu_quota(root),
        "lockable memory": _lockable(),
    }


def _shares(before: Counters | None, after: Counters | None, own: frozenset[int]) -> dict[str, Fact]:
    names = ("used by others", "busiest processes", "taken by the hypervisor")
    if before is None or after is None or after.all <= before.all:
        return dict.fromkeys(names, unavailable(f"/{STAT}: no usable counters"))
    span = after.all - before.all
    used = {
        number: ticks - before.processes.get(number, (name, ticks))[1]
        for number, (name, ticks) in after.processes.items()
    }
    ours = after.children - before.children + sum(used.get(number, 0) for number in own)
    others = max(0, after.used - before.used - ours)
    busiest = sorted((number for number in used if number not in own), key=lambda number: -used[number])
    named = tuple(
        f"{after.processes[number][0]} ({number})"
        for number in busiest[:_BUSIEST]
        if used[number] > _WORTH_A_NAME * span
    )
    source = f"/{STAT}, while the checks ran"
    return {
        "used by others": Fact(others / span, source=source),
        "busiest processes": Fact(named or "none", source="/proc/*/stat"),
        "taken by the hypervisor": Fact((after.steal - before.steal) / span, source=source),
    }


def _swap_in_use(root: Path) -> Fact:
    known = files.amounts(files.text(root / "proc/meminfo"))
    if not {"SwapTotal", "SwapFree"} <= known.keys():
        return unavailable("/proc/meminfo: no usable value")
    return Fact(known["SwapTotal"] - known["SwapFree"], "B", "/proc/meminfo (SwapTotal - SwapFree)")


def _cpu_quota(root: Path) -> Fact:
    """The quota of cpu time of the enclosing cgroups, as a number of cpus; 0 if they do not limit it."""
    least: tuple[float, str] | None = None
    for folder in memory.cgroup_folders(root, "cpu"):
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
