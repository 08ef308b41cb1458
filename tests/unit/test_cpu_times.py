"""What is read from the counters of the kernel: their fields, in ticks, and what others use while cases run."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from assay.analyse import states
from assay.launch.command import CpuTimes
from assay.model.bracket import Bracket, Handover
from assay.model.run import CaseRecords
from assay.run.process import Processes
from assay.run.quiet import shares_elsewhere, wait_until_quiet

STAT = """cpu  100 20 300 4000 500 60 7 80 9 10
cpu0 50 10 150 2000 250 30 3 40 0 0
cpu1 50 10 150 2000 250 30 4 40 0 0
intr 123
ctxt 456
"""


def test_busy_and_stolen_times_are_those_of_proc_stat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proc(5): user nice system idle iowait irq softirq steal guest guest_nice, in ticks."""
    monkeypatch.setattr(Path, "read_text", lambda _self: STAT)
    monkeypatch.setattr(
        os, "times", lambda: SimpleNamespace(user=1.0, system=2.0, children_user=4.0, children_system=8.0)
    )
    monkeypatch.setattr(os, "getloadavg", lambda: (0.5, 0.6, 0.7))
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    busy = (100 + 20 + 300 + 60 + 7) * tick_s
    assert Processes().cpu_times() == pytest.approx(CpuTimes(busy, 80 * tick_s, 15.0, 2, 0.5))


def test_without_proc_stat_nothing_is_known_but_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_self: Path) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", missing)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.5, 0.6, 0.7))
    assert Processes().cpu_times() == CpuTimes(0.0, 0.0, 0.0, 0, 0.5)


class Busy:
    """An executor on two cpus, on which others use a share of the time until a moment."""

    def __init__(self, share: float, until_s: float) -> None:
        self._share, self._until_s, self._now_s = share, until_s, 100.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self._now_s

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._now_s += seconds

    def cpu_times(self) -> CpuTimes:
        rounding_s = 0.01 * 2 * (self._now_s - 100) / 0.5
        busy = 2 * self._share * min(self._now_s - 100, self._until_s) + rounding_s
        return CpuTimes(busy, 0.0, 0.0, 2, 0.0)


def waited(share: float, until_s: float, most_s: float) -> tuple[bool, float]:
    executor: Any = Busy(share, until_s)
    found = wait_until_quiet(executor, most_s)
    assert set(executor.slept) == {0.5}
    return found, sum(executor.slept)


@pytest.mark.parametrize(
    ("share", "until_s", "most_s", "found"),
    [
        (0.0, 9.0, 0.0, (True, 0.5)),
        (Bracket.FOREIGN - 0.001, 9.0, 9.0, (True, 0.5)),
        (Bracket.FOREIGN + 0.001, 9.0, 0.0, (False, 0.5)),
        (1.0, 9.0, 0.5, (False, 0.5)),
        (1.0, 9.0, 0.6, (False, 1.0)),
        (1.0, 1.5, 5.0, (True, 2.0)),
    ],
)
def test_the_wait_ends_when_others_use_little_or_it_took_too_long(
    share: float, until_s: float, most_s: float, found: tuple[bool, float]
) -> None:
    assert waited(share, until_s, most_s) == pytest.approx(found)


def host(boot: str, *, cpus: int = 2, used: float = 0.0, own: float = 0.0, stolen: float = 0.0) -> SimpleNamespace:
    return SimpleNamespace(boot_id=boot, cpus=cpus, used_s=used, own_s=own, stolen_s=stolen)


def case(seconds: float, *hosts: SimpleNamespace, ranks: tuple[tuple[str, int], ...] = ()) -> CaseRecords:
    header = SimpleNamespace(ranks=[SimpleNamespace(boot_id=boot, cpus=range(cpus)) for boot, cpus in ranks])
    traffic = SimpleNamespace(seconds=seconds, hosts=hosts)
    return cast("CaseRecords", SimpleNamespace(traffic=traffic, header=header))


def test_the_worst_host_counts_without_own_work_and_a_tick_of_each_cpu() -> None:
    quiet = host("a", used=3.02, own=3.0, stolen=0.4)
    loud = host("b", used=5.02, own=3.0, stolen=0.2)
    assert shares_elsewhere([case(10.0, quiet, loud)]) == pytest.approx((0.4 / 20, 2.0 / 20))
    assert shares_elsewhere([case(10.0, quiet), case(5.0, loud)]) == pytest.approx((0.2 / 10, 2.0 / 10))


def test_hosts_of_one_kernel_see_each_others_work() -> None:
    same = [host("a", cpus=4, used=25.04, own=1.0), host("a", cpus=4, used=25.04, own=2.0)]
    found = shares_elsewhere([case(10.0, *same, ranks=(("a", 1), ("a", 1), ("b", 2)))])
    assert found == pytest.approx((0.0, (25 - 2 * 10) / 40))


def test_shares_elsewhere_are_unknown_without_counters_and_between_0_and_1() -> None:
    assert shares_elsewhere([]) == (None, None)
    assert shares_elsewhere([case(0.0, host("a"))]) == (None, None)
    assert shares_elsewhere([case(1.0, host("a", cpus=0))]) == (None, None)
    assert shares_elsewhere([SimpleNamespace(traffic=None)]) == (None, None)  # type: ignore[list-item]
    assert shares_elsewhere([case(1.0, host("a", used=99.0, stolen=99.0))]) == (1.0, 1.0)
    assert shares_elsewhere([case(1.0, host("a", own=5.0, stolen=-1.0))]) == (0.0, 0.0)
    known = case(10.0, host("a", used=4.02, stolen=2.0))
    assert shares_elsewhere([case(0.0, host("a")), known]) == pytest.approx((0.1, 0.2))


def bracket(before: float | None, after: float | None) -> Bracket:
    probes = [None if each is None else Handover((0, 1), 1, [each]) for each in (before, after)]
    return Bracket(probes[0], probes[1], 1, 0, 0, 0, 0)


def border(*brackets: Bracket) -> float | None:
    run: Any = SimpleNamespace(
        launches=[SimpleNamespace(launch=SimpleNamespace(bracket=each)) for each in brackets]
    )
    return states.border(run)


def test_a_probe_that_took_no_time_is_none() -> None:
    steady = [bracket(10.0, 10.0)] * 4
    assert border(bracket(0.0, 0.0), bracket(0.0, 0.0), *steady) is None


def test_the_border_of_states_is_in_the_widest_gap() -> None:
    four = [bracket(each, each) for each in (10.0, 11.0, 17.0, 17.5, 40.0, 41.0)]
    assert border(*four) == pytest.approx((17.5 * 40) ** 0.5)
    assert border(*[bracket(each, each) for each in (2.0, 2.0, 3.0, 3.0)]) == pytest.approx(6**0.5)  # just 1.5
    assert border(*[bracket(each, each) for each in (2.0, 2.0, 2.98, 2.98)]) is None


@pytest.mark.parametrize(
    ("probes", "found"),
    [
        ((10, 10, 10, 10, 30, 30, 30, 30, 101), 300**0.5),  # a single probe is no state, however far
        ((10, 10, 15.5, 23, 23), 155**0.5),
        ((10, 14, 20.9, 20.9), None),
        ((10, 12, 19, 20), 228**0.5),
    ],
)
def test_the_gap_is_between_neighbours(probes: tuple[float, ...], found: float | None) -> None:
    nano = [bracket(None, each * 1e-9) for each in probes]
    assert border(*nano) == (found and pytest.approx(found * 1e-9))


def test_launches_stay_in_a_state_for_it_to_be_one() -> None:
    # Far are three probes, but only one launch stayed there.
    assert border(bracket(1.0, 1.0), bracket(1.0, 1.0), bracket(1.0, 3.0), bracket(3.0, 3.0)) is None
    assert border(bracket(1.0, 1.0)) is None
    assert border() is None


@pytest.mark.parametrize(
    ("before", "after", "state"),
    [(1.0, 2.0, "near"), (2.0, 2.0, "near"), (2.1, 3.0, "far"), (1.0, 3.0, "unsettled"), (None, 3.0, "far")],
)
def test_a_launch_is_far_beyond_the_border(before: float | None, after: float, state: str) -> None:
    assert states.state(bracket(before, after), 2.0) == state
    assert states.state(bracket(before, after), None) is None
    assert states.state(bracket(None, None), 2.0) is None
