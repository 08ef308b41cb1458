"""Launches tried before a measurement: a slow machine is no fault, a broken node is named, a hang is told."""

import time
from collections.abc import Callable

import pytest

from assay.cli.support import together
from assay.cli.support.together import Between, try_launches
from assay.launch.command import Command, Executor, Site
from assay.launch.starter import Starter
from assay.model.facts import Verdict
from assay.model.toolchain import Build, Toolchain
from assay.run.trial import LONG, SHORT, Patience, Trial

PAIR = ("n1", "n2")
BUILD = Build("k", Toolchain("gcc", "/usr/bin/g++", "12", ()), "zen3", "s", {}, {}, openmp=True, built="")
FINE = Trial(Verdict("ok", "2 ranks"), waited=False)
WAITS = Trial(Verdict("problem", "ranks wait", "open the ports"), waited=True)
FAILS = Trial(Verdict("problem", "no library", "load it"), waited=False)

Answer = Callable[[str, tuple[str, ...], Patience], Trial]


def tried(
    monkeypatch: pytest.MonkeyPatch, answer: Answer, *, explained: bool = False, scheduler: str = ""
) -> tuple[list[tuple[str, str]], list[tuple[str, Patience]]]:
    """Name and state of each check, and the launches of a rank on each host that were made."""
    made: list[tuple[str, Patience]] = []

    def attempt(
        each: Between, hosts: tuple[str, ...], _starter: Starter, patience: Patience, _executor: Executor
    ) -> Trial:
        if hosts == PAIR:
            made.append((each.network, patience))
        return answer(each.network, hosts, patience)

    monkeypatch.setattr(together, "_attempt", attempt)
    between = [Between(BUILD, network, PAIR) for network in ("eth0", "eth1")]
    starter = Starter(Site("n0", scheduler=scheduler))  # type: ignore[arg-type]
    checks = try_launches(between, starter, lambda: explained)
    return [(each.name, each.state) for each in checks], made


BOTH = [("eth0", SHORT), ("eth1", SHORT)]


def test_launches_that_end_well_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    checks, made = tried(monkeypatch, lambda *_: FINE)
    assert [state for _, state in checks] == ["ok", "ok"]
    assert sorted(made) == BOTH


def test_a_slow_machine_is_no_fault_and_the_wait_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checks, made = tried(
        monkeypatch, lambda network, _, patience: WAITS if (network, patience) == BOTH[1] else FINE
    )
    assert [state for _, state in checks] == ["ok", "ok"]
    assert sorted(made) == [*BOTH, ("eth1", LONG)]
    assert "ranks wait; next: open the ports; now trying with 30 s" in " ".join(capsys.readouterr().err.split())


def test_a_launch_that_hangs_twice_is_a_problem_of_its_network_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    checks, _ = tried(
        monkeypatch, lambda network, hosts, _: WAITS if network == "eth1" and hosts == PAIR else FINE
    )
    assert [(name.endswith("over eth1"), state) for name, state in checks] == [(False, "ok"), (True, "problem")]


def test_a_node_on_which_a_single_rank_fails_is_named_and_nothing_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checks, made = tried(monkeypatch, lambda _, hosts, __: {PAIR: WAITS, ("n2",): FAILS}.get(hosts, FINE))
    assert [(name.endswith(" on n2"), state) for name, state in checks] == [(True, "problem")]
    assert sorted(made) == BOTH


@pytest.mark.parametrize(("explained", "scheduler"), [(True, ""), (False, "slurm")])
def test_what_nodes_explain_or_fails_at_once_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, *, explained: bool, scheduler: str
) -> None:
    """A single rank by a shell says nothing inside a scheduler."""
    checks, made = tried(
        monkeypatch,
        lambda _, hosts, __: FAILS if hosts == PAIR else WAITS,
        explained=explained,
        scheduler=scheduler,
    )
    assert [state for _, state in checks] == ["problem", "problem"]
    assert sorted(made) == BOTH


def test_nobody_waits_for_a_launch_that_lacks_a_program() -> None:
    class Sleeping(Starter):
        def trial(self, *_: object) -> Command:
            return Command(("sleep", "600"), {})

    looked: list[float] = []

    def hopeless() -> bool:
        looked.append(time.monotonic())
        return len(looked) > 1

    began_s = time.monotonic()
    (check,) = try_launches([Between(BUILD, "eth0", PAIR)], Sleeping(Site("n0")), lambda: True, hopeless)
    assert check.state == "problem"
    assert time.monotonic() - began_s < SHORT.launch_s
    assert len(looked) == 2  # and no longer launch was made
