"""The engine on machines whose laws are known, by a clock that is simulated."""

import re
from datetime import datetime
from pathlib import Path

import msgspec
import pytest
from tests.simulation import (
    EPYC_7601,
    TWO_CORES,
    Recorder,
    begin,
    builds_for,
    carry_on,
    described,
    plan_for,
    simulated_run,
    starter_for,
)

from assay import store
from assay.model.errors import UnfitEnvironmentError
from assay.model.plan import Measure, Study
from assay.model.run import Ending, LaunchRecords, Run
from assay.plan import Options
from assay.run import execute
from assay.run.dry_run import dry_run
from assay.run.ledger import remaining_work
from assay.simulation import Burst, Fault, FaultKind, Law, SimulatedMachine

FEW = Study(
    "Few",
    "A question?",
    (
        Measure("stream", ("one-core", "all"), axes={"elements": 1_000_000}),
        Measure("memcpy", ("one-core",), axes={"bytes": (64, 4096), "buffers": "hot"}, weight=0.1),
    ),
    launches=3,
)

#: Somebody works for a third of every second.
RESTLESS = Law(bursts=tuple(Burst(second + 0.3, second + 0.6, 0.5) for second in range(100)))


def run_with(folder: Path, law: Law, study: Study = FEW, options: Options | None = None) -> Run:
    return store.load(simulated_run(folder, law, study=study, options=options))


def ending(run: Run) -> Ending:
    assert run.ending is not None
    return run.ending


def measured_cases(run: Run) -> set[str]:
    return {case.header.case for records in run.launches for case in records.cases}


def states(records: LaunchRecords) -> tuple[float, float]:
    bracket = records.launch.bracket
    assert bracket.before is not None
    assert bracket.after is not None
    return bracket.before.median_s, bracket.after.median_s


def is_cut_in_part(run: Run) -> bool:
    """Whether a launch was made without some of its cases."""
    planned = {launch.id: set(launch.cases) for launch in run.plan.order}
    return any(set(one.launch.cases) < planned[one.launch.id] for one in run.launches)


def test_a_run_that_a_budget_cut_goes_on_with_a_larger_one_to_its_end(tmp_path: Path) -> None:
    sizes = msgspec.structs.replace(FEW.measure[1], axes={"bytes": "1:64K", "buffers": "hot"})
    many = msgspec.structs.replace(FEW, measure=(FEW.measure[0], sizes))
    law = Law(spawn_s=0.1)
    paths = (
        simulated_run(tmp_path, law, study=many, options=Options(budget_s=seconds / 2)) for seconds in range(4, 20)
    )
    path = next(each for each in paths if is_cut_in_part(store.load(each)))
    cut = store.load(path)
    missing = remaining_work(cut)
    assert ending(cut).status == "cut"
    assert missing is not None
    assert missing.used_s < missing.needed_s
    plan = msgspec.structs.replace(cut.plan, budget_s=missing.needed_s)
    directory = store.reopen(path)
    directory.resume(plan)
    assert store.load(path).plan == plan
    assert carry_on(directory, plan, SimulatedMachine(described().topology)).status == "complete"
    whole = store.load(path)
    assert remaining_work(whole) is None
    made = [(one.launch.id, case) for one in whole.launches for case in one.launch.cases]
    assert sorted(made) == sorted((launch.id, case) for launch in plan.order for case in launch.cases)


def test_a_plan_without_a_budget_is_carried_out_whole_and_in_order(tmp_path: Path) -> None:
    run = run_with(tmp_path, Law())
    assert [(one.launch.id, one.launch.cases) for one in run.launches] == [
        (planned.id, planned.cases) for planned in run.plan.order
    ]
    assert ending(run).status == "complete"
    assert ending(run).cut == {}
    assert run.damage == ()


@pytest.mark.parametrize("description", [TWO_CORES, EPYC_7601], ids=["2 cores", "EPYC"])
@pytest.mark.parametrize("budget_s", [3, 5, 10, 20, 60, 180, 600])
def test_a_budget_is_kept_within_a_tenth_and_used(tmp_path: Path, description: str, budget_s: float) -> None:
    # No kernel ever gets as precise as asked for, so that there is always use for time.
    options = Options(budget_s=budget_s, precision=1e-6, launches=6)
    plan = msgspec.structs.replace(plan_for(description, "quick", options), max_samples=2000)
    simulated = SimulatedMachine(described(description).topology)
    directory = begin(tmp_path, plan, description)
    end = carry_on(directory, plan, simulated)
    assert end.elapsed_s == pytest.approx(simulated.now())
    began = datetime.fromisoformat(store.load(directory.path).launches[-1].launch.started)
    last_s = (simulated.date() - began).total_seconds()  # one launch may end after a budget that a user gave
    assert 0.9 * budget_s <= end.elapsed_s <= max(1.1 * budget_s, budget_s + last_s)


@pytest.mark.parametrize("spawn_s", [0.002, 0.3], ids=["quick starts", "slow starts"])
def test_a_budget_is_kept_where_starts_take_otherwise_than_foreseen(tmp_path: Path, spawn_s: float) -> None:
    options = Options(budget_s=20, precision=1e-6)
    plan = msgspec.structs.replace(plan_for(TWO_CORES, "quick", options), max_samples=2000)
    end = carry_on(begin(tmp_path, plan), plan, SimulatedMachine(described().topology, Law(spawn_s=spawn_s)))
    assert 18 <= end.elapsed_s <= 22


def test_what_a_budget_cuts_is_said_case_by_case_and_blocks_go_last_first(tmp_path: Path) -> None:
    run = run_with(tmp_path, Law(), options=Options(budget_s=4, launches=40))
    assert ending(run).status == "cut"
    begun = max(one.launch.block for one in run.launches)
    made = {one.launch.id for one in run.launches}
    assert 0 < begun < 39
    assert {planned.id for planned in run.plan.order if planned.block < begun} <= made
    for case in run.plan.cases:
        assert ending(run).cut[case.id].cause == "budget"
        assert ending(run).cut[case.id].why == "the budget of 4 s was used up"
    assert measured_cases(run) == {case.id for case in run.plan.cases}


def test_a_budget_that_a_launch_used_up_that_hung_says_so_of_each_case_it_cut(tmp_path: Path) -> None:
    law = Law(faults=(Fault("hang", "bytes=4096", starts=(0,)),))
    run = run_with(tmp_path, law, options=Options(budget_s=20, launches=5))
    whys = {shortfall.why for shortfall in ending(run).cut.values() if shortfall.cause == "budget"}
    (why,) = whys
    assert re.fullmatch(
        r"the budget of 20 s was used up, 2\d s of it by the launch that it ended in \S*bytes=4096\S*", why
    ), why


def test_a_budget_too_small_for_every_case_measures_the_most_important_and_names_the_others(
    tmp_path: Path,
) -> None:
    run = run_with(tmp_path, Law(spawn_s=0.4), options=Options(budget_s=2))
    unmeasured = {case_id for case_id, why in ending(run).cut.items() if not why.made}
    assert unmeasured
    assert measured_cases(run) | unmeasured == {case.id for case in run.plan.cases}
    assert run.plan.cases[0].id in measured_cases(run)
    assert ending(run).elapsed_s < 2 + 1.5  # one launch, with its probes


def test_a_budget_of_the_studys_own_that_is_too_small_still_measures_every_case_once(tmp_path: Path) -> None:
    hasty = msgspec.structs.replace(FEW, budget_s=2, grows=True)
    run = run_with(tmp_path, Law(spawn_s=2), hasty)
    assert ending(run).status == "cut"
    assert measured_cases(run) == {case.id for case in run.plan.cases}
    assert {one.launch.block for one in run.launches if one.launch.cases != ("sentinel",)} == {0}


def test_no_disturbed_launch_is_repeated_at_the_price_of_a_launch_that_a_case_needs(tmp_path: Path) -> None:
    run = run_with(tmp_path, RESTLESS, options=Options(budget_s=6, launches=6))
    assert any(one.launch.bracket.disturbance for one in run.launches)
    assert {case.id for case in run.plan.studied if case.id in ending(run).cut} == set()


def test_precision_is_spread_by_weight() -> None:
    light, heavy = (
        Measure("stream", (word,), axes={"elements": 1_000_000}, weight=weight)
        for word, weight in (("one-core", 1.0), ("all", 4.0))
    )
    plan = plan_for(study=Study("S", "Q?", (light, heavy)), options=Options(budget_s=100))
    commands = {launch.cases: order.argv for launch, order in dry_run(plan, starter_for(plan), builds_for(plan))}
    seconds = {cases[0].partition("/first-touch")[0]: float(argv[-1]) for cases, argv in commands.items()}
    assert seconds["stream/all"] / seconds["stream/one-core"] == pytest.approx(4, rel=0.05)


def test_both_states_of_a_machine_that_flips_stand_in_the_brackets(tmp_path: Path) -> None:
    calm = run_with(tmp_path / "calm", Law())
    half_time = sum(records.launch.bracket.elapsed_s for records in calm.launches) / 2
    flipping = run_with(tmp_path / "flipping", Law(flips=((half_time, "far"),)))
    near = [one for one in flipping.launches if max(states(one)) < 40e-9]
    far = [one for one in flipping.launches if min(states(one)) > 100e-9]
    moved = [one for one in flipping.launches if one not in near and one not in far]
    assert near
    assert far
    assert all("hand-over changed" in one.launch.bracket.disturbance for one in moved)
    assert all(not one.launch.bracket.disturbance for one in near + far)


def test_a_disturbed_launch_is_made_again_and_both_attempts_are_kept(tmp_path: Path) -> None:
    run = run_with(tmp_path, Law(bursts=(Burst(0.0, 1.0, 0.5),)))
    attempts = [[one.launch for one in run.launches if one.launch.id == planned.id] for planned in run.plan.order]
    assert all([launch.attempt for launch in made] == list(range(len(made))) for made in attempts)
    assert all(launch.bracket.disturbance for made in attempts for launch in made[:-1])
    repeated = [made[0] for made in attempts if len(made) > 1]
    assert any("other processes" in launch.bracket.disturbance for launch in repeated)


def test_a_crowded_machine_is_waited_for_before_time_is_spent_elsewhere(tmp_path: Path) -> None:
    plan, watcher = plan_for(study=FEW), Recorder()
    directory = begin(tmp_path, plan)
    carry_on(directory, plan, SimulatedMachine(described().topology, Law(bursts=(Burst(0, 5, 0.5),))), watcher)
    (disturbed,) = watcher.waited
    again = watcher.launches[watcher.launches.index(disturbed) + 1]
    assert (again.id, again.attempt) == (disturbed.id, 1)
    assert 3 < again.waited_s < 6
    assert not any(one.attempt or one.waited_s for one in watcher.launches if one is not again)


@pytest.mark.parametrize(("launches", "most_s"), [(2, None), (12, 30)])
def test_a_machine_that_is_never_quiet_is_waited_for_as_long_as_the_plan_takes_and_half_a_minute_at_most(
    tmp_path: Path, launches: int, most_s: float | None
) -> None:
    run = run_with(tmp_path, Law(bursts=(Burst(0.0, 1e9, 0.5),)), options=Options(launches=launches))
    assert {one.launch.id for one in run.launches} == {launch.id for launch in run.plan.order}
    assert ending(run).status == "complete"
    waited_s = ending(run).elapsed_s - sum(one.launch.bracket.elapsed_s for one in run.launches)
    wanted_s = most_s or run.plan.estimate_s
    assert wanted_s <= 30
    assert wanted_s <= waited_s <= wanted_s + 1 + 0.5 * len(run.launches)


def test_repeats_do_not_break_the_budget(tmp_path: Path) -> None:
    run = run_with(tmp_path, RESTLESS, options=Options(budget_s=10, launches=10, precision=1e-6))
    assert ending(run).elapsed_s <= 11
    repeated_s = sum(one.launch.bracket.elapsed_s for one in run.launches if one.launch.attempt)
    assert 0 < repeated_s <= 0.2 * 10


def test_steal_stands_in_the_bracket(tmp_path: Path) -> None:
    run = run_with(tmp_path, Law(steal=0.2))
    assert all(one.launch.bracket.steal == pytest.approx(0.2) for one in run.launches)


def test_a_seed_determines_every_sample(tmp_path: Path) -> None:
    runs = [
        run_with(tmp_path / str(number), Law(), options=Options(seed=seed))
        for number, seed in enumerate((3, 3, 4))
    ]
    samples = [[(one.launch.cases, one.cases) for one in run.launches] for run in runs]
    assert samples[0] == samples[1]
    assert samples[0] != samples[2]


@pytest.mark.parametrize(
    "kind", ["crash", "hang", "garbage", "refuses", "cannot-start", "wrong-result", "misplaced"]
)
def test_a_case_that_keeps_failing_is_given_up_with_the_reason_and_the_others_go_on(
    tmp_path: Path, kind: FaultKind
) -> None:
    run = run_with(tmp_path, Law(faults=(Fault(kind, "bytes=4096"),)), options=Options(launches=5))
    (bad,) = [case.id for case in run.plan.cases if "bytes=4096" in case.id]
    tried = [one for one in run.launches if bad in one.launch.cases]
    assert len(tried) == 2
    assert "failed 2 times" in ending(run).cut[bad].why
    others = {case.id for case in run.plan.cases} - {bad}
    stated = {case_id for case_id in others if case_id in ending(run).cut}
    for case_id in others - stated:
        assert sum(case_id == case.header.case for one in run.launches for case in one.cases) >= 5
    assert run.damage == ()


@pytest.mark.parametrize(
    ("kind", "exit_code", "message"),
    [
        ("crash", -11, "ended by signal 11"),
        ("hang", None, "time limit"),
        ("garbage", 0, "not a valid record"),
        ("refuses", 4, "the kernel refuses"),
    ],
)
def test_how_a_program_ended_stands_in_its_launch(
    tmp_path: Path, kind: FaultKind, exit_code: int | None, message: str
) -> None:
    run = run_with(tmp_path, Law(faults=(Fault(kind, "bytes=4096", starts=(0,)),)))
    struck = next(one for one in run.launches if any("bytes=4096" in case_id for case_id in one.launch.cases))
    assert struck.launch.exit_code == exit_code
    assert message in struck.launch.message


def test_what_is_no_record_is_kept_as_a_log(tmp_path: Path) -> None:
    path = simulated_run(tmp_path, Law(faults=(Fault("garbage", "bytes=4096", starts=(0,)),)), study=FEW)
    (log,) = (path / "logs").glob("*.out")
    assert b'"type":"series"' in log.read_bytes()


def test_ctrl_c_leaves_a_valid_run_that_goes_on_to_the_same_end(tmp_path: Path) -> None:
    plan = plan_for(study=FEW)
    stopping = SimulatedMachine(described().topology, Law(faults=(Fault("interrupt", "bytes=4096", starts=(1,)),)))
    directory = begin(tmp_path, plan)
    assert carry_on(directory, plan, stopping).status == "interrupted"
    interrupted = store.load(directory.path)
    made = [one.launch.id for one in interrupted.launches]
    assert 0 < len(made) < len(plan.order)
    assert all(why.cause == "interrupted" for why in ending(interrupted).cut.values())

    watcher = Recorder()
    carry_on(store.reopen(directory.path), plan, SimulatedMachine(described().topology, seed=2), watcher)
    assert [launch_id for launch_id, _ in watcher.begun] == [launch.id for launch in plan.order][len(made) :]
    whole = store.load(directory.path)
    assert [one.launch.id for one in whole.launches] == [launch.id for launch in plan.order]
    assert ending(whole).status == "complete"


def test_time_used_before_counts_against_the_budget_after_resuming(tmp_path: Path) -> None:
    options = Options(budget_s=20, precision=1e-6)
    plan = msgspec.structs.replace(plan_for(study=FEW, options=options), max_samples=2000)
    stopping = SimulatedMachine(described().topology, Law(faults=(Fault("interrupt", "bytes=64", starts=(1,)),)))
    directory = begin(tmp_path, plan)
    first = carry_on(directory, plan, stopping).elapsed_s
    assert first > 5
    resumed = SimulatedMachine(described().topology, seed=2)
    end = carry_on(store.reopen(directory.path), plan, resumed)
    assert first + resumed.now() == pytest.approx(20, rel=0.1)
    assert end.elapsed_s == pytest.approx(first + resumed.now(), rel=0.05)


def test_a_complete_run_has_nothing_left_to_do(tmp_path: Path) -> None:
    path = simulated_run(tmp_path, study=FEW)
    machine = SimulatedMachine(described().topology)
    carry_on(store.reopen(path), plan_for(study=FEW), machine)
    assert machine.commands == []


def test_progress_counts_every_launch_and_ends_at_the_last(tmp_path: Path) -> None:
    plan, watcher = plan_for(study=FEW), Recorder()
    carry_on(begin(tmp_path, plan), plan, SimulatedMachine(described().topology), watcher)
    assert [launch.id for launch in watcher.launches] == [launch.id for launch in plan.order]
    made = [progress.made for progress in watcher.progress]
    assert made == sorted(made)
    assert made[-1] == watcher.progress[-1].planned == len(plan.order)
    assert watcher.progress[-1].left_s == 0


def test_time_is_left_as_long_as_launches_are(tmp_path: Path) -> None:
    plan, watcher = plan_for(study=FEW), Recorder()
    carry_on(begin(tmp_path, plan), plan, SimulatedMachine(described().topology, Law(spawn_s=1.0)), watcher)
    assert plan.budget_s is None
    assert all(each.left_s > 1.5 * (each.planned - each.made) for each in watcher.progress[2:-1])


def test_progress_counts_no_launch_that_was_cut(tmp_path: Path) -> None:
    plan, watcher = plan_for(study=FEW, options=Options(budget_s=0.4)), Recorder()
    ending = carry_on(begin(tmp_path, plan), plan, SimulatedMachine(described().topology), watcher)
    assert ending.cut
    made = {launch.id for launch in watcher.launches}
    last = watcher.progress[-1]
    assert 0 < last.made == last.planned == len(made) < len(plan.order) == last.made + last.cut
    assert all(each.made + each.cut <= len(plan.order) for each in watcher.progress)


def test_what_a_cut_run_needs_is_more_than_it_has_used_with_all_that_passed_between_launches(
    tmp_path: Path,
) -> None:
    plan = plan_for(study=FEW, options=Options(budget_s=0.4))
    directory = begin(tmp_path, plan)
    carry_on(directory, plan, SimulatedMachine(described().topology))
    run = store.load(directory.path)
    assert run.ending
    slow = msgspec.structs.replace(run, ending=msgspec.structs.replace(run.ending, elapsed_s=500.0))
    missing = remaining_work(slow)
    assert missing
    assert missing.needed_s > missing.used_s == 500


def test_a_thousand_nodes_go_from_plan_to_run(tmp_path: Path) -> None:
    hosts = tuple(f"n{number:04}" for number in range(1000))
    study = Study("Nodes", "Q?", (Measure("stream", ("all",), axes={"elements": 10_000_000}),), launches=2)
    path = simulated_run(tmp_path, Law(slow_hosts={"n0500": 0.8}), study=study, options=Options(hosts=hosts))
    run = store.load(path)
    case = next(case for one in run.launches for case in one.cases if case.header.case.startswith("stream/all"))
    assert len(case.header.ranks) == 1000
    assert {one.rank for one in case.series} == set(range(1000))


def test_a_launch_on_fewer_ranks_than_planned_is_refused(tmp_path: Path) -> None:
    plan = plan_for(study=FEW, options=Options(hosts=("n1", "n2")))
    alone = SimulatedMachine(described().topology, hosts=("n1",))
    end = carry_on(begin(tmp_path, plan), plan, alone)
    assert "1 rank, asked for were 2" in end.cut[plan.cases[0].id].why
    assert end.cut.keys() == {case.id for case in plan.cases}


def test_a_missing_program_is_told_before_anything_starts(tmp_path: Path) -> None:
    plan = plan_for(study=FEW)
    machine = SimulatedMachine(described().topology)
    with begin(tmp_path, plan) as directory, pytest.raises(UnfitEnvironmentError, match="not built"):
        execute(plan, directory, starter_for(plan), machine, {}, Recorder())
    assert machine.commands == []


def test_one_core_has_no_probe_and_no_bracket_of_it(tmp_path: Path) -> None:
    plan = msgspec.structs.replace(plan_for(study=FEW), probe_cpus=())
    directory = begin(tmp_path, plan)
    carry_on(directory, plan, SimulatedMachine(described().topology))
    assert all(one.launch.bracket.before is None for one in store.load(directory.path).launches)
