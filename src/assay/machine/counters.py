"""Counters of the kernel since boot: of all cpus, and of each process."""

import os
import resource
import time
from pathlib import Path
from typing import NamedTuple

from assay.machine import files

#: File of the counters of all cpus.
STAT = "proc/stat"


class Counters(NamedTuple):
    """Counters at one moment.

    Attributes:
        at_s: time of reading, seconds of the monotonic clock.
        all: ticks of all cpus.
        used: ticks in which something ran.
        steal: ticks that a hypervisor took.
        children: ticks of ended children of this process.
        processes: process id -> name and ticks.
    """

    at_s: float
    all: int
    used: int
    steal: int
    children: int
    processes: dict[int, tuple[str, int]]


def read(root: Path) -> Counters | None:
    """The counters now; None if there are none.

    Args:
        root: `/`, or a test folder.
    """
    at_s = time.monotonic()
    words = (files.text(root / STAT) or "").split("\n", 1)[0].split()
    if len(words) < 9 or words[0] != "cpu":  # noqa: PLR2004 (proc(5): eight counters, steal is the last)
        return None
    user, nice, system, idle, iowait, irq, softirq, steal = (int(word) for word in words[1:9])
    used = user + nice + system + irq + softirq
    return Counters(at_s, used + idle + iowait + steal, used, steal, _children_ticks(), dict(_processes(root)))


def _children_ticks() -> int:
    """Cpu time of ended children of this process, in ticks."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round((used.ru_utime + used.ru_stime) * os.sysconf("SC_CLK_TCK"))


def _processes(root: Path) -> list[tuple[int, tuple[str, int]]]:
    """Id, name and ticks of user and system time of each process (proc(5), fields 2, 14 and 15)."""
    found = []
    for folder in files.entries(root / "proc", "[0-9]*"):
        before, bracket, after = (files.text(folder / "stat") or "").rpartition(")")
        fields = after.split()
        if bracket and len(fields) > 12:  # noqa: PLR2004 (field 15 is the thirteenth after the name)
            name = before.partition("(")[2]
            found.append((int(folder.name), (name, int(fields[11]) + int(fields[12]))))
    return found
