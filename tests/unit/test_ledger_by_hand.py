"""The ledger of launches by hand: what is repeated, waited for, left, and said of what is missing."""

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest
from tests.simulation import plan_for

from assay.model.plan import Measure, Plan, PlannedLaunch, Study
from assay.model.record import End, Series
from assay.model.run import LaunchRecords, Run
from assay.run.ledger import Ledger, begun, remaining_work
from assay.run.watcher import Progress

STUDY = Study("Sizes", "?", (Measure("memcpy", ("one-core",), axes={"bytes": "1k:4k", "buffers": "hot"}),))


def plan_of(launches: int = 20, budget_s: float | None = None, **changed: object) -> Plan:
    """A plan of three cases, all in each launch."""
    plan = plan_for(study=STUDY)
    names = tuple(case.id for case in plan.studied)
    order = tuple(PlannedLaunch(f"{at:03d}", at, "memcpy", "gcc", names) for at in range(launches))
    given = {"cases": plan.studied, "order": order, "budget_s": budget_s, "estimate_s": 50.0} | changed
    return msgspec.structs.replace(plan, **given)


def made(
    plan: Plan,
    at: int = 0,
    *,
    attempt: int = 0,
    failed: Sequence[str] = (),
    disturbed: str = "others",
    **launch: object,
) -> LaunchRecords:
    """A whole launch, of which some cases failed."""
    planned = plan.order[at]
    given = {
        "id": planned.id,
        "cases": planned.cases,
        "program": "memcpy",
        "block": planned.block,
        "exit_code": 0,
        "attempt": attempt,
        "waited_s": 0.0,
        "began_s": 0.0,
        "ended_s": 1.0,
        "lost": (),
        "over_budget": False,
        "message": "",
        "bracket": SimpleNamespace(disturbance=disturbed, elapsed_s=1.0),
    }
    cases = [
        SimpleNamespace(
            header=SimpleNamespace(case=name),
            series=(Series("memcpy", 0, "measured", 1, "precision", [0.1], [0.1]),),
            end=End("failed", "wrong sum") if name in failed else End("complete", ""),
        )
        for name in planned.cases
    ]
    record = SimpleNamespace(**(given | launch))
    return cast("LaunchRecords", SimpleNamespace(launch=record, cases=cases, unstarted={}))


def test_a_disturbed_launch_is_repeated_within_a_fifth_of_the_budget() -> None:
    plan = plan_of(budget_s=100.0)
    for cost_s, again in ((20.0, True), (20.1, False)):
        assert Ledger(plan, (), 0.0).may_repeat(made(plan), cost_s, 0.0) == again
    ledger = Ledger(plan, (), 0.0)
    ledger.book(made(plan, attempt=1), {}, 15.0)
    assert ledger.may_repeat(made(plan), 5.0, 0.0)
    assert not ledger.may_repeat(made(plan), 5.1, 0.0)


def test_a_quiet_launch_or_one_that_failed_is_not_repeated() -> None:
    plan = plan_of()
    ledger = Ledger(plan, (), 0.0)
    assert ledger.may_repeat(made(plan), 1e6, 0.0)
    assert not ledger.may_repeat(made(plan, disturbed=""), 1.0, 0.0)
    assert not ledger.may_repeat(made(plan, failed=plan.order[0].cases[:1]), 1.0, 0.0)


def test_a_repeat_takes_no_time_that_a_launch_needs() -> None:
    plan = plan_of(2, budget_s=100.0, grows=False)
    ledger = Ledger(plan, (), 0.0)
    ledger.allot(plan.order[0], 0.0)
    needed_s = 2 * ledger.costs.launch(plan.order[0]).poor_s
    now_s = 100.0 - needed_s - 3.0
    assert ledger.may_repeat(made(plan), 2.9, now_s)
    assert not ledger.may_repeat(made(plan), 3.1, now_s)


@pytest.mark.parametrize(
    ("budget_s", "estimate_s", "waited_s", "patience_s"),
    [
        (None, 50.0, 0.0, 30.0),
        (None, 20.0, 0.0, 20.0),
        (None, 20.0, 5.0, 15.0),
        (None, 20.0, 25.0, 0.0),
        (100.0, 50.0, 0.0, 10.0),
        (1000.0, 50.0, 0.0, 30.0),
        (100.0, 50.0, 4.0, 6.0),
    ],
)
def test_a_machine_is_waited_for_a_tenth_of_the_budget_or_the_plan_and_half_a_minute_at_most(
    budget_s: float | None, estimate_s: float, waited_s: float, patience_s: float
) -> None:
    plan = plan_of(budget_s=budget_s, estimate_s=estimate_s)
    ledger = Ledger(plan, (), 0.0)
    ledger.book(made(plan, waited_s=waited_s), {}, 0.0)
    assert ledger.patience_s(0.0) == pytest.approx(patience_s)


def test_what_is_left_is_the_budget_without_what_was_used_and_what_is_kept() -> None:
    assert Ledger(plan_of(), (), 5.0).left_s(9.0) is None
    ledger = Ledger(plan_of(budget_s=100.0, prepared_s=7.0), (), 5.0)
    assert ledger.elapsed_s(9.0) == pytest.approx(7 + 4)
    assert ledger.left_s(9.0) == pytest.approx(100 - 11)
    kept = Ledger(plan_of(budget_s=100.0, prepared_s=20.0, later_share=0.25), (), 5.0)
    assert kept.left_s(5.0) == pytest.approx(80 - 0.25 * 80)
    late = Ledger(plan_of(budget_s=10.0, prepared_s=20.0, later_share=0.25), (), 5.0)
    assert late.left_s(5.0) == pytest.approx(-10)


def two_networks() -> Plan:
    plan = plan_of(budget_s=100.0, grows=False)
    cases = tuple(
        msgspec.structs.replace(each, factors={"network": "slow" if at == 0 else "fast"})
        for at, each in enumerate(plan.cases)
    )
    order = tuple(
        PlannedLaunch(f"{block}{at}", block, "memcpy", "gcc", (case.id,))
        for block in range(3)
        for at, case in enumerate(cases)
    )
    return msgspec.structs.replace(plan, cases=cases, order=order)


def test_a_launch_ends_a_tenth_after_the_budget_of_the_user_or_when_it_has_used_the_share_of_its_network() -> None:
    plan = two_networks()
    ledger = Ledger(plan, (), 0.0)
    assert ledger.most_s(plan.order[0], 0.0) == pytest.approx(50.0)
    assert ledger.most_s(plan.order[0], 80.0) == pytest.approx(20 + 7.5)
    assert ledger.most_s(plan.order[0], 1000.0) == pytest.approx(0.5)
    alone = plan_of(budget_s=100.0, grows=False)
    assert Ledger(alone, (), 0.0).most_s(alone.order[0], 40.0) == pytest.approx(60 + 7.5)
    short = plan_of(budget_s=4.0, grows=False)
    assert Ledger(short, (), 0.0).most_s(short.order[0], 3.0) == pytest.approx(1 + 0.75)
    for unlimited in (plan_of(), plan_of(budget_s=100.0, grows=True)):
        assert Ledger(unlimited, (), 0.0).most_s(unlimited.order[0], 99.0) == math.inf


def test_what_a_launch_that_the_budget_ended_did_not_finish_is_cut_and_all_else_over_its_network() -> None:
    plan = two_networks()
    ledger = Ledger(plan, (), 0.0)
    ledger.allot(plan.order[0], 0.0)
    ended = made(plan, 0, over_budget=True, exit_code=None)
    ended.cases[0].end = None  # type: ignore[misc] # a stand-in
    ledger.book(ended, {}, 50.0)
    assert [each.cases for each in ledger.left.launches()] == [
        each.cases for each in plan.order if each.id[1] != "0"
    ]
    name = plan.order[0].cases[0]
    shown = ledger.shortfalls(interrupted=False)[name]
    assert (shown.cause, shown.made, shown.planned) == ("budget", 0, 3)


def test_a_resumed_run_makes_again_what_the_budget_ended() -> None:
    plan = plan_of(3, budget_s=100.0)
    done, *others = plan.order[0].cases
    ended = made(plan, 0, over_budget=True, exit_code=None)
    for case in ended.cases[1:]:
        case.end = None  # type: ignore[misc] # the same
    ledger = Ledger(plan, (ended,), 0.0)
    first = ledger.following(0.0)
    assert first
    assert (first.id, first.cases) == (plan.order[0].id, tuple(others))
    assert ledger.lost[first.id] == 1
    assert done not in first.cases


def test_a_case_that_failed_twice_is_given_up_and_says_why() -> None:
    plan = plan_of(3)
    name, other, _ = plan.order[0].cases
    ledger = Ledger(plan, (), 0.0)
    ledger.book(made(plan, 0, failed=(name,)), {}, 1.0)
    first = ledger.following(0.0)
    assert first
    assert name in first.cases
    ledger.book(made(plan, 1, failed=(name,)), {}, 1.0)
    last = ledger.following(0.0)
    assert last
    assert name not in last.cases
    shown = ledger.shortfalls(interrupted=False)
    assert shown[name].cause == "failures"
    assert shown[name].why == "failed 2 times, the last time because wrong sum"
    assert (shown[name].made, shown[name].planned) == (2, 3)
    assert shown[other].cause == "unreached"
    assert ledger.shortfalls(interrupted=True)[other].cause == "interrupted"
    ledger.book(made(plan, 2), {}, 1.0)
    assert ledger.shortfalls(interrupted=False).keys() == {name}


@pytest.mark.parametrize(("failed_s", "named"), [(24.0, False), (25.0, True)])
def test_launches_that_failed_are_named_if_they_took_a_quarter_of_the_budget(
    failed_s: float, *, named: bool
) -> None:
    plan = plan_of(3, budget_s=100.0)
    name, other, _ = plan.order[0].cases
    ledger = Ledger(plan, (), 0.0)
    ledger.book(made(plan, 0, failed=(name,)), {}, failed_s)
    ledger.book(made(plan, 1), {}, 40.0)
    ledger.cut([other])
    shown = ledger.shortfalls(interrupted=True)[other]
    assert shown.cause == "budget"
    assert (f"25 s of it by launches that failed ({name}: wrong sum)" in shown.why) == named
    assert shown.why.startswith("the budget of 100 s was used up")


def test_progress_counts_launches_once_and_expects_no_more_than_is_left() -> None:
    plan = plan_of(4)
    ledger = Ledger(plan, (), 10.0)
    expected_s = ledger.left.expected_s(ledger.costs)
    assert ledger.progress(10.0) == Progress(0, 4, 0, expected_s, 0.0)
    ledger.book(made(plan, 0), {}, 1.0)
    ledger.book(made(plan, 0, attempt=1), {}, 1.0)  # a repeat
    ledger.strike("003", plan.order[3].cases)
    after = ledger.progress(12.0)
    assert (after.made, after.planned, after.cut, after.elapsed_s) == (1, 3, 1, 2.0)
    assert 0 < after.left_s < expected_s
    unmade = Ledger(plan, (), 0.0)
    assert unmade.progress(0.0).left_s == pytest.approx(expected_s)
    unmade.strike("003", plan.order[3].cases)
    assert unmade.progress(0.0).left_s == pytest.approx(expected_s * 3 / 4)
    for launch in plan.order:
        ledger.strike(launch.id, launch.cases)
    assert ledger.progress(12.0).left_s == 0.0
    short = Ledger(msgspec.structs.replace(plan, budget_s=expected_s / 2), (), 0.0)
    assert short.progress(0.0).left_s == pytest.approx(expected_s / 2)
    assert short.progress(expected_s).left_s == 0.0


def test_a_launch_that_lost_a_node_counts_what_it_completed() -> None:
    plan = plan_of(2)
    first, *others = plan.order[0].cases
    partly = made(plan, 0, failed=others, lost=("n1",))
    ledger = Ledger(plan, (partly,), 0.0)
    again = ledger.following(0.0)
    assert again
    assert again.cases == tuple(others)
    assert ledger.lost == {"000": 1}
    ledger.book(made(plan, 0, attempt=1), {}, 1.0)
    assert ledger.may_repeat(made(plan, 1), 1.0, 0.0)
    for _ in range(4):
        ledger.book(made(plan, 1, attempt=1), {}, 1.0)
    assert not ledger.may_repeat(made(plan, 1), 1.0, 0.0)  # the first was no repeat: the node was lost
    assert first


@pytest.mark.parametrize(("attempt", "again"), [(1, True), (2, False)])
def test_two_repeats_are_enough(attempt: int, *, again: bool) -> None:
    plan = plan_of()
    assert Ledger(plan, (), 0.0).may_repeat(made(plan, attempt=attempt), 1.0, 0.0) == again


def test_a_run_of_one_kind_of_launches_has_all_of_its_budget() -> None:
    plan = plan_of(budget_s=100.0, grows=False)
    ledger = Ledger(plan, (), 0.0)
    ledger.book(made(plan), {}, 60.0)
    assert ledger.left_s(60.0) == pytest.approx(40.0)


def a_run(plan: Plan, *launches: LaunchRecords, study_s: float | None = None, ending: object = None) -> Run:
    run = SimpleNamespace(plan=plan, study_s=study_s, ending=ending, of=lambda _plan: launches)
    return cast("Run", run)


@pytest.mark.parametrize(("study_s", "used_s"), [(None, 1.0), (0.5, 1.0), (9.0, 9.0)])
def test_a_resumed_run_needs_what_it_used_and_one_and_a_half_times_what_remains(
    study_s: float | None, used_s: float
) -> None:
    plan = plan_of(4)
    first = made(plan, 0)
    work = remaining_work(a_run(plan, first, study_s=study_s))
    assert work
    ledger = Ledger(plan, (first,), 0.0)
    assert (work.launches, work.used_s) == (3, used_s)
    assert work.needed_s == pytest.approx(used_s + 1.5 * ledger.left.expected_s(ledger.costs))
    assert remaining_work(a_run(plan, *(made(plan, at) for at in range(4)))) is None
    trial = remaining_work(a_run(plan_of(1), first, study_s=99.0), plan, 2.0)
    assert trial
    assert trial.used_s == 2.0


def test_parts_that_were_stopped_are_the_study_without_an_ending_and_experiments_with_time() -> None:
    open_trial, spent, free = (plan_of(2, budget_s=budget_s) for budget_s in (1.5, 1.0, None))
    plan = plan_of(2, trials=(open_trial, spent, free))
    one = made(plan, 0)  # took 1 s
    assert begun(a_run(plan, one)) == (plan, open_trial, free)
    assert begun(a_run(plan, one, ending="complete")) == (open_trial, free)
    whole = a_run(plan, one, made(plan, 1), ending="complete")
    assert begun(whole) == ()


def test_cases_that_were_cut_are_considered_again_as_long_as_this_leads_to_launches() -> None:
    plan = plan_of(2, budget_s=100.0)
    name, failing, other = plan.order[0].cases
    ledger = Ledger(plan, (), 0.0)
    for at in range(2):
        ledger.book(made(plan, at, failed=(failing,)), {}, 1.0)
    assert ledger.following(0.0) is None
    fresh = Ledger(plan, (), 0.0)
    fresh.book(made(plan, 0), {}, 1.0)
    fresh.cut([name, failing, other])
    assert fresh.following(100.0) is None  # no time is left
    again = fresh.following(99.5)
    assert again
    assert (again.id, again.cases) == ("001", (name, failing, other))
    fresh.cut([name, failing, other])
    assert fresh.following(10.0) is None  # nothing was made since


def test_a_sentinel_alone_is_not_measured() -> None:
    plan = plan_of(2, budget_s=100.0)
    cases = (*plan.cases[:2], msgspec.structs.replace(plan.cases[2], role="sentinel"))
    plan = msgspec.structs.replace(plan, cases=cases)
    first, second, sentinel = (case.id for case in cases)
    ledger = Ledger(plan, (), 0.0)
    ledger.cut([first])
    assert ledger.left.outstanding.keys() == {second, sentinel}
    ledger.cut([second])
    assert not ledger.left.outstanding
    assert ledger.shortfalls(interrupted=False)[sentinel].cause == "budget"
