"""The sums of squares between runs and days by projections, and what History makes of them by hand."""

import math
import statistics
from collections.abc import Sequence

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analyse.history import ASSUMED, Components, History, RunLogs, Sums, logs, of_difference, sums, widened
from assay.model.quantity import Quantity

Days = list[list[list[float]]]
NUMBERS = st.integers(-8, 8).map(float)
DAYS = st.lists(
    st.lists(st.lists(NUMBERS, min_size=1, max_size=4), min_size=1, max_size=3), min_size=1, max_size=3
)


def incidence(owners: Sequence[int]) -> np.ndarray:
    """Return the matrix of which value belongs to which group."""
    return np.array([[owner == group for group in range(max(owners) + 1)] for owner in owners], dtype=np.float64)


def projection(groups: np.ndarray) -> np.ndarray:
    """Return the projection on the means of groups."""
    onto: np.ndarray = groups @ np.linalg.pinv(groups)
    return onto


@settings(max_examples=25)
@given(DAYS)
def test_sums_are_quadratic_forms_and_their_coefficients_are_traces(days: Days) -> None:
    """E[y'Ay] is the sum of tr(A Z Z') x variance over the components (Searle, theorem 1 of section 2.5)."""
    values = np.array([value for day in days for run in day for value in run])
    of_run = [at for at, run in enumerate(run for day in days for run in day) for _ in run]
    of_day = [at for at, day in enumerate(days) for run in day for _ in run]
    runs, whole = incidence(of_run), np.ones((values.size, 1))
    by_day = incidence(of_day)
    launch = np.eye(values.size) - projection(runs)
    run = projection(runs) - projection(by_day)
    day = projection(by_day) - projection(whole)
    wanted = Sums(
        ss_launch=values @ launch @ values,
        df_launch=np.trace(launch),
        ss_run=values @ run @ values,
        df_run=np.trace(run),
        run_in_run=np.trace(run @ runs @ runs.T),
        ss_day=values @ day @ values,
        df_day=np.trace(day),
        run_in_day=np.trace(day @ runs @ runs.T),
        day_in_day=np.trace(day @ by_day @ by_day.T),
    )
    assert sums(days) == pytest.approx(wanted, abs=1e-9)


def test_components_are_the_moments_none_below_0_and_unknown_ones_0() -> None:
    known = Sums(12.0, 6.0, 20.0, 4.0, 8.0, 30.0, 2.0, 3.0, 5.0)
    launch, run = 2.0, (20 - 4 * 2) / 8
    assert known.solved() == pytest.approx((launch, run, (30 - 2 * launch - 3 * run) / 5))
    assert known._replace(ss_run=1.0, ss_day=1.0).solved() == (2.0, 0.0, 0.0)
    assert known._replace(run_in_run=0.0, day_in_day=0.0).solved() == (2.0, 0.0, 0.0)
    assert known._replace(df_launch=0.0).solved()[0] == 0.0
    assert Sums().solved() == (0.0, 0.0, 0.0)


def test_the_sums_of_figures_add_with_their_squares_scaled() -> None:
    one, other = Sums(*range(1, 10)), Sums(*range(10, 100, 10))
    assert one.plus(other, 2.0) == Sums(1 + 5, 2 + 20, 3 + 15, 4 + 40, 5 + 50, 6 + 30, 7 + 70, 8 + 80, 9 + 90)
    assert one.plus(other).ss_run == 3 + 30
    assert Sums() == (0.0,) * 9


def run_of(name: str, day: str, **values: list[float]) -> RunLogs:
    return RunLogs(name, day, values, dict.fromkeys(values, "group"))


def one_day(runs: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return mean squares within and between runs of equally many launches, by their definition."""
    within = statistics.mean(statistics.variance(run) for run in runs)
    return within, len(runs[0]) * statistics.variance(map(statistics.mean, runs))


def test_a_figure_has_its_own_variance_and_that_of_its_group_as_two_runs_more() -> None:
    a = [[0.0, 1.0], [4.0, 5.0], [9.0, 11.0]]
    b = [[0.0, 4.0], [1.0, 9.0], [3.0, 5.0]]
    history = History(run_of(str(at), str(at), a=a[at], b=b[at]) for at in range(3))
    (within_a, between_a), (within_b, between_b) = one_day(a), one_day(b)
    # Relative to the launches of each figure; 2 degrees of freedom each, 2 launches a run.
    shared = max(0.0, ((between_a / within_a + between_b / within_b) / 2 - 1) / 2)
    for name, within, between in (("a", within_a, between_a), ("b", within_b, between_b)):
        own = max(0.0, (between - within) / 2)
        found = history.components(name)
        assert found
        assert found[:4] == pytest.approx((within, (2 * own + 2 * shared * within) / (2 + 2), 0.0, 3))


def test_the_group_of_a_figure_is_that_of_its_newest_run() -> None:
    a, b = [[0.0, 1.0], [4.0, 5.0], [9.0, 11.0]], [[0.0, 4.0], [1.0, 9.0], [3.0, 5.0]]
    runs = [
        RunLogs(str(at), "", {"a": a[at], "b": b[at]}, {"a": group, "b": "shared"})
        for at, group in enumerate(("own", "shared", "alone"))
    ]
    launch, run, _ = sums([a]).solved()
    found = History(runs).components("a")
    assert found
    assert found == pytest.approx((launch, run, 0.0, 3, 1.0, 1))  # no other figure of its group


def test_days_with_two_runs_show_a_variance_between_days() -> None:
    values = {"one": [[0.0, 1.0], [2.0, 3.0]], "two": [[6.0, 8.0], [9.0, 9.0]], "three": [[20.0, 21.0]]}
    runs = [(f"{day}{at}", day, run) for day, members in values.items() for at, run in enumerate(members)]
    found = History(run_of(name, day, a=run) for name, day, run in runs).components("a")
    launch, run, day = sums(list(values.values())).solved()
    assert found
    assert min(launch, run, day) > 0
    # The only figure of its group: the group says the same.
    assert found == pytest.approx((launch, run, day, 5, 1.0, 1))


def test_each_day_alone_is_the_same_day() -> None:
    a = [[0.0, 1.0], [4.0, 5.0], [9.0, 11.0]]
    alone, same = (
        History(run_of(str(at), day(at), a=a[at]) for at in range(3)).components("a")
        for day in (str, lambda _: "")
    )
    assert alone
    assert alone == same
    assert alone.day == 0


def test_three_runs_with_two_launches_or_more_are_needed() -> None:
    two, one = [0.0, 1.0], [0.0]
    assert History(run_of(str(at), "", a=two) for at in range(3)).components("a")
    assert not History(run_of(str(at), "", a=two) for at in range(2)).components("a")
    assert not History(run_of(str(at), "", a=two if at else one) for at in range(3)).components("a")


def test_a_figure_whose_launches_agree_says_nothing_of_its_group() -> None:
    steady, noisy = [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    history = History(run_of(str(at), "", a=steady[at], b=noisy[at]) for at in range(3))
    a, b = history.components("a"), history.components("b")
    assert a
    assert b
    assert a.launch == 0
    assert a.run == pytest.approx(
        (2 * 1.0 + 2 * 0.0) / 4
    )  # relative to no variance of launches, the group has none
    assert (b.run, b.day) == (0, 0)


def test_the_deviation_between_runs_includes_that_between_days() -> None:
    assert Components(5.0, 9.0, 16.0, 4).between == 5


@pytest.mark.parametrize(
    ("together", "same_day", "sides", "variance"),
    [
        (0.0, True, "few many", 5e-4),
        (0.0, False, "few many", 16e-4),
        (1.0, True, "few none", 8e-4),
        (1.0, False, "few none", 26e-4),
        (0.5, False, "none few", 26e-4),
    ],
)
def test_a_difference_has_the_variance_of_both_runs_by_the_least_certain_quantile(
    together: float, sides: str, variance: float, *, same_day: bool
) -> None:
    """A group that moves together is one value a run: 3 runs have 2 degrees of freedom, else 2 more."""
    known = {
        "few": Components(1.0, 4e-4, 9e-4, 3, together),
        "many": Components(1.0, 1e-4, 2e-4, 30, together),
        "none": None,
    }
    found = of_difference([known[name] for name in sides.split()], same_day=same_day)
    assert found.variance == pytest.approx(variance)
    assert found.deviation == pytest.approx(math.sqrt(variance / 2))
    assert (found.freedom, found.history) == (4 - 2 * together, 3)
    beyond = scipy.stats.t.ppf(0.975, found.freedom) * math.sqrt(variance)
    assert found.half == pytest.approx(beyond, rel=1e-4)
    effect = Quantity(0.1, 0.08, 0.15, basis="interval")
    expected = (0.1, 0.1 - math.hypot(0.02, beyond), 0.1 + math.hypot(0.05, beyond))
    assert tuple(widened(effect, found.half)) == pytest.approx(expected, rel=1e-4)
    only_range = Quantity(0.1, 0.08, 0.15, basis="range")
    assert widened(only_range, found.half) == only_range


def test_without_earlier_runs_the_variance_is_an_assumption() -> None:
    found = of_difference((None, None), same_day=False)
    assert found.deviation == pytest.approx(ASSUMED)
    assert found.history == 0
    assert found.half == pytest.approx(scipy.stats.norm.ppf(0.975) * math.sqrt(2) * ASSUMED)


@pytest.mark.parametrize(("common", "expected"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_earlier_runs_tell_how_far_figures_move_together(common: float, expected: float) -> None:
    """The correlation between the figures of a run, from 40 runs of 50 figures."""
    rng = np.random.default_rng(3)
    means = math.sqrt(common) * rng.normal(size=(40, 1)) + math.sqrt(1 - common) * rng.normal(size=(40, 50))
    names = [f"f{at}" for at in range(50)]
    runs = [
        RunLogs(str(at), "", {name: [mean, mean + 1e-3] for name, mean in zip(names, row, strict=True)},
                dict.fromkeys(names, "group"))
        for at, row in enumerate(means.tolist())
    ]  # fmt: skip
    assert History(runs).together(names) == pytest.approx(expected, abs=0.12)
    assert History(runs).together(["f0"]) == 1


def test_logarithms_are_those_of_the_values_above_0() -> None:
    assert logs([math.e, 0.0, 1.0, -1.0]) == [1.0, 0.0]


def test_runs_before_and_after_vary_about_a_mean_of_their_own() -> None:
    """A step between the two stretches is no variance between runs: the sums of squares are added."""
    before, after = [[0.0, 1.0], [4.0, 5.0], [9.0, 11.0]], [[100.0, 102.0], [103.0, 104.0]]
    first, second = sums([before]), sums([after])
    launch, run, _ = first.plus(second).solved()
    earlier = [run_of(str(at), "", a=of) for at, of in enumerate(before)]
    later = [run_of(str(at), "", a=of)._replace(is_later=True) for at, of in enumerate(after, 3)]
    found = History([*earlier, *later]).components("a")
    assert found
    assert (found.launch, found.run) == pytest.approx((launch, run))
    assert (found.runs, found.stretches, found.freedom) == (5, 2, 3.0)
    joined = History([*earlier, *(each._replace(is_later=False) for each in later)]).components("a")
    assert joined
    assert joined.run > 100 * found.run
    assert History(earlier[:2] + later).components("a")
    assert not History(earlier[:2] + later[:1]).components("a")
