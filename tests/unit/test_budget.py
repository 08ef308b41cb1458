"""What cases are allotted of a budget, what launches teach, and how long a slow one is waited for."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from tests.simulation import EPYC_7601, TWO_CORES, begin, carry_on, described, plan_for, simulated_run

from assay import store
from assay.launch.command import Command, Outcome
from assay.launch.simulated import Fault, Law, SimulatedMachine
from assay.model.plan import Measure, PlannedLaunch, Study
from assay.plan import Options
from assay.run.budget import Experience, allot, inexperienced, spread


@pytest.mark.parametrize("grows", [False, True], ids=["typed", "the study's own"])
@pytest.mark.parametrize("left_s", [0.01, 0.3, 1, 3, 10, 30, 100])
def test_what_was_never_measured_gets_time_for_more_than_a_sample_or_nothing(
    left_s: float, *, grows: bool
) -> None:
    plan = msgspec.structs.replace(plan_for(EPYC_7601), budget_s=left_s, grows=grows)
    shares = spread(plan, plan.order, left_s, frozenset(), inexperienced(plan))
    assert all(seconds >= 0.02 for seconds in shares.values())


@pytest.mark.parametrize("left_s", [0.3, 1, 3, 10, 30, 100])
def test_what_is_allotted_fits_what_is_left(left_s: float) -> None:
    plan = msgspec.structs.replace(plan_for(TWO_CORES), budget_s=left_s)
    experience = inexperienced(plan)
    following = plan.order[0]
    seconds = allot(plan, plan.order, left_s, frozenset(), experience)
    overhead = sum(experience.overhead_of(following, case_id) for case_id in seconds)
    assert overhead + sum(seconds.values()) <= left_s


def test_once_known_a_case_gets_a_quarter_of_its_fewest_samples_at_least(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path))
    experience = inexperienced(run.plan)
    for records in run.launches:
        experience = experience.after(run.plan, records, {}, records.launch.bracket.elapsed_s)
    shares = spread(run.plan, run.plan.order, 1.0, frozenset(experience.least_s), experience)
    assert shares
    assert all(seconds >= 0.25 * experience.least_s[case_id] for (_, case_id), seconds in shares.items())


def test_a_launch_that_broke_off_teaches_what_its_finished_cases_took(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path, Law(faults=(Fault("hang", "bytes=4096", starts=(0,)),))))
    broken = next(one for one in run.launches if one.launch.exit_code is None)
    finished = {case.header.case for case in broken.cases if case.end}
    learnt = inexperienced(run.plan).after(run.plan, broken, {}, broken.launch.bracket.elapsed_s)
    assert finished
    assert learnt.span_s.keys() == learnt.least_s.keys() == finished
    assert not learnt.stretch, "the time that it hung is not what its start takes"


class _Patient(SimulatedMachine):
    """Remembers the longest that it was to wait."""

    longest_s = 0.0

    def execute_together(self, commands: Sequence[Command], timeout: float) -> tuple[Outcome, ...]:
        self.longest_s = max(self.longest_s, timeout)
        return super().execute_together(commands, timeout)


def test_windows_over_a_network_of_100_mbit_a_second_are_waited_for(tmp_path: Path) -> None:
    study = Study(
        "Slow", "?", (Measure("tcp", ("pair:other-node",), axes={"pattern": "bandwidth", "bytes": 2**22}),)
    )
    plan = plan_for(study=study, options=Options(hosts=("n1", "n2"), budget_s=2))
    machine = _Patient(described().topology, hosts=("n1", "n2"))
    carry_on(begin(tmp_path, plan), plan, machine)
    three_windows_s = 3 * 64 * 2**22 / (100e6 / 8)
    assert machine.longest_s > three_windows_s


@pytest.mark.parametrize(("left_s", "blocks"), [(30, 6), (60, 6), (70, 7), (100, 10)])
def test_six_blocks_are_kept_with_fewer_samples_and_further_ones_only_with_enough(
    left_s: float, blocks: int
) -> None:
    plan = plan_for(study=Study("One", "?", (Measure("latency", ("one-core",), axes={"bytes": 2**20}),)))
    case = next(case.id for case in plan.cases if case.role != "sentinel")
    order = tuple(PlannedLaunch(f"{block:03d}-00", block, "latency", "gcc", (case,)) for block in range(10))
    plan = msgspec.structs.replace(plan, order=order)
    known = Experience({case: 0.0}, stretch={case: 0.0}, least_s={case: 10.0})
    shares = spread(plan, order, left_s, frozenset({case}), known)
    assert len(shares) == blocks
    assert all(seconds >= min(10.0, left_s / blocks) - 1e-9 for seconds in shares.values())
    assert sum(shares.values()) <= left_s + 1e-9
