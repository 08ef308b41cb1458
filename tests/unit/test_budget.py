"""What cases are allotted of a budget, what launches teach, and how long a slow one is waited for."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from tests.simulation import EPYC_7601, TWO_CORES, begin, carry_on, described, plan_for, simulated_run

from assay import store
from assay.analyse import analyse
from assay.launch.command import Command, Outcome
from assay.model.plan import Measure, Plan, PlannedLaunch, Study, probe_s
from assay.model.record import Series
from assay.model.run import Run
from assay.plan import Options
from assay.plan.factors import parse
from assay.plan.networks import network_factor
from assay.run.budget import CostHistory, Overhead
from assay.run.ledger import Ledger
from assay.run.spread import Spread
from assay.simulation import Fault, Law, SimulatedMachine
from assay.simulation.law import Link

SIZES = Study("Sizes", "?", (Measure("memcpy", ("one-core",), axes={"bytes": "1k:1M", "buffers": "hot"}),))

GROUPS = Study(
    "Groups",
    "?",
    (
        Measure("memcpy", ("one-core",), axes={"bytes": "1k:16k", "buffers": "hot"}),
        Measure("latency", ("one-core",), axes={"bytes": "32k:256k"}),
        Measure("memcpy", ("one-core", "all"), axes={"bytes": "64k:1M", "buffers": "hot"}),
    ),
)


def allotted(plan: Plan) -> dict[tuple[str, str], float]:
    """(launch, case) -> seconds of sampling, where launches cost what the plan expects."""
    ledger, now_s, shares = Ledger(plan, (), 0.0), 0.0, dict[tuple[str, str], float]()
    while launch := ledger.following(now_s):
        seconds = ledger.allot(launch, now_s)
        ledger.cut(case for case in launch.cases if case not in seconds)
        ledger.strike(launch.id, launch.cases)
        now_s += ledger.costs.launch(launch).overhead_s + sum(seconds.values())
        shares |= {(launch.id, case): share for case, share in seconds.items()}
    return shares


def launches_of(run: Run) -> dict[str, int]:
    """Case -> how often it was measured."""
    made = Counter(case.header.case for records in run.launches for case in records.cases)
    return {case.id: made[case.id] for case in run.plan.studied}


@pytest.mark.parametrize("grows", [False, True], ids=["typed", "the study's own"])
@pytest.mark.parametrize("budget_s", [0.01, 0.3, 1, 3, 10, 30, 100])
def test_a_case_gets_20_ms_of_sampling_or_is_cut(budget_s: float, *, grows: bool) -> None:
    plan = msgspec.structs.replace(plan_for(EPYC_7601), budget_s=budget_s, grows=grows)
    assert all(seconds >= 0.02 for seconds in allotted(plan).values())


@pytest.mark.parametrize("budget_s", [0.3, 1, 3, 10, 30, 100])
def test_what_is_allotted_fits_the_budget_but_for_one_launch(budget_s: float) -> None:
    plan = msgspec.structs.replace(plan_for(TWO_CORES), budget_s=budget_s, grows=False)
    shares, costs = allotted(plan), CostHistory(plan)
    parts = {launch.id: 1 / len(launch.cases) for launch in plan.order}
    overhead_s = sum(costs.need(case, parts[launch]).overhead_s for launch, case in shares)
    longest_s = max(costs.launch(launch).poor_s for launch in plan.order)
    assert overhead_s + sum(shares.values()) <= budget_s + longest_s


def test_a_slow_case_gets_a_quarter_of_its_fewest_samples_at_least(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path))
    costs = CostHistory(run.plan)
    for records in run.launches:
        costs.learn(records, {}, records.launch.bracket.elapsed_s)
    slow = [case for case, least_s in costs.least_s.items() if least_s > 0.08]
    assert slow
    assert all(costs.need(case, 1.0).floor_s == pytest.approx(costs.least_s[case] / 4) for case in slow)


def test_a_budget_is_allotted_by_the_real_cost_of_the_first_block_and_no_case_loses_only_its_last_launch(
    tmp_path: Path,
) -> None:
    options = Options(budget_s=25, launches=6)
    for spawn_s in (0.01, 0.1, 0.3):
        folder = tmp_path / str(spawn_s)
        made = launches_of(store.load(simulated_run(folder, Law(spawn_s=spawn_s), options=options)))
        assert set(made.values()) <= {0, 1, 6}, made
    assert 0 < list(made.values()).count(6) < len(made), "the last budget is too small for all of them"
    kept = [count == 6 for count in made.values()]
    assert kept == sorted(kept, reverse=True), "the least important cases are cut"


def within(folder: Path, budget_s: float | None, spawn_s: float, study: Study, *, grows: bool = False) -> Run:
    """A run of six launches of each case, where every start takes so long."""
    plan = plan_for(study=study, options=Options(launches=6))
    plan = msgspec.structs.replace(
        plan, budget_s=budget_s, grows=grows, min_samples=5, max_samples=20, precision=1e-6
    )
    directory = begin(folder, plan)
    carry_on(directory, plan, SimulatedMachine(described().topology, Law(spawn_s=spawn_s)))
    return store.load(directory.path)


def elapsed_s(run: Run) -> float:
    """Seconds that it took."""
    assert run.ending is not None
    return run.ending.elapsed_s


def test_a_budget_of_the_studys_own_grows_by_a_fifth_for_launches_that_make_intervals(tmp_path: Path) -> None:
    free_s = elapsed_s(within(tmp_path, None, 0.25, SIZES))
    ends = {}
    for share, grows in itertools.product((0.4, 0.5, 0.88, 1.3), (True, False)):
        run = within(tmp_path, share * free_s, 0.25, SIZES, grows=grows)
        ends[share, grows] = elapsed_s(run) / (share * free_s), min(launches_of(run).values())
    assert ends[0.5, True][1] == 6
    assert 1 < ends[0.5, True][0] <= 1.2
    assert ends[0.5, False][1] < 6
    assert ends[0.5, False][0] <= 1.1
    assert ends[0.88, False][0] <= 1.05
    assert ends[0.4, True][1] < 6, "a fifth is not enough"
    assert ends[1.3, True][0] < 1


@pytest.mark.parametrize("spawn_s", [0.05, 0.25, 2.0])
def test_no_budget_leaves_time_for_a_launch_that_it_cut_and_more_time_costs_no_interval(
    tmp_path: Path, spawn_s: float
) -> None:
    whole = within(tmp_path, None, spawn_s, GROUPS)
    # Each launch has two probes; fixed work, a seventh between two blocks, is foreseen to take all of its time.
    longest_s = max(each.launch.bracket.elapsed_s for each in whole.launches) + 2 * spawn_s + probe_s(7)
    intervals = []
    for share in (0.2, 0.35, 0.5, 0.65, 0.9):
        budget_s = share * elapsed_s(whole)
        run = within(tmp_path, budget_s, spawn_s, GROUPS)
        made = launches_of(run)
        assert elapsed_s(run) < budget_s + 1.1 * longest_s
        assert elapsed_s(run) > budget_s - 1.1 * longest_s, made
        intervals.append(sum(count >= 6 for count in made.values()))
    assert intervals == sorted(intervals)
    assert intervals[-1] > 0


def test_cases_that_share_launches_are_cut_together(tmp_path: Path) -> None:
    """Without the start of the launch itself, cutting one case after the other frees next to nothing."""
    free_s = elapsed_s(within(tmp_path, None, 0.25, SIZES))
    assert set(launches_of(within(tmp_path, 0.3 * free_s, 0.25, SIZES)).values()) == {2}
    assert set(launches_of(within(tmp_path, 0.7 * free_s, 0.25, SIZES)).values()) == {6}


def test_time_left_over_goes_to_the_case_farthest_from_its_precision() -> None:
    plan = plan_for(study=SIZES, options=Options(budget_s=60))
    steady, scattered, content = (case.id for case in plan.studied[:3])
    costs = CostHistory(plan)
    samples: tuple[tuple[str, tuple[float, float], Literal["time", "precision"]], ...] = (
        (steady, (1.0, 1.01), "time"),
        (scattered, (1.0, 1.06), "time"),
        (content, (1.0, 1.06), "precision"),
    )
    for case, medians, stop in samples:
        for median in medians:
            costs.learn_case(case, [Series("copy", 0, "measured", 1, stop, [0.0] * 10, [0.01 * median] * 10)])
    needs = {case: costs.need(case, 1.0) for case in (steady, scattered, content)}
    assert needs[scattered].weight == pytest.approx((0.03 / 1.03 / 0.01) ** 2 * needs[steady].weight, rel=1e-6)
    assert needs[content].weight == 0


def test_a_launch_that_broke_off_teaches_what_its_finished_cases_took(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path, Law(faults=(Fault("hang", "bytes=4096", starts=(0,)),))))
    broken = next(one for one in run.launches if one.launch.exit_code is None)
    finished = {case.header.case for case in broken.cases if case.end}
    learnt = CostHistory(run.plan)
    learnt.learn(broken, {}, broken.launch.bracket.elapsed_s)
    assert finished
    assert learnt.span_s.keys() == learnt.least_s.keys() == finished
    assert not learnt.overheads, "the time that it hung is not what its start takes"


@pytest.mark.parametrize("block_s", [None, 0.2, 100], ids=["no budget", "cut", "ample"])
def test_looking_at_what_remains_takes_a_time_that_grows_as_the_launches_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_s: float | None
) -> None:
    looks: Counter[int] = Counter()
    counted = CostHistory.overhead_s

    def overhead_s(self: CostHistory, case_id: str, part: float) -> float:
        looks[launches] += 1
        return counted(self, case_id, part)

    monkeypatch.setattr(CostHistory, "overhead_s", overhead_s)
    for launches in (10, 40):
        budget_s = None if block_s is None else block_s * launches
        plan = plan_for(study=SIZES, options=Options(budget_s=budget_s, launches=launches))
        carry_on(begin(tmp_path, plan), plan, SimulatedMachine(described().topology))
    assert looks[40] < 1.5 * 4 * looks[10]


def test_a_resumed_run_has_used_what_passed_between_launches_and_foresees_it(tmp_path: Path) -> None:
    plan = plan_for(study=SIZES, options=Options(launches=2))
    directory = begin(tmp_path, plan)
    took_s = carry_on(directory, plan, SimulatedMachine(described().topology, Law(spawn_s=2.0))).elapsed_s
    run = store.load(directory.path)
    ledger = Ledger(plan, run.launches, 0.0)
    assert ledger.elapsed_s(0.0) == ledger.progress(0.0).elapsed_s == pytest.approx(took_s)
    starts = {each.start_s for each in ledger.costs.overheads.values()}
    assert min(starts) > 2.9 * 2.0, "a launch starts its program and two probes"
    older = [
        msgspec.structs.replace(each, launch=msgspec.structs.replace(each.launch, began_s=0.0, ended_s=0.0))
        for each in run.launches
    ]
    assert sum(each.launch.bracket.elapsed_s for each in older) < Ledger(plan, older, 0.0).elapsed_s(0.0) < took_s


class _Patient(SimulatedMachine):
    """Remembers the longest that it was to wait."""

    longest_s = 0.0

    def execute_together(
        self, commands: Sequence[Command], timeout: float, at_limit: Callable[[], None] = lambda: None
    ) -> tuple[Outcome, ...]:
        self.longest_s = max(self.longest_s, timeout)
        return super().execute_together(commands, timeout, at_limit)


def test_windows_over_a_network_of_100_mbit_a_second_are_waited_for(tmp_path: Path) -> None:
    study = Study(
        "Slow", "?", (Measure("tcp", ("pair:other-node",), axes={"pattern": "bandwidth", "bytes": 2**22}),)
    )
    plan = plan_for(study=study, options=Options(hosts=("n1", "n2")))
    machine = _Patient(described().topology, hosts=("n1", "n2"))
    carry_on(begin(tmp_path, plan), plan, machine)
    three_windows_s = 3 * 64 * 2**22 / (100e6 / 8)
    assert machine.longest_s > three_windows_s


@pytest.mark.parametrize("seed", [7, 8])  # both begin with the slow one, by its cases or by what controls them
def test_a_slow_network_takes_no_time_from_another(tmp_path: Path, seed: int) -> None:
    study = Study(
        "Two", "?", (Measure("pt2pt", ("pair:other-node",), axes={"pattern": "bandwidth", "bytes": "64K:4M"}),)
    )
    networks = network_factor({"slow": "eth0", "fast": "eth1"})
    plan = plan_for(study=study, options=Options(hosts=("n1", "n2"), budget_s=20, factors=networks, seed=seed))
    links = {**Law().links, "eth0": Link(60e-6, 1.1e7, 1.1e7), "eth1": Link(1e-6, 1.2e10, 1.2e10)}
    machine = SimulatedMachine(described().topology, Law(links=links), hosts=("n1", "n2"))
    directory = begin(tmp_path, plan)
    ending = carry_on(directory, plan, machine)
    run = store.load(directory.path)
    level = {case.id: case.factors.get("network") for case in plan.cases}
    fast = [made for case, made in launches_of(run).items() if level[case] == "fast"]
    assert min(fast) >= 6  # an interval
    of_slow = [each.launch.bracket.elapsed_s for each in run.launches if level[each.launch.cases[0]] == "slow"]
    assert max(of_slow) > 9, "the first is ended when it has used the share of its network"
    assert ending.elapsed_s <= 22


@pytest.mark.parametrize(("left_s", "launches"), [(10, 1), (20, 6), (60, 6), (70, 7), (100, 10)])
def test_six_launches_are_kept_with_fewer_samples_and_further_ones_only_with_enough(
    left_s: float, launches: int
) -> None:
    plan = plan_for(study=Study("One", "?", (Measure("latency", ("one-core",), axes={"bytes": 2**20}),)))
    case = plan.studied[0].id
    order = tuple(PlannedLaunch(f"{block:03d}-00", block, "latency", "gcc", (case,)) for block in range(10))
    plan = msgspec.structs.replace(plan, order=order)
    costs = CostHistory(plan, overheads={case: Overhead(0.0, 0.0)}, least_s={case: 10.0})
    spread, shares = Spread(plan, order, {}, left_s, costs), list[float]()
    for launch in order:
        shares += spread.allot(launch, left_s - sum(shares)).values()
        spread.through(case)
    assert len(shares) == launches
    assert all(seconds >= min(10.0, left_s / launches) - 1e-9 for seconds in shares)
    assert sum(shares) <= left_s + 1e-9


def test_a_repeat_of_the_last_launch_gets_no_more_than_is_left() -> None:
    plan = plan_for(study=Study("One", "?", (Measure("latency", ("one-core",), axes={"bytes": 2**20}),)))
    case = plan.studied[0].id
    order = tuple(PlannedLaunch(f"{block:03d}-00", block, "latency", "gcc", (case,)) for block in range(3))
    costs = CostHistory(
        msgspec.structs.replace(plan, order=order), overheads={case: Overhead(0.0, 0.0)}, least_s={case: 0.1}
    )
    spread = Spread(plan, order, {}, 60.0, costs)
    for _ in order:
        spread.through(case)
    spread.total = spread.total.plus(costs.need(case, 1.0), 1e-16)  # what subtractions leave of a sum
    assert 0.1 <= sum(spread.allot(order[-1], 30.0, repeat=True).values()) <= 30.0


def five_levels(study: Study) -> Plan:
    """A plan of six blocks in which words before the program have five levels."""
    levels = {"prefix": dict.fromkeys("abcde", "")}
    return plan_for(study=study, options=Options(launches=6, factors=parse(["word"], study, {"word": levels})))


def by_subject(plan: Plan, made: Counter[str]) -> list[list[int]]:
    """The numbers of launches of the levels and the control of each subject."""
    subjects: dict[str, list[int]] = {}
    for case in plan.cases:
        if case.role != "sentinel":
            subjects.setdefault(case.subject, []).append(made[case.id])
    return list(subjects.values())


def test_any_first_part_of_a_plan_has_as_many_launches_of_each_level() -> None:
    plan, made = five_levels(GROUPS), Counter[str]()
    for launch in plan.order:
        made.update(launch.cases)
        assert all(max(counts) - min(counts) <= 1 for counts in by_subject(plan, made)), launch.id


@pytest.mark.parametrize("budget_s", [5, 10, 20, 30, 40])
@pytest.mark.parametrize("grows", [False, True], ids=["typed", "the study's own"])
def test_a_budget_cuts_a_comparison_evenly_over_the_levels(
    tmp_path: Path, budget_s: float, *, grows: bool
) -> None:
    plan = msgspec.structs.replace(five_levels(GROUPS), budget_s=budget_s, grows=grows)
    directory = begin(tmp_path, plan)
    ending = carry_on(directory, plan, SimulatedMachine(described().topology, Law(spawn_s=0.2)))
    run = store.load(directory.path)
    made = Counter(case.header.case for records in run.launches for case in records.cases)
    counts = by_subject(plan, made)
    assert ending.status == "cut"
    assert all(max(each) - min(each) <= 1 for each in counts), counts
    assert sum(map(sum, counts)) > 0.5 * budget_s, "the budget is used"
    assert (max(map(min, counts)) >= 3) == (budget_s >= 20), (
        "time for three blocks of the foremost cases is used so"
    )


@pytest.mark.parametrize("budget_s", [20.0, 60.0])
def test_a_launch_on_a_loaded_machine_is_ended_when_the_budget_is_used_up_and_goes_on_with_a_larger_one(
    tmp_path: Path, budget_s: float
) -> None:
    """Each message waits for its receiver's turn: launches take far longer than planned."""
    study = Study("Slow", "?", (Measure("pt2pt", ("pair",), axes={"pattern": "bandwidth", "bytes": "1K:4M"}),))
    plan = plan_for(study=study, options=Options(budget_s=budget_s))
    links = {name: dataclasses.replace(link, gap_s=0.05) for name, link in Law().links.items()}
    loaded = SimulatedMachine(described().topology, Law(links=links))
    directory = begin(tmp_path, plan)
    ending = carry_on(directory, plan, loaded)
    run = store.load(directory.path)
    ended = [each.launch for each in run.launches if each.launch.over_budget]
    assert ending.elapsed_s <= 1.1 * budget_s
    assert ended
    assert {each.cause for each in ending.cut.values()} == {"budget"}
    outcomes = {each.case: each for each in analyse(run).outcomes}
    finished = {case.header.case for each in run.launches for case in each.cases if case.end}
    assert {outcomes[case.id].status for case in plan.studied} == {"complete", "skipped"}
    assert all((outcomes[case.id].status == "complete") == (case.id in finished) for case in plan.studied)
    assert not any(each.failed for each in outcomes.values())
    more = msgspec.structs.replace(plan, budget_s=1000.0)
    again = store.reopen(directory.path)
    again.resume(more)
    carry_on(again, more, SimulatedMachine(described().topology))
    whole = store.load(directory.path)
    assert not whole.damage
    assert {each.status for each in analyse(whole).outcomes} == {"complete"}
    assert min(launches_of(whole).values()) >= 6
