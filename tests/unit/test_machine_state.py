"""What is read of the moment, on trees of /proc that we do not have."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.machine import counters, state
from assay.model.facts import Fact

BEFORE = {
    "proc/stat": "cpu  1000 0 200 8000 0 0 0 0 0 0\ncpu0 1 2 3 4\n",
    "proc/71/stat": "71 (a (odd) name) R 1 71 71 0 -1 0 0 0 0 0 100 20 0 0 20 0 1 0 1\n",
    "proc/72/stat": "72 (ours) R 1 72 72 0 -1 0 0 0 0 0 50 0 0 0 20 0 1 0 1\n",
    "proc/meminfo": "MemTotal: 100 kB\nSwapTotal: 1000 kB\nSwapFree: 400 kB\n",
}
#: 200 ticks later: 60 used, of them 30 by a process and 20 by ours; 20 stolen.
AFTER = {
    "proc/stat": "cpu  1050 0 210 8120 0 0 0 20 0 0\ncpu0 1 2 3 4\n",
    "proc/71/stat": "71 (a (odd) name) R 1 71 71 0 -1 0 0 0 0 0 125 25 0 0 20 0 1 0 1\n",
    "proc/72/stat": "72 (ours) R 1 72 72 0 -1 0 0 0 0 0 70 0 0 0 20 0 1 0 1\n",
}


def write(root: Path, tree: dict[str, str]) -> None:
    for name, content in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)


def read(root: Path, pause: Callable[[], None] = lambda: None) -> dict[str, Fact]:
    before = counters.read(root)
    pause()
    return state.facts(root, before, frozenset({72}))


def test_the_time_of_others_is_what_is_used_without_ours(tmp_path: Path) -> None:
    write(tmp_path, BEFORE)
    facts = read(tmp_path, lambda: write(tmp_path, AFTER))
    assert facts["used by others"].value == pytest.approx(40 / 200)
    assert facts["taken by the hypervisor"].value == pytest.approx(20 / 200)
    assert facts["busiest processes"].value == ("a (odd) name (71)",)


def test_what_our_own_children_used_meanwhile_is_not_of_others(tmp_path: Path) -> None:
    write(tmp_path, BEFORE)
    turns = "from time import process_time\nwhile process_time() < .1: pass"

    def later() -> None:
        write(tmp_path, AFTER)
        subprocess.run([sys.executable, "-c", turns], check=True)

    others = read(tmp_path, later)["used by others"].value
    assert isinstance(others, float)
    assert others <= (40 - 10) / 200  # .1 s are 10 ticks


def test_a_process_that_ends_meanwhile_is_no_fault(tmp_path: Path) -> None:
    write(tmp_path, BEFORE)

    def later() -> None:
        write(tmp_path, AFTER)
        (tmp_path / "proc/71/stat").unlink()

    assert read(tmp_path, later)["busiest processes"].value == "none"


def test_without_counters_the_shares_are_unknown(tmp_path: Path) -> None:
    facts = read(tmp_path)
    for name in ("used by others", "taken by the hypervisor", "busiest processes", "swap in use"):
        assert not facts[name].known


def test_swap_in_use_is_what_is_not_free(tmp_path: Path) -> None:
    write(tmp_path, BEFORE)
    assert read(tmp_path)["swap in use"].value == 600 * 1024


MOUNTED = "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"


def test_the_tightest_quota_around_the_process_counts(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/job/step\n",
            "proc/self/mountinfo": MOUNTED,
            "sys/fs/cgroup/job/step/cpu.max": "max 100000\n",
            "sys/fs/cgroup/job/cpu.max": "150000 100000\n",
        },
    )
    fact = read(tmp_path)["cpu quota"]
    assert (fact.value, fact.source) == (1.5, "/sys/fs/cgroup/job")


def test_a_quota_of_version_1_is_read_and_minus_one_is_none(tmp_path: Path) -> None:
    tree = {
        "proc/self/cgroup": "4:cpu,cpuacct:/job\n",
        "proc/self/mountinfo": "30 20 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n",
        "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "300000\n",
        "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000\n",
    }
    write(tmp_path, tree)
    assert read(tmp_path)["cpu quota"].value == 3.0
    write(tmp_path, {"sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "-1\n"})
    assert read(tmp_path)["cpu quota"].value == 0.0
