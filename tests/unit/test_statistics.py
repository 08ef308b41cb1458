"""Intervals, trends, ratios and modes against published figures, scipy and brute force."""

import itertools
import math

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analyse.modes import dip, dip_exceeds, two_modes
from assay.analyse.statistics import (
    hodges_lehmann,
    kendall,
    median_interval,
    median_rank,
    medians,
    percentile,
    quantiles,
    share_of,
    signed_rank,
    student,
    theil_sen,
    verdict,
)
from assay.analyse.steady import steady_starts
from assay.model.quantity import Quantity


@pytest.mark.parametrize(("count", "of"), [(0, 1), (1, 1), (0, 8), (7, 8), (93, 100), (1990, 2000)])
def test_the_interval_of_a_share_is_that_of_clopper_and_pearson(count: int, of: int) -> None:
    found, wanted = share_of(count, of), scipy.stats.binomtest(count, of).proportion_ci(0.95, "exact")
    assert found.parts == pytest.approx((count / of, wanted.low, wanted.high), abs=1e-8)


@pytest.mark.parametrize("free", [1, 2, 3, 11, 100])
def test_the_quantile_of_students_t_is_scipys(free: int) -> None:
    assert student(free) == pytest.approx(scipy.stats.t.ppf(0.975, free), rel=1e-6)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.floats(0, 1))
def test_medians_and_quantiles_are_numpys(values: list[float], share: float) -> None:
    table = np.array([values, values[::-1], sorted(values)])
    assert medians(table) == pytest.approx(np.median(table, axis=-1))
    assert medians(values) == pytest.approx(np.median(values))
    found, rounding = quantiles(values, (share, 1 - share)), 2e-14 * max(map(abs, values))
    assert found == pytest.approx(np.quantile(values, [share, 1 - share]), abs=max(1e-12, rounding))


@pytest.mark.parametrize(("n", "rank"), [(1, 0), (5, 0), (6, 1), (10, 2), (20, 6), (100, 40)])
def test_the_ranks_of_the_medians_interval_are_the_published_ones(n: int, rank: int) -> None:
    assert median_rank(n) == rank


@pytest.mark.parametrize("n", [7, 33, 150, 999, 4001, 100_000])
def test_the_ranks_are_those_of_the_binomial_law(n: int) -> None:
    rank = median_rank(n)
    assert scipy.stats.binom.cdf(rank - 1, n, 0.5) <= 0.025 < scipy.stats.binom.cdf(rank, n, 0.5)


def test_five_samples_give_their_range_and_no_confidence() -> None:
    assert median_interval([5, 1, 4, 2, 3]) == Quantity(3, 1, 5, basis="range")


@pytest.mark.parametrize("n", [6, 10, 20, 31])
def test_the_interval_covers_the_median_of_a_skewed_law_as_often_as_it_says(n: int) -> None:
    rng = np.random.default_rng(n)
    draws = 4000
    intervals = [median_interval(rng.lognormal(0, 1, n)) for _ in range(draws)]
    covered = sum(each.lo <= 1 <= each.hi for each in intervals) / draws
    exact = 1 - 2 * scipy.stats.binom.cdf(median_rank(n) - 1, n, 0.5)
    assert covered == pytest.approx(exact, abs=0.012)
    assert exact >= 0.95


def test_percentiles_are_samples() -> None:
    assert percentile(np.arange(1.0, 101.0), 0.99) == 99
    assert percentile(np.array([7.0]), 0.99) == 7


@given(st.lists(st.integers(-50, 50), min_size=4, max_size=40), st.randoms())
def test_trends_agree_with_scipy(values: list[int], random: object) -> None:
    del random
    x = np.arange(len(values), dtype=float)
    y = np.array(values, dtype=float)
    assert theil_sen(x, y) == pytest.approx(scipy.stats.theilslopes(y, x).slope)
    tau, p = kendall(x, y)
    if len(set(values)) > 1:
        oracle = scipy.stats.kendalltau(x, y)
        assert tau == pytest.approx(oracle.statistic)
        tied = len(set(values)) < len(values)
        method = "asymptotic" if tied else "exact"
        assert p == pytest.approx(scipy.stats.kendalltau(x, y, method=method).pvalue)
    else:
        assert (tau, p) == (0, 1)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ((1, 1, 2, 3, 4, 5), (1, 2, 3, 4, 6, 5)),  # one pair in x
        ((1, 1, 1, 1, 2, 2, 3, 4), (8, 7, 6, 5, 4, 3, 2, 1)),
        ((1, 1, 2, 2, 2, 3, 4, 4, 4, 4), (2, 2, 2, 1, 3, 3, 3, 1, 4, 4)),  # pairs, threes and fours in both
        ((0, 0, 0, 1, 1, 1, 2, 2, 2), (0, 1, 2, 0, 1, 2, 0, 1, 1)),
    ],
)
def test_the_law_of_kendalls_score_counts_ties_of_both(x: tuple[int, ...], y: tuple[int, ...]) -> None:
    oracle = scipy.stats.kendalltau(x, y, method="asymptotic")
    assert kendall(x, y) == pytest.approx((oracle.statistic, oracle.pvalue), rel=1e-9)
    assert kendall(y, x) == pytest.approx(kendall(x, y), rel=1e-12)


@pytest.mark.parametrize(("n", "method"), [(60, "exact"), (61, "asymptotic")])
def test_kendalls_law_is_exact_up_to_60_points(n: int, method: str) -> None:
    order = np.random.default_rng(n).permutation(n)
    wanted = scipy.stats.kendalltau(np.arange(n), order, method=method).pvalue
    assert kendall(np.arange(n), order)[1] == pytest.approx(wanted, rel=1e-9)
    other = "asymptotic" if method == "exact" else "exact"
    assert wanted != pytest.approx(scipy.stats.kendalltau(np.arange(n), order, method=other).pvalue, rel=1e-5)


@pytest.mark.parametrize("n", range(1, 13))
def test_the_signed_rank_interval_is_exact(n: int) -> None:
    sums = np.array([sum(r for r, s in zip(range(1, n + 1), signs, strict=True) if s)
                     for signs in itertools.product((0, 1), repeat=n)])  # fmt: skip
    rank = signed_rank(n)
    assert rank == 0 or (sums <= rank - 1).mean() <= 0.025
    assert (sums <= rank).mean() > 0.025


def test_fewer_than_six_blocks_give_no_confidence() -> None:
    assert [bool(hodges_lehmann(np.arange(n, dtype=float)).confidence) for n in (3, 5, 6)] == [False, False, True]


@settings(deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=6, max_size=14, unique=True))
def test_the_interval_holds_the_shifts_that_wilcoxon_does_not_reject(values: list[float]) -> None:
    found = hodges_lehmann(values)
    width = found.hi - found.lo
    if width < 1e-3:
        return
    for shift, inside in ((found.lo - width / 500, False), (found.lo + width / 500, True)):
        walsh = [(a + b) / 2 for a, b in itertools.combinations_with_replacement(values, 2)]
        if min(abs(shift - each) for each in walsh) < 1e-9 or any(
            min(shift, found.lo) < each < max(shift, found.lo) for each in walsh
        ):
            continue
        p = scipy.stats.wilcoxon(np.array(values) - shift, method="exact").pvalue
        assert (p > 0.05) == inside


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=12))
def test_turning_a_ratio_over_turns_its_interval_over(logs: list[float]) -> None:
    ratio, turned = hodges_lehmann(logs), hodges_lehmann([-each for each in logs])
    assert turned.parts == pytest.approx((-ratio.value, -ratio.hi, -ratio.lo))


@pytest.mark.parametrize(
    ("lo", "hi", "expected"),
    [
        (1.02, 1.10, "faster"),
        (0.90, 0.98, "slower"),
        (1.001, 1.005, "trivially different"),
        (0.995, 1.005, "equivalent"),
        (0.98, 1.05, "inconclusive"),
    ],
)
def test_verdicts_use_the_margin_of_one_percent(lo: float, hi: float, expected: str) -> None:
    assert verdict(lo, hi, 0.95) == expected
    assert verdict(lo, hi, None) == "inconclusive"


def _dip_by_linear_programming(x: np.ndarray) -> float:
    """The least distance of the distribution function to one that is convex up to a mode, then concave."""
    u, count = np.unique(x, return_counts=True)
    after = np.cumsum(count) / count.sum()
    before = after - count / count.sum()
    return min(_distance_with_mode(u, before, after, mode) for mode in range(u.size))


def _distance_with_mode(u: np.ndarray, before: np.ndarray, after: np.ndarray, mode: int) -> float:
    k, left = u.size, mode + 1
    names = k + 2  # values left of the mode with its left limit, values from the mode on, the distance
    rows: list[np.ndarray] = []
    bounds: list[float] = []

    def require(weights: dict[int, float], most: float) -> None:
        row = np.zeros(names)
        for index, weight in weights.items():
            row[index] += weight
        rows.append(row)
        bounds.append(most)

    for index in range(k + 1):
        at = index if index < left else index - 1
        values = {before[at]} if index == mode else {after[at]} if index == left else {before[at], after[at]}
        for value in values:
            require({index: 1, k + 1: -1}, value)
            require({index: -1, k + 1: -1}, -value)
        if index:
            require({index - 1: 1, index: -1}, 0)
    for at in range(1, k - 1):
        here, before_it, after_it = 1 / (u[at] - u[at - 1]), at - 1, at + 1
        ahead = 1 / (u[at + 1] - u[at])
        if at < mode:
            require({at: here + ahead, before_it: -here, after_it: -ahead}, 0)
        elif at > mode:
            require({at + 1: -here - ahead, before_it + 1: here, after_it + 1: ahead}, 0)
    solved = scipy.optimize.linprog([0] * (k + 1) + [1], A_ub=np.array(rows), b_ub=bounds, bounds=(0, 1))
    return float(solved.fun) if solved.status == 0 else math.inf


@pytest.mark.parametrize("seed", range(10))
def test_the_dip_is_the_distance_that_linear_programming_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 9, 20).astype(float) if seed % 2 else rng.uniform(size=int(rng.integers(4, 22)))
    x = np.concatenate((x, x + 5)) if seed % 3 == 0 else x
    assert dip(np.sort(x)) == pytest.approx(_dip_by_linear_programming(x), abs=1e-9)


@pytest.mark.parametrize(("n", "nine_tenths"), [(50, 0.0645), (100, 0.0471)])
def test_the_dip_of_uniform_samples_has_the_published_quantile(n: int, nine_tenths: float) -> None:
    rng = np.random.default_rng(3)
    dips = [dip(np.sort(rng.uniform(size=n))) for _ in range(3000)]
    assert np.quantile(dips, 0.9) == pytest.approx(nine_tenths, rel=0.03)


@pytest.mark.parametrize("n", [30, 70, 200, 500])
def test_one_mode_is_taken_for_two_in_one_percent_of_the_worst_case(n: int) -> None:
    rng = np.random.default_rng(5)
    share = sum(dip_exceeds(dip(np.sort(rng.uniform(size=n))), n) for _ in range(2000)) / 2000
    assert share == pytest.approx(0.01, abs=0.0075)


def test_two_modes_are_found_with_their_medians() -> None:
    rng = np.random.default_rng(1)
    samples = np.sort(np.concatenate((rng.normal(1, 0.004, 150), rng.normal(1.1, 0.004, 50))))
    assert two_modes(samples) == pytest.approx((1, 1.1), rel=2e-3)


@pytest.mark.parametrize(
    ("low", "high", "upper", "why"),
    [(180, 10, 1.1, "the smaller mode is too small"), (100, 100, 1.01, "the gap is too small"),
     (14, 14, 1.1, "there are too few samples")],
)  # fmt: skip
def test_two_modes_that_do_not_matter_are_one(low: int, high: int, upper: float, why: str) -> None:
    rng = np.random.default_rng(2)
    samples = np.concatenate((rng.normal(1, 0.002, low), rng.normal(upper, 0.002, high)))
    assert two_modes(np.sort(samples)) == (), why


def _noise(seed: int, n: int, sigma: float = 0.01) -> np.ndarray:
    return np.random.default_rng(seed).lognormal(0, sigma, n)


def test_a_level_series_is_steady_from_its_start() -> None:
    starts = steady_starts([_noise(seed, n) for seed in range(40) for n in (12, 30, 64, 200, 1000)])
    assert starts.count(0) >= 199


def test_a_slow_beginning_is_left_behind() -> None:
    series = [np.concatenate((1.3 * _noise(seed, 20), _noise(seed + 1, 60))) for seed in range(20)]
    assert all(start is not None and 18 <= start <= 22 for start in steady_starts(series))


def test_a_series_that_keeps_changing_is_never_steady() -> None:
    stairs = np.concatenate([(1 + 0.1 * step) * _noise(step, 12, 0.003) for step in range(5)])
    late = np.concatenate((_noise(1, 100), 1.5 * _noise(2, 9)))
    assert steady_starts([stairs, late]) == [None, None]


def test_isolated_outliers_do_not_end_a_steady_series() -> None:
    series = _noise(4, 200)
    series[[30, 90, 91, 195]] *= 5
    assert steady_starts([series]) == [0]


def test_segments_within_one_percent_are_one() -> None:
    apart = [np.concatenate((step * _noise(1, 50, 0.001), _noise(2, 50, 0.001))) for step in (1.006, 1.03)]
    assert steady_starts(apart) == [0, 50]
