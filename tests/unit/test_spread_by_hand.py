"""How launches are kept where a budget is too small, beside a plain count of what fits."""

from collections.abc import Mapping, Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulation import plan_for

from assay.model.plan import Measure, Plan, PlannedLaunch, Study
from assay.run.budget import CostHistory, Overhead
from assay.run.spread import Spread

STUDY = Study("Sizes", "?", (Measure("memcpy", ("one-core",), axes={"bytes": "1k:4k", "buffers": "hot"}),))
#: Documented: six launches make an interval, the current one counts 1.05 times, a tenth more for starts.
INTERVAL, CUT, RESERVE = 6, 1.05, 1.1


def plan_of(orders: Sequence[Sequence[int]], blocks: int, *, sentinel: bool = False, **changed: object) -> Plan:
    """A plan whose blocks have launches of these cases, by their numbers."""
    plan = plan_for(study=STUDY)
    cases = plan.studied
    if sentinel:
        cases = (*cases[:2], msgspec.structs.replace(cases[2], role="sentinel"))
    order = tuple(
        PlannedLaunch(f"{block}-{at}", block, "memcpy", "gcc", tuple(cases[number].id for number in numbers))
        for block in range(blocks)
        for at, numbers in enumerate(orders)
    )
    return msgspec.structs.replace(
        plan, cases=cases, order=order, **({"budget_s": 100.0, "grows": False} | changed)
    )


def costs_of(plan: Plan, start_s: float, setups: Sequence[float], leasts: Sequence[float]) -> CostHistory:
    names = [case.id for case in plan.cases]
    overheads = {name: Overhead(start_s, setup_s) for name, setup_s in zip(names, setups, strict=True)}
    return CostHistory(plan, overheads, least_s=dict(zip(names, leasts, strict=True)))


def kept(plan: Plan, spread: Spread, left_s: float) -> dict[str, int]:
    """Case -> launches that it gets, if each takes what was foreseen and no time passes."""
    found = dict.fromkeys((case.id for case in plan.cases), 0)
    for launch in plan.order:
        seconds = spread.allot(launch, left_s)
        for case in launch.cases:
            found[case] += case in seconds
            spread.through(case)
    return found


def needed_s(
    plan: Plan, made: Mapping[str, int], start_s: float, setups: Sequence[float], floors: Sequence[float]
) -> float:
    """Seconds of these first launches of each case: a start for each launch that has one of them."""
    left, total = dict(made), 0.0
    each_s = {case.id: setup + floor for case, setup, floor in zip(plan.cases, setups, floors, strict=True)}
    for launch in plan.order:
        own = [case for case in launch.cases if left[case] > 0]
        total += start_s * bool(own) + sum(each_s[case] for case in own)
        left |= {case: left[case] - 1 for case in own}
    return total


GRID = st.integers(0, 8).map(lambda each: each / 4)


@settings(max_examples=60)
@given(
    st.sampled_from([((0, 1, 2),), ((0,), (1,), (2,)), ((0, 1), (2,)), ((2, 0), (1,))]),
    st.integers(1, 8),
    GRID,
    st.tuples(GRID, GRID, GRID),
    st.floats(0.5, 80.0),
)
def test_what_is_kept_fits_and_its_need_is_that_of_a_plain_count(
    orders: Sequence[Sequence[int]], blocks: int, start_s: float, setups: tuple[float, float, float], left_s: float
) -> None:
    plan = plan_of(orders, blocks)
    leasts = (4.0, 2.0, 8.0)  # a quarter of them is worth a launch
    floors = (1.0, 0.5, 2.0)
    spread = Spread(plan, plan.order, {}, left_s, costs_of(plan, start_s, setups, leasts))
    whole = needed_s(plan, dict.fromkeys((each.id for each in plan.cases), blocks), start_s, setups, floors)
    poor_s = spread.total.poor_s
    made = kept(plan, spread, left_s)
    assert poor_s == pytest.approx(needed_s(plan, made, start_s, setups, floors))
    first = plan.order[0]
    longest_s = start_s + sum(
        setup + floor
        for case, setup, floor in zip(plan.cases, setups, floors, strict=True)
        if case.id in first.cases
    )
    most_s = left_s + CUT * longest_s
    assert poor_s <= most_s + 1e-9
    if whole <= most_s and blocks <= INTERVAL:
        assert set(made.values()) == {blocks}
    if all(count == 0 for count in made.values()):
        single = {
            case.id: needed_s(plan, {**dict.fromkeys(made, 0), case.id: 1}, start_s, setups, floors)
            for case in plan.cases
        }
        assert CUT * min(single.values()) > most_s
    assert spread.total.poor_s == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("left_s", "launches"), [(60.0, 6), (71.9, 6), (72.1, 7), (101.0, 9), (1000.0, 10)])
def test_blocks_beyond_an_interval_are_kept_if_all_wanted_samples_fit(left_s: float, launches: int) -> None:
    """A block wants 10 s of three cases; its start and set-ups take .25 s, and a tenth more in reserve."""
    plan = plan_of(((0, 1, 2),), 10)
    costs = costs_of(plan, 0.1, (0.05, 0.05, 0.05), (2.0, 3.0, 5.0))
    spread = Spread(plan, plan.order, {}, left_s, costs)
    wanted_s = 10.0 + RESERVE * 0.25
    assert launches == max(6, min(10, int(left_s / wanted_s)))
    assert set(kept(plan, spread, left_s).values()) == {launches}


@pytest.mark.parametrize(("made", "launches"), [(0, 6), (2, 4), (5, 1), (6, 1), (9, 1)])
def test_launches_that_were_made_count_for_the_interval(made: int, launches: int) -> None:
    """A block is worth 3 s and wants 12 s: beyond six launches one block fits into 19 s, and none into 11."""
    plan = plan_of(((0,), (1,), (2,)), 10)
    costs = costs_of(plan, 0.0, (0.0, 0.0, 0.0), (4.0, 4.0, 4.0))
    count = dict.fromkeys((case.id for case in plan.cases), made)
    spread = Spread(plan, plan.order, count, 19.0, costs)
    assert not spread.dropped
    assert set(kept(plan, spread, 19.0).values()) == {launches}
    short = Spread(plan, plan.order, count, 11.0, costs)
    assert (set(short.dropped) == set(count)) == (made >= 6)


def test_without_time_the_most_important_cases_keep_their_launches() -> None:
    plan = plan_of(((0,), (1,), (2,)), 6)
    costs = costs_of(plan, 0.0, (1.0, 1.0, 1.0), (4.0, 4.0, 4.0))  # 2 s a launch, 12 s a case
    for left_s, counts in (
        (36.0, [6, 6, 6]),
        (27.5, [6, 6, 1]),
        (26.0, [6, 6, 1]),
        (15.0, [6, 1, 1]),
        (5.0, [1, 1, 1]),
    ):
        spread = Spread(plan, plan.order, {}, left_s, costs)
        assert list(kept(plan, spread, left_s).values()) == counts, left_s
        assert not spread.dropped  # as long as a case waits for its first launch


@pytest.mark.parametrize("cheap", [True, False])
def test_the_sentinel_comes_first_if_it_takes_little(*, cheap: bool) -> None:
    """Its fixed work takes a quarter of a second in each of six launches."""
    plan = plan_of(((0,), (1,), (2,)), 6, sentinel=True)
    costs = costs_of(plan, 0.0, (1.0, 1.0, 0.01 if cheap else 3.0), (4.0, 4.0, 4.0))
    left_s = 19.0
    spread = Spread(plan, plan.order, {}, left_s, costs)
    first, second, sentinel = kept(plan, spread, left_s).values()
    assert (first, sentinel) == ((6, 6) if cheap else (6, 1))
    assert second == 1


def test_the_last_sentinel_may_end_after_the_budget() -> None:
    plan = plan_of(((0,), (1,), (2,)), 1, sentinel=True)
    costs = costs_of(plan, 0.0, (1.0, 1.0, 1.0), (4.0, 4.0, 4.0))
    spread = Spread(plan, plan.order, {}, 1000.0, costs)
    total_s, launch_s, last_s = 2.0 + 2.0 + 2.5, 2.0, 2.5  # its work takes 1.5 s in a single launch
    assert spread.total.poor_s == pytest.approx(total_s)
    border_s = total_s - CUT * (launch_s + last_s)
    assert spread.fits(plan.order[0], border_s + 0.01)
    assert not spread.fits(plan.order[0], border_s - 0.01)
    sentinel_s = total_s - CUT * last_s  # the current launch is the sentinel's own
    assert spread.fits(plan.order[2], sentinel_s + 0.01)
    assert not spread.fits(plan.order[2], sentinel_s - 0.01)
    assert not spread.fits(plan.order[0], 0.0)
