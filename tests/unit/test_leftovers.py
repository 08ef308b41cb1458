"""What a run looks for and ends on other hosts, and when: on a simulated node that is reached by ssh."""

import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.simulation import TWO_CORES, Recorder, begin, builds_for, described, plan_for

from assay import store
from assay.analyse import analyse
from assay.launch.command import Command, Outcome, Site
from assay.launch.starter import Starter
from assay.launch.sweep import LOOK, SCRIPT
from assay.model.errors import UnfitEnvironmentError
from assay.model.plan import Case, Measure, Plan, Study
from assay.model.run import Run
from assay.plan import Options
from assay.run import execute
from assay.run.leftovers import _sweep, end_leftovers, find_stuck
from assay.simulation import Law, SimulatedMachine

ONE = Study("One", "A question?", (Measure("stream", ("one-core",), axes={"elements": 1_000_000}),), launches=2)
CLEAR = Outcome(b"", b"", 0)
FOUND = Outcome(b"41 /cache/stream --cpus 0\n", b"", 0)
REFUSED = Outcome(b"", b"ssh: connect to host there port 22: Connection refused\n", 255)


def plan_elsewhere() -> Plan:
    """Of one node, `there`."""
    return msgspec.structs.replace(plan_for(study=ONE, options=Options(hosts=("there",))), probe_cpus=())


class Reached(SimulatedMachine):
    """A node behind ssh; `launch` says how its programs end, `look` what those find who look for leftovers."""

    def __init__(self, launch: Callable[[Outcome], Outcome], look: Outcome) -> None:
        super().__init__(described(TWO_CORES).topology, Law(), ("there",))
        self._launch = launch
        self._look = look
        self.seen: list[str] = []

    def execute(self, command: Command, timeout: float) -> Outcome:
        words = shlex.split(command.argv[-1]) if command.argv[0] == "ssh" else list(command.argv)
        where = command.argv[-2] if command.argv[0] == "ssh" else "here"
        if SCRIPT in words:
            assert words[-1] == "r1"
            self.seen.append(f"look {where}")
            return self._look if where == "there" else CLEAR
        self.seen.append(f"launch {where}")
        assert words[:2] == ["exec", "env"]
        program = next(index for index, word in enumerate(words) if word.startswith("/"))
        assert "ASSAY_RUN=r1" in words[:program]
        return self._launch(super().execute(Command(tuple(words[program:]), {}), timeout))


def carry_out(folder: Path, node: Reached, scheduler: str = "", ssh_config: str = "") -> Run:
    plan = plan_elsewhere()
    site = msgspec.convert({"host": "here", "run": "r1", "scheduler": scheduler, "ssh_config": ssh_config}, Site)
    with begin(folder, plan) as directory:
        execute(plan, directory, Starter(site), node, builds_for(plan), Recorder())
        return store.load(directory.path)


def carry_on(folder: Path) -> Run:
    """Go on with a run whose node is back."""
    plan, starter = plan_elsewhere(), Starter(Site("here", run="r1"))
    with store.reopen(folder) as directory:
        execute(plan, directory, starter, Reached(whole, CLEAR), builds_for(plan), Recorder())
        return store.load(folder)


def whole(outcome: Outcome) -> Outcome:
    return outcome


def timed_out(outcome: Outcome) -> Outcome:
    return msgspec.structs.replace(outcome, exit_code=None)


def silent(_outcome: Outcome) -> Outcome:
    return Outcome(b"", b"", None)


def interrupted(_outcome: Outcome) -> Outcome:
    raise KeyboardInterrupt


def test_a_run_begins_with_a_look_at_every_host_and_needs_no_other_where_all_ends_well(tmp_path: Path) -> None:
    node = Reached(whole, CLEAR)
    run = carry_out(tmp_path, node)
    assert sorted(node.seen[:2]) == ["look here", "look there"]
    assert set(node.seen[2:]) == {"launch there"}
    assert [one.launch.message for one in run.launches] == [""] * len(run.launches)


def test_what_a_launch_left_at_its_time_limit_is_ended_and_said(tmp_path: Path) -> None:
    node = Reached(timed_out, FOUND)
    run = carry_out(tmp_path, node)
    assert sorted(node.seen[3:5]) == ["look here", "look there"]
    assert "assay: ended on there: 41 /cache/stream --cpus 0" in run.launches[0].launch.message


def test_an_interrupted_run_leaves_nothing_on_any_host(tmp_path: Path) -> None:
    node = Reached(interrupted, FOUND)
    run = carry_out(tmp_path, node)
    assert node.seen[2] == "launch there"
    assert sorted(node.seen[3:]) == ["look here", "look there"]
    assert run.ending is not None
    assert run.ending.status == "interrupted"


def test_a_host_that_refuses_is_said_before_anything_is_measured(tmp_path: Path) -> None:
    node = Reached(whole, REFUSED)
    with pytest.raises(UnfitEnvironmentError, match="'there' cannot be reached") as refused:
        carry_out(tmp_path, node)
    assert "Connection refused" in refused.value.why
    assert refused.value.remedy == "assay doctor --hosts there"
    assert "launch there" not in node.seen


def test_a_host_is_not_measured_while_something_of_the_run_cannot_be_ended(tmp_path: Path) -> None:
    with pytest.raises(UnfitEnvironmentError, match="not clear of this run's processes"):
        carry_out(tmp_path, Reached(whole, msgspec.structs.replace(FOUND, exit_code=1)))


def test_inside_a_scheduler_with_ways_of_its_own_a_host_may_refuse_ssh(tmp_path: Path) -> None:
    node = Reached(whole, REFUSED)
    run = carry_out(tmp_path, node, "pbs")
    assert "launch there" in node.seen
    assert run.ending is not None
    assert run.ending.status == "complete"


class Lost(Reached):
    """A node that is gone when the first launch on it has ended badly."""

    def execute(self, command: Command, timeout: float) -> Outcome:
        if any(one.startswith("launch") for one in self.seen):
            self._look = REFUSED
        return super().execute(command, timeout)


def test_a_node_that_is_lost_ends_the_run_which_makes_its_launch_again_when_it_goes_on(tmp_path: Path) -> None:
    with pytest.raises(UnfitEnvironmentError, match="'there' cannot be reached any more") as lost:
        carry_out(tmp_path, Lost(silent, CLEAR), ssh_config="lab config")
    (folder,) = tmp_path.iterdir()
    assert "Connection refused" in lost.value.why
    assert lost.value.remedy == f"assay run --resume {folder} --ssh-config 'lab config'"
    (made,) = store.load(folder).launches
    assert made.launch.lost == ("there",)
    ended = analyse(store.load(folder)).outcomes
    assert {each.reason for each in ended if each.status == "failed"} == {"node failure: there"}
    run = carry_on(folder)
    attempts = [one.launch.attempt for one in run.launches if one.launch.id == made.launch.id]
    assert attempts == [0, 1]
    assert len({one.launch.id for one in run.launches}) == len(run.plan.order)


def at_its_limit(_outcome: Outcome) -> Outcome:
    ends = b"slurmstepd: error: *** STEP 2.8 ON there CANCELLED AT 2026-11-27T08:13:40 DUE TO TIME LIMIT ***\n"
    return Outcome(b"", ends, 1)


def test_a_launch_that_ends_with_its_job_is_made_again_and_is_no_failure(tmp_path: Path) -> None:
    run = carry_out(tmp_path, Reached(at_its_limit, CLEAR))
    assert run.ending is not None
    assert (run.ending.status, run.launches) == ("interrupted", ())
    (folder,) = tmp_path.iterdir()
    assert b"DUE TO TIME LIMIT" in next((folder / "logs").iterdir()).read_bytes()
    resumed = carry_on(folder)
    assert resumed.ending is not None
    assert (resumed.ending.status, resumed.ending.cut) == ("complete", {})


class GivenUp(Reached):
    """A node that Slurm gives up during every launch, and that answers all the same."""

    def execute(self, command: Command, timeout: float) -> Outcome:
        outcome = super().execute(command, timeout)
        srun = b"srun: error: Node failure on there\nsrun: Job step aborted: Waiting up to 32 seconds\n"
        return outcome if outcome is self._look or outcome is CLEAR else Outcome(b"", srun, None)


def test_what_slurm_says_of_a_node_counts_more_than_the_time_limit_that_a_launch_reached(tmp_path: Path) -> None:
    run = carry_out(tmp_path, GivenUp(whole, CLEAR))
    assert {each.launch.lost for each in run.launches} == {("there",)}
    assert {(each.status, each.reason) for each in analyse(run).outcomes} == {("failed", "node failure: there")}


@pytest.mark.parametrize(("down", "lost"), [(b"n2\n", {"n2"}), (b"", {"n1", "n2"})])
def test_of_a_job_that_ended_the_nodes_are_lost_that_slurm_has_given_up(down: bytes, lost: set[str]) -> None:
    """No step reaches any node of it."""

    class Expired:
        def execute(self, command: Command, _timeout: float) -> Outcome:
            told = Outcome(down, b"", 0)
            expired = Outcome(b"", b"srun: error: Slurm job 2 has expired\n", 1)
            return told if command.argv[0] == "sinfo" else expired

    case = plan_elsewhere().cases[0]
    case = msgspec.structs.replace(case, placement=msgspec.structs.replace(case.placement, hosts=("n1", "n2")))
    starter = Starter(Site("here", scheduler="slurm", run="r1"))
    assert set(end_leftovers((case,), starter, Expired()).unreached) == lost  # type: ignore[arg-type]


def test_many_hosts_are_asked_together_and_64_at_most_at_once() -> None:
    """Of 200 nodes that are dead each takes as long as its connection is tried."""
    now, most, lock = 0, 0, threading.Lock()

    class Dead:
        def execute(self, _command: Command, _timeout: float) -> Outcome:
            nonlocal now, most
            with lock:
                now, most = now + 1, max(most, now + 1)
            time.sleep(0.05)
            with lock:
                now -= 1
            return REFUSED

    commands = {f"n{number}": Command((), {}) for number in range(200)}
    assert set(_sweep(commands, Dead()).values()) == {REFUSED}  # type: ignore[arg-type]
    assert 32 < most <= 64


def test_the_rank_that_is_stopped_is_named_with_its_number_and_state() -> None:
    """Real processes of a run, of which one is stopped: what is asked on each host tells them apart."""
    run = f"look-{os.getpid()}"
    variables = {**os.environ, "ASSAY_RUN": run}
    ranks = [
        subprocess.Popen(["sleep", "60"], env={**variables, name: number})
        for name, number in (("PMI_RANK", "0"), ("OMPI_COMM_WORLD_RANK", "3"))
    ]
    try:
        os.kill(ranks[1].pid, signal.SIGSTOP)
        told = subprocess.run(["sh", "-c", LOOK, "sweep", run], capture_output=True, text=True, check=True)
    finally:
        for each in ranks:
            each.kill()
            each.wait()
    assert sorted(told.stdout.splitlines()) == ["0 S", "3 T"]
    looked = Outcome(told.stdout.encode(), b"", 0)
    found = find_stuck(_two_ranks_on_there(), Starter(Site("here", run=run)), _Looking(looked))
    assert found == "rank 3 on there is stopped (on a signal: kill -CONT goes on with it)"
    assert "there does not answer" in find_stuck(
        _two_ranks_on_there(), Starter(Site("here", run=run)), _Looking(REFUSED)
    )
    assert not find_stuck(
        _two_ranks_on_there(), Starter(Site("here", run=run)), _Looking(Outcome(b"0 R\n1 S\n", b"", 0))
    )


class _Looking(SimulatedMachine):
    """Answers whoever looks at its ranks."""

    def __init__(self, told: Outcome) -> None:
        super().__init__(described(TWO_CORES).topology, Law(), ("there",))
        self._told = told

    def execute(self, command: Command, timeout: float) -> Outcome:
        del command, timeout
        return self._told


def _two_ranks_on_there() -> tuple[Case, ...]:
    pair = Measure("pt2pt", ("pair",), axes={"pattern": "latency", "bytes": 8})
    plan = plan_for(study=Study("Two", "?", (pair,)), options=Options(hosts=("there",)))
    return tuple(case for case in plan.cases if case.placement.ranks)[:1]
