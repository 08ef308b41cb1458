"""Levels that a command sets, on several nodes of the simulated machine: everywhere set, everywhere put back."""

from pathlib import Path

import pytest
from tests.simulation import Recorder, begin, builds_for, carry_on, described, plan_for, starter_for

from assay import plan as planning
from assay import store
from assay.model.errors import UnfitEnvironmentError
from assay.model.plan import Measure, Plan, Study
from assay.model.run import LaunchRecords
from assay.run import Progress, execute
from assay.simulation import Law, SimulatedMachine

SLEEP = {"sleep": {"levels": {"on": "idle --on", "off": "idle --off 0"}}}
LEVELS = {"idle --on": 1.0, "idle --off 0": 0.9}
WORDS = {"on": "--on", "off": "--off"}


def planned() -> Plan:
    """Messages between two nodes and inside one, with and without sleep."""
    measure = Measure("pt2pt", ("pair:other-node", "pair"), axes={"pattern": "latency", "bytes": 8})
    study = Study("Sleep", "?", (measure,), launches=2)
    factors = planning.parse(["sleep"], study, SLEEP)
    return plan_for(study=study, options=planning.Options(hosts=("n1", "n2"), launches=2, factors=factors))


def set_on(machine: SimulatedMachine) -> list[tuple[str, str]]:
    """Host and level of each command that set one, in order."""
    made = [command for command in machine.commands if command.argv[0] == "idle"]
    return [(command.environment["ASSAY_SIMULATED_HOSTS"], command.argv[1]) for command in made]


def simulated(plan: Plan) -> SimulatedMachine:
    return SimulatedMachine(described().topology, Law(commands=LEVELS), plan.hosts)


USUAL = [("n1", "--on"), ("n2", "--on")]


def test_a_level_is_set_on_every_node_of_a_launch_and_put_back_on_each(tmp_path: Path) -> None:
    plan = planned()
    directory, machine = begin(tmp_path, plan), simulated(plan)
    carry_on(directory, plan, machine)
    wanted = []
    for records in store.load(directory.path).launches:
        case = plan.case(records.launch.cases[0])
        wanted += [(host, WORDS[case.factors["sleep"]]) for host in case.placement.hosts]
    assert {("n1", "--off"), ("n2", "--off")} <= set(wanted)
    assert set_on(machine) == [*wanted, *USUAL]
    log = (directory.path / "logs" / "restore.sleep.out").read_text()
    assert log == "n1: $ idle --on\nexit 0\nn2: $ idle --on\nexit 0\n"


def test_a_node_that_is_lost_keeps_no_other_from_its_usual_state(tmp_path: Path) -> None:
    plan = planned()
    directory, machine = begin(tmp_path, plan), simulated(plan)
    asleep = {case.id for case in plan.cases if case.factors["sleep"] == "off" and len(case.placement.hosts) > 1}

    class Losing(Recorder):
        def ended(self, launch: LaunchRecords, progress: Progress) -> None:
            super().ended(launch, progress)
            if asleep & set(launch.launch.cases):
                machine.lost.add("n2")

    with pytest.raises(UnfitEnvironmentError) as caught:
        carry_on(directory, plan, machine, Losing())
    assert caught.value.what == "cannot set the level of 'sleep' on n2"
    assert "'sleep' was not put back to its usual state on n2" in caught.value.why
    assert "no route to host" in caught.value.why
    assert [level for host, level in set_on(machine) if host == "n1"][-1] == "--on"
    assert machine.boost("n2") == LEVELS["idle --off 0"]
    machine.lost.clear()  # it is back, and the run goes on
    with store.reopen(directory.path) as again:
        execute(plan, again, starter_for(plan), machine, builds_for(plan), Recorder())
    assert set_on(machine)[-2:] == USUAL
    assert machine.boost("n2") == 1.0


def test_what_an_earlier_go_left_behind_is_put_back_on_its_nodes(tmp_path: Path) -> None:
    """Nothing is missing of the run, and nobody knows how its last session ended."""
    plan = planned()
    directory, machine = begin(tmp_path, plan), simulated(plan)
    carry_on(directory, plan, machine)
    done = len(set_on(machine))
    with store.reopen(directory.path) as again:
        execute(plan, again, starter_for(plan), machine, builds_for(plan), Recorder())
    assert set_on(machine)[done:] == USUAL
