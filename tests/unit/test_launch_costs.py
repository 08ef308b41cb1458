"""Costs of launches by hand: what one launch teaches, what the next one needs, and how time is spread."""

import math
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from tests.simulation import plan_for

from assay.model.plan import LEAST_S, UNLIMITED_S, Measure, Plan, PlannedLaunch, Study, probe_s
from assay.model.record import Series
from assay.model.run import LaunchRecords
from assay.run.budget import CostHistory, Need, Outstanding, Overhead, sampling, total
from assay.run.spread import Spread

SIZES = Study("Sizes", "?", (Measure("memcpy", ("one-core",), axes={"bytes": "1k:4k", "buffers": "hot"}),))
#: Seconds to start a program of one process (assay.model.benchmark).
START_S = 0.05


def plan_of(setups: Sequence[float] = (0.1, 0.3, 0.0), launches: int = 2, **changed: object) -> Plan:
    """A plan of three cases with these set-ups, all in each launch."""
    plan = plan_for(study=SIZES)
    cases = tuple(
        msgspec.structs.replace(case, setup_s=setup, weight=1.0 + at)
        for at, (case, setup) in enumerate(zip(plan.studied, setups, strict=True))
    )
    names = tuple(case.id for case in cases)
    order = tuple(PlannedLaunch(f"{at:03d}-00", at, "memcpy", "gcc", names) for at in range(launches))
    given = {"cases": cases, "order": order, "min_samples": 2, "budget_s": None, "precision": 0.01} | changed
    return msgspec.structs.replace(plan, **given)


def series(starts: Sequence[float], seconds: Sequence[float], **changed: object) -> Series:
    given = {"kernel": "memcpy", "rank": 0, "phase": "measured", "iterations": 1, "stop": "time"} | changed
    return Series(start_s=list(starts), seconds=list(seconds), **cast("Any", given))


def launch(
    cases: Mapping[str, Sequence[Series]], *, exit_code: int | None = 0, ended: bool = True
) -> LaunchRecords:
    record = SimpleNamespace(id="000-00", cases=tuple(cases), exit_code=exit_code, program="memcpy")
    made = [
        SimpleNamespace(header=SimpleNamespace(case=case), series=each, end=ended or None)
        for case, each in cases.items()
    ]
    return cast("LaunchRecords", SimpleNamespace(launch=record, cases=made))


def two(plan: Plan) -> dict[str, list[Series]]:
    """Case 0 takes samples from 2 s to 4 s, case 1 from 5 s to 8 s, the last one none."""
    a, b, c = (case.id for case in plan.cases)
    return {a: [series((2, 3), (1, 1))], b: [series((5, 6), (1, 2))], c: []}


@pytest.mark.parametrize(("allowed_s", "beyond"), [(2.0, 1.0), (0.5, 2.25), (9.0, 0.0)])
def test_a_launch_teaches_its_start_its_setups_and_what_samples_took_beyond_their_time(
    allowed_s: float, beyond: float
) -> None:
    plan = plan_of()
    a, b, c = (case.id for case in plan.cases)
    costs = CostHistory(plan)
    costs.learn(launch(two(plan)), {a: 5.0, b: allowed_s}, 10.0)
    sampled_s = 2 + 3 - beyond  # the least that case 1 gets next time is a quarter of its two samples: .75 s
    overhead_s = 10 - sampled_s
    before_a = 0.1 * (1.0 / 0.3)  # as the gap before case 1 is to its planned set-up
    start_s = overhead_s - (before_a + 1.0 + beyond)
    assert costs.overheads == {
        a: pytest.approx(Overhead(start_s, before_a)),
        b: pytest.approx(Overhead(start_s, 1.0 + beyond)),
        c: pytest.approx(Overhead(start_s, 0.0)),
    }
    assert costs.start_s == pytest.approx(overhead_s)
    assert costs.measured_s == {"memcpy": pytest.approx(overhead_s)}
    assert costs.planned_s == {"memcpy": pytest.approx(START_S + 0.1 + 0.3)}
    assert (costs.span_s, costs.least_s) == ({a: 2.0, b: 3.0}, {a: 2.0, b: 3.0})


def test_costs_of_a_program_add_and_the_shortest_start_counts() -> None:
    plan = plan_of()
    a, b, _ = (case.id for case in plan.cases)
    costs = CostHistory(plan)
    for wall_s in (10.0, 8.0, 9.0, 4.0):
        costs.learn(launch(two(plan)), {a: 5.0, b: 5.0}, wall_s)
    assert costs.measured_s == {"memcpy": pytest.approx(5 + 3 + 4 + 0)}  # the clocks of the last one disagree
    assert costs.planned_s == {"memcpy": pytest.approx(4 * 0.45)}
    assert costs.start_s == pytest.approx(3.0)
    assert costs.overheads[a].start_s == 0.0


def test_the_first_setup_is_its_planned_one_if_nothing_else_is_known_and_no_longer_than_seen() -> None:
    for setup_s, first_s, found in ((0.1, 2.0, 0.1), (5.0, 2.0, 2.0)):
        plan = plan_of((setup_s, 0.0, 0.0))
        costs = CostHistory(plan)
        costs.learn(launch({plan.cases[0].id: [series((first_s,), (1,))]}), {}, 10.0)
        assert costs.overheads[plan.cases[0].id].setup_s == pytest.approx(found)


@pytest.mark.parametrize("exit_code", [None, -9])
def test_a_launch_that_was_ended_teaches_its_samples_only(exit_code: int | None) -> None:
    plan = plan_of()
    costs = CostHistory(plan)
    costs.learn(launch(two(plan), exit_code=exit_code), {}, 10.0)
    assert (costs.overheads, costs.planned_s, costs.start_s) == ({}, {}, 0.0)
    assert len(costs.span_s) == 2
    unended = CostHistory(plan)
    unended.learn(launch(two(plan), ended=False), {}, 10.0)
    assert not unended.span_s
    failed = CostHistory(plan)
    failed.learn(launch(two(plan), exit_code=1), {}, 10.0)
    assert len(failed.overheads) == 3


def test_samples_span_from_the_first_to_the_last_of_any_rank() -> None:
    plan = plan_of()
    name = plan.cases[0].id
    costs = CostHistory(plan)
    warm = series((1.0, 1.5), (0.5, 0.5), phase="warmup", stop="steady")
    other = series((2.5, 4.0, 4.5), (0.5, 0.5, 2.0), rank=1)
    ends = costs.learn_case(name, [warm, series((2.0, 3.0, 4.0), (1, 1, 1)), series((), (), rank=1), other])
    assert ends == (1.0, 6.5)
    assert costs.span_s[name] == 5.5
    assert costs.least_s[name] == pytest.approx(1.0 + 2 * 3 / 3)  # of rank 0: all warm-ups, and two samples
    assert costs.learn_case(name, []) == (0.0, 0.0)
    assert costs.learn_case(name, [series((), ()), series((1.0,), (3.0,))]) == (1.0, 4.0)
    assert costs.least_s[name] == 2 * 3.0


def test_short_gaps_and_short_starts_count_as_they_are() -> None:
    plan = plan_of()
    a, b, _ = (case.id for case in plan.cases)
    costs = CostHistory(plan)
    costs.learn(launch({a: [series((0.25,), (4,))], b: [series((4.5,), (1,))]}), {a: 9.0, b: 9.0}, 5.5)
    assert costs.overheads[b].setup_s == pytest.approx(4.5 - 4.25)
    assert costs.overheads[a].setup_s == pytest.approx(0.1 * 0.25 / 0.3)
    assert costs.start_s == pytest.approx(0.5)


def test_a_case_is_content_if_no_kernel_ran_out_of_time() -> None:
    plan = plan_of()
    name = plan.cases[0].id
    costs = CostHistory(plan)
    done, late = series((0,), (1,), stop="precision"), series((1,), (1,), kernel="other")
    for given, content in (([done, late], False), ([done], True), ([late], False)):
        costs.learn_case(name, given)
        assert (name in costs.content) == content


def test_medians_of_launches_are_those_of_one_iteration() -> None:
    plan = plan_of()
    name = plan.cases[0].id
    costs = CostHistory(plan)
    for iterations, seconds in ((2, 2.0), (4, 4.24)):
        costs.learn_case(name, [series((0,), (seconds,), iterations=iterations)])
    assert costs.need(name, 0.0).weight == pytest.approx((0.03 / 1.03 / 0.01) ** 2)


@pytest.mark.parametrize(
    ("medians", "miss"),
    [
        (((1.0, 9.0, 1.0), (1.06, 0.1, 9.0)), 0.03 / 1.03 / 0.01),
        (((1.0, 1.06, 0.5, 9.0), (1.03,)), 1.0),
        (((1.0,), (1.5,)), 4.0),  # no more than that counts
        (((0.0,), (1.5,)), 1.0),
        (((1.0,), (1.06,), (1.01,)), 0.03 / 1.03 / 0.01),
    ],
)
def test_weight_grows_with_the_square_of_the_distance_from_the_precision(
    medians: Sequence[Sequence[float]], miss: float
) -> None:
    plan = plan_of()
    name = plan.cases[1].id
    costs = CostHistory(plan)
    for seconds in medians:
        scaled = [2 * each for each in seconds]
        costs.learn_case(name, [series([0.0] * len(seconds), scaled, iterations=2), series([0], [77], rank=1)])
    assert costs.need(name, 0.0).weight == pytest.approx(2.0 * miss**2)


def test_a_case_needs_a_quarter_of_its_fewest_samples_wants_all_and_waits_for_one_that_stopped() -> None:
    plan = plan_of()
    a, b, c = (case.id for case in plan.cases)
    least_s, span_s = {a: 4.0, b: 0.01, c: 4.0}, {a: 9.0, b: 0.1, c: 3.0}
    overheads = dict.fromkeys((a, b, c), Overhead(2.0, 1.0))
    costs = CostHistory(plan, overheads, span_s, least_s, {b, c})
    assert costs.need(a, 0.5) == Need(2.0, 1.0, 4.0, 1.0)
    assert costs.need(b, 1.0) == pytest.approx(Need(3.0, LEAST_S, 0.15, 0.0))
    assert costs.need(c, 0.0) == Need(1.0, 1.0, 4.5, 0.0)
    assert CostHistory(plan).need(c, 0.0) == Need(0.0, LEAST_S, LEAST_S, 3.0)
    whole = costs.launch(plan.order[0])
    assert whole == pytest.approx(Need(2.0 + 3.0, 2.0 + LEAST_S, 8.65, 1.0))
    assert costs.unlimited_s(a) == UNLIMITED_S


def test_needs_add_and_the_reserve_is_a_tenth_of_the_overhead() -> None:
    assert Need(2.0, 5.0, 3.0).rich_s == pytest.approx(2.2 + 3.0)
    need = Need(1.0, 2.0, 3.0, 4.0)
    assert need.poor_s == 3.0
    assert need.plus(Need(10.0, 20.0, 30.0, 40.0), 2.0) == Need(21.0, 42.0, 63.0, 84.0)
    assert total([need, need, need]) == Need(3.0, 6.0, 9.0, 12.0)
    assert total([]) == Need() == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(("measured_s", "factor"), [(1.0, 2.0), (0.01, 0.2), (90.0, 5.0)])
def test_a_plan_is_corrected_by_what_its_program_took_within_limits(measured_s: float, factor: float) -> None:
    plan = plan_of()
    costs = CostHistory(plan, planned_s={"memcpy": 0.5}, measured_s={"memcpy": measured_s}, start_s=1.0)
    assert costs.overhead_s(plan.cases[1].id, 0.5) == pytest.approx(factor * (0.5 * START_S + 0.3))


def test_without_launches_of_a_program_the_start_of_others_counts_and_measured_setups_stay() -> None:
    plan = plan_of()
    name = plan.cases[1].id
    for start_s, found in ((0.01, START_S), (1.0, 1.0)):
        assert CostHistory(plan, start_s=start_s).overhead_s(name, 0.5) == pytest.approx(0.5 * found + 0.3)
    known = msgspec.structs.replace(
        plan, cases=tuple(msgspec.structs.replace(each, setup_measured=True) for each in plan.cases)
    )
    costs = CostHistory(known, planned_s={"memcpy": 0.5}, measured_s={"memcpy": 1.0}, start_s=1.0)
    assert costs.overhead_s(name, 0.5) == pytest.approx(0.5 + 0.3)


def test_what_remains_is_expected_to_take_what_it_took_or_what_others_did() -> None:
    plan = plan_of(estimate_s=60.0)
    a, b, _ = (case.id for case in plan.cases)
    overheads = {a: Overhead(2.0, 1.0), b: Overhead(4.0, 3.0)}
    costs = CostHistory(plan, overheads, {a: 5.0})
    assert costs.expected_s(Outstanding(3, 1.5), a) == pytest.approx(3 * (2.0 * 0.5 + 1.0 + 5.0))
    assert costs.expected_s(Outstanding(2, 2.0), b) == pytest.approx(2 * (4.0 + 3.0 + 5.0))
    fresh = CostHistory(plan, overheads)
    assert fresh.expected_s(Outstanding(2, 2.0), b) == pytest.approx(2 * (7.0 + 60.0 / 6))
    assert fresh.expected_s(Outstanding(), b) == 0.0
    assert Outstanding() == (0, 0.0)
    two_known = CostHistory(plan, overheads, {a: 5.0, plan.cases[2].id: 9.0})
    assert two_known.expected_s(Outstanding(2, 2.0), b) == pytest.approx(2 * (7.0 + 7.0))


@pytest.mark.parametrize(
    ("hosts", "most"), [(1, 1500), (26, 1500), (27, 1481), (100, 400), (181, 220), (1000, 200)]
)
def test_the_sentinel_takes_all_of_its_time_in_as_many_pieces_as_all_its_ranks_may(hosts: int, most: int) -> None:
    plan = plan_for()
    (sentinel,) = (case for case in plan.cases if case.role == "sentinel")
    names = tuple(f"n{at}" for at in range(hosts))
    placed = msgspec.structs.replace(sentinel.placement, hosts=names)
    wide = msgspec.structs.replace(sentinel, placement=placed)
    found = sampling(plan, [wide, plan.studied[0]], {"a": 1.0})
    assert (found.precision, found.max_samples, found.min_samples) == (1e-9, most, plan.min_samples)
    usual = sampling(plan, plan.studied[:1], {"a": 1.0})
    assert (usual.precision, usual.max_samples, usual.seconds) == (plan.precision, plan.max_samples, {"a": 1.0})


def test_the_sentinel_needs_the_time_of_its_probe() -> None:
    plan = plan_for()
    (sentinel,) = (case.id for case in plan.cases if case.role == "sentinel")
    made = sum(sentinel in each.cases for each in plan.order)
    need = CostHistory(plan, {sentinel: Overhead(1.0, 2.0)}).need(sentinel, 1.0)
    assert need == pytest.approx(Need(3.0, probe_s(made), probe_s(made), 0.0))
    assert CostHistory(plan).unlimited_s(sentinel) == probe_s(made)


#: Each case has a set-up of half a second and wants 2 s of samples, half a second at least.
def spread(left_s: float, launches: int = 2, **changed: object) -> tuple[Spread, Plan, str]:
    given: dict[str, Any] = {"grows": False}
    plan = plan_of(launches=launches, **(given | changed))
    names = [case.id for case in plan.cases]
    costs = CostHistory(plan, dict.fromkeys(names, Overhead(3.0, 0.5)), least_s=dict.fromkeys(names, 2.0))
    return Spread(plan, plan.order, {}, left_s, costs), plan, names[0]


def test_a_start_is_counted_once_for_the_cases_of_a_launch() -> None:
    known, plan, _ = spread(1000.0)
    assert known.total == pytest.approx(Need(2 * (3.0 + 3 * 0.5), 2 * 3 * 0.5, 2 * 3 * 2.0, 2 * (1 + 2 + 3)))
    assert known.spare_s(100.0) == pytest.approx(100 - 9 - 3)
    for case in plan.order[0].cases[:2]:
        known.through(case)
    assert known.total.overhead_s == pytest.approx(9 - 2 * 0.5)
    known.through(plan.order[0].cases[2])
    assert known.total == pytest.approx(Need(4.5, 1.5, 6.0, 6.0))


@pytest.mark.parametrize("left_s", [12.9, 14.0, 21.0, 40.0])
def test_time_goes_to_the_floor_then_to_what_is_wanted_then_by_weight(left_s: float) -> None:
    known, plan, _ = spread(left_s)
    seconds = known.allot(plan.order[0], left_s)
    sampling_s = left_s - 1.1 * 9
    share = min(1.0, max(0.0, sampling_s - 3) / (12 - 3))
    beyond = max(0.0, sampling_s - 12) / 12
    assert list(seconds.values()) == pytest.approx([0.5 + share * 1.5 + beyond * weight for weight in (1, 2, 3)])


@pytest.mark.parametrize(
    ("left_s", "again", "fits"), [(5.7, False, True), (5.6, False, False), (11.99, True, False)]
)
def test_the_current_launch_may_end_after_the_budget_unless_cases_are_considered_again(
    left_s: float, *, again: bool, fits: bool
) -> None:
    """Both launches take 12 s with the shortest sampling; the current one 6 s, which counts 1.05 times."""
    plan = plan_of(launches=2, grows=False)
    names = [case.id for case in plan.cases]
    costs = CostHistory(plan, dict.fromkeys(names, Overhead(3.0, 0.5)), least_s=dict.fromkeys(names, 2.0))
    whole = Spread(plan, plan.order, {}, 1000.0, costs, again=again)
    assert whole.fits(plan.order[0], left_s) == fits
    assert whole.fits(plan.order[0], 12.0)
    assert math.isclose(whole.total.poor_s, 12.0)


@pytest.mark.parametrize(("left_s", "fits"), [(4.7, True), (4.6, False)])
def test_a_budget_of_the_studys_own_grows_by_a_fifth(left_s: float, *, fits: bool) -> None:
    known, plan, _ = spread(1000.0, grows=True, budget_s=5.0)
    assert known.fits(plan.order[0], left_s) == fits
