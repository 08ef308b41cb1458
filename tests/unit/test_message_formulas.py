"""Formulas of messages against plain computations: waits, scatter, pieces, figures of a law, many pairs."""

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
import scipy.optimize
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.topics.messages import figures, pairs, pieces, scatter
from assay.topics.messages.lines import Lines, lines
from assay.topics.messages.pairs import Rates
from assay.topics.messages.stalls import TIMERS, waits

Array = NDArray[np.float64]

FEW = settings(max_examples=25, deadline=None)
SEEDS = st.integers(0, 10_000)


def shares(samples: list[float], iterations: int = 10_000) -> list[float]:
    found = waits(np.array(samples), iterations)
    return [found[timer] for timer in TIMERS]


@pytest.mark.parametrize(("at", "least", "most"), [(0, 0.036, 0.050), (1, 0.190, 0.230)])
def test_a_wait_is_between_its_ends_beyond_the_quiet_time(at: int, least: float, most: float) -> None:
    for waited, counts in (
        (math.nextafter(least, 0), 0),
        (least, 1),
        (most, 1),
        (math.nextafter(most, 1), 0),
    ):
        found = shares([0.0] * 19 + [waited])
        assert found[at] == counts / 20
        assert found[1 - at] == 0


@pytest.mark.parametrize(("at", "least", "most"), [(0, 0.036, 0.050), (1, 0.190, 0.230)])
def test_a_wait_in_each_iteration_is_the_time_of_an_iteration(at: int, least: float, most: float) -> None:
    for waited, counts in (
        (math.nextafter(least, 0), 0),
        (least, 1),
        (most, 1),
        (math.nextafter(most, 1), 0),
    ):
        assert shares([8 * waited] * 20, 8)[at] == counts


def test_samples_without_a_wait_take_at_most_half_of_it() -> None:
    for at, seconds in enumerate((0.040, 0.200)):
        half = seconds / 2
        assert shares([half] * 19 + [half + seconds])[at] == 1 / 20
        assert shares([half * 1.01] * 19 + [half + seconds])[at] == 0


def test_a_tenth_of_the_samples_are_quiet() -> None:
    """Three of 20 samples are short: their tenth is short, and all others waited."""
    assert shares([0.001] * 3 + [0.041] * 17)[0] == 17 / 20
    assert shares([0.001] * 1 + [0.041] * 19)[0] == 0  # the tenth is not short
    assert [timer.milliseconds for timer in TIMERS] == [40, 200]


def curve(seed: int, most: int = 12) -> tuple[Array, Array]:
    """Ascending sizes from 0 on, and times of one or two lines with noise."""
    random = np.random.default_rng(seed)
    n = int(random.integers(8, most + 1))
    sizes = np.array([0.0, *np.geomspace(8, 2**22, n - 1)])
    start, rate = 10 ** random.uniform(-6, -4), 10 ** random.uniform(8, 10)
    times = (start + sizes / rate) * np.exp(random.choice([0.003, 0.05]) * random.standard_normal(n))
    times[int(random.integers(4, n - 3)) :] *= random.choice([1.0, 1.4, 3.0])
    return sizes, times


def squares(sizes: Array, times: Array) -> float:
    """Sum of the squared relative residuals of the best line with nothing negative (scipy.optimize.nnls)."""
    columns = np.stack([1 / times, sizes / times], axis=1)
    scale = np.abs(columns).max(axis=0)
    _, norm = scipy.optimize.nnls(columns / scale, np.ones_like(times))
    return float(norm**2)


def cuts(n: int) -> Iterator[list[int]]:
    """Every way to cut so many sizes into pieces of four or more."""

    def after(begin: int) -> Iterator[list[int]]:
        if begin == n:
            yield []
        for end in range(begin + 4, n + 1):
            yield from ([end, *rest] for rest in after(end))

    return ([0, *each] for each in after(0))


def neighbourhood(sizes: Array, times: Array) -> float:
    n = sizes.size
    every = [squares(sizes[at : at + 4], times[at : at + 4]) / (4 - 2) for at in range(n - 3)]
    # The median of a chi square of two degrees of freedom is 2 ln 2.
    return math.sqrt(float(np.median(every)) / math.log(2))


@FEW
@given(seed=SEEDS)
def test_the_scatter_is_the_least_that_neighbours_or_pieces_show(seed: int) -> None:
    sizes, times = curve(seed)
    n = sizes.size
    of_pieces = min(
        sum(squares(sizes[a:b], times[a:b]) for a, b in pairwise(cut)) / (n - 2 * (len(cut) - 1))
        for cut in cuts(n)
        if n > 2 * (len(cut) - 1)
    )
    shown = min(neighbourhood(sizes, times), math.sqrt(of_pieces))
    by_chance = 1 + 4 * (8 / n) ** (4 / 3)
    assert scatter.weighed(sizes, times) == pytest.approx(max(0.015, by_chance * shown), rel=1e-6)
    for launches in (0.001, shown / 2.001, shown / 1.999, 0.1):
        explained = shown <= 2 * launches
        wanted = 1.5 * max(shown, launches) if explained else by_chance * shown
        assert scatter.weighed(sizes, times, launches) == pytest.approx(max(0.015, wanted), rel=1e-6)


@FEW
@given(seed=SEEDS)
def test_what_is_left_is_the_root_mean_square_per_degree_of_freedom(seed: int) -> None:
    sizes, times = curve(seed)
    n = sizes.size
    for cut in ([0, n], [0, 4, n]):
        law = pieces.refit(sizes, times[None, :], cut, 0.05)
        fitted = pieces.fitted(sizes, cut, law)[0]
        number = [sum(at >= end for end in cut[1:-1]) for at in range(n)]
        by_hand = [law.start[0, k] + law.per_byte[0, k] * sizes[at] for at, k in enumerate(number)]
        assert fitted == pytest.approx(by_hand)
        off = sum((1 - a / b) ** 2 for a, b in zip(by_hand, times, strict=True)) / (n - 2 * (len(cut) - 1))
        wanted = max(0.015, min(math.sqrt(off), neighbourhood(sizes, times)))
        assert scatter.left(sizes, times, fitted, cut) == pytest.approx(wanted, rel=1e-6)


@FEW
@given(seed=SEEDS, off=st.sampled_from((0.015, 0.05, 0.2)))
def test_the_pieces_are_those_of_least_cost_with_four_logarithms_a_break(seed: int, off: float) -> None:
    sizes, times = curve(seed, 14)
    n = sizes.size

    def cost(cut: list[int]) -> float:
        parts = (lines(sizes[a:b], times[None, a:b], np.ones((1, b - a)), off).cost[0] for a, b in pairwise(cut))
        return float(sum(parts)) + 4 * math.log(n) * (len(cut) - 2)

    costs = sorted((cost(cut), cut) for cut in cuts(n))
    assume(len(costs) == 1 or costs[1][0] - costs[0][0] > 1e-6)
    assert pieces.edges(sizes, times, off) == costs[0][1]


LAW = Lines(np.array([[1e-6, 4e-6, 5e-6]]), np.array([[2e-9, 1e-9, 5e-10]]), np.zeros((1, 3)))
CUT, SIZES = [0, 4, 8, 12], np.array([0.0, *(2.0**power for power in range(4, 26, 2))])


def test_the_rate_of_a_law_is_that_of_its_last_piece() -> None:
    assert figures.rate(LAW) == pytest.approx(2e9)
    assert figures.rate(LAW._replace(per_byte=np.zeros((1, 3))))[0] == math.inf


@FEW
@given(
    starts=st.lists(st.floats(1e-7, 1e-3), min_size=3, max_size=3),
    slopes=st.lists(st.floats(1e-11, 1e-8), min_size=3, max_size=3),
)
def test_half_of_the_rate_is_reached_at_the_smallest_size_that_has_it(
    starts: list[float], slopes: list[float]
) -> None:
    law = Lines(np.array([starts]), np.array([slopes]), np.zeros((1, 3)))
    (found,) = figures.half_size(SIZES, CUT, law)
    half = 1 / slopes[2] / 2

    def rate(size: float, piece: int) -> float:
        return size / (starts[piece] + slopes[piece] * size)

    wanted = math.inf
    for piece, (begin, end) in enumerate(pairwise(CUT)):
        last = math.inf if end == len(SIZES) else SIZES[end - 1]
        # s / (a + b s) = h where s = h a / (1 - h b); rates grow with the size.
        crossing = half * starts[piece] / (1 - half * slopes[piece]) if half * slopes[piece] < 1 else math.inf
        first = max(SIZES[begin], crossing)
        if first <= last and first < wanted:
            wanted = first
    assert found == pytest.approx(wanted)
    assert rate(found, int(np.searchsorted(SIZES[[4, 8]], found, side="right"))) >= 0.99 * half


def test_a_law_that_does_not_grow_has_no_half_of_its_rate() -> None:
    flat = LAW._replace(per_byte=np.array([[2e-9, 1e-9, 0.0]]))
    assert figures.half_size(SIZES, CUT, flat)[0] == math.inf


@FEW
@given(seed=SEEDS)
def test_half_of_the_highest_rate_is_read_from_the_curve_in_logarithms(seed: int) -> None:
    sizes, times = curve(seed)
    rates = [size / time for size, time in zip(sizes, times, strict=True) if size]
    known = [size for size in sizes if size]
    half = max(rates) / 2
    at = next(number for number, rate in enumerate(rates) if rate >= half)
    wanted = known[0]
    if at:
        part = math.log(half / rates[at - 1]) / math.log(rates[at] / rates[at - 1])
        wanted = known[at - 1] * (known[at] / known[at - 1]) ** part
    assert figures.half_size_measured(sizes, times[None, :])[0] == pytest.approx(wanted)


def test_half_of_the_rate_may_be_reached_at_the_last_size_of_a_piece() -> None:
    """Powers of 2 are exact: half of the rate is 2^32 B/s, and the first piece reaches it at its last size."""
    start = SIZES[3] / 2.0**32
    law = Lines(np.array([[start, 1.0, 1.0]]), np.array([[0.0, 0.0, 2.0**-33]]), np.zeros((1, 3)))
    assert figures.half_size(SIZES, CUT, law)[0] == SIZES[3]
    # A piece of half the slope comes near to half of the rate and does not reach it.
    never = Lines(np.array([[start, 1.0, 1.0]]), np.array([[2.0**-32, 2.0**-32, 2.0**-33]]), np.zeros((1, 3)))
    assert figures.half_size(SIZES, CUT, never)[0] == 2.0**33


def test_half_of_the_highest_rate_may_lie_between_the_first_two_sizes() -> None:
    sizes, rates = np.array([64.0, 128.0, 256.0]), np.array([1.0, 3.0, 4.0])
    wanted = 64 * 2 ** (math.log(2) / math.log(3))
    assert figures.half_size_measured(sizes, (sizes / rates)[None, :])[0] == pytest.approx(wanted)


def test_half_of_the_highest_rate_may_be_reached_at_once() -> None:
    sizes, times = np.array([0.0, 64.0, 128.0, 256.0]), np.array([[1.0, 1.0, 2.0, 4.0]])
    assert figures.half_size_measured(sizes, times)[0] == pytest.approx(64)


def powers(*exponents: float) -> Array:
    """Times at sizes 1, 2, 4 ... that grow with these powers from size to size."""
    return np.array([np.cumprod([1.0, *(2.0**each for each in exponents)])])


def test_a_curve_is_saturated_where_its_time_grows_with_the_size_three_times_in_a_row() -> None:
    def found(*exponents: float) -> float:
        sizes = np.array([2.0**power for power in range(len(exponents) + 1)])
        return float(figures.saturation(sizes, powers(*exponents))[0])

    # The slope at a size is the mean of those on its two sides.
    assert found(0, 0, 1, 1, 1, 1) == 2.0**3
    assert found(0.5, 0.951, 0.951, 0.951) == 2.0**2
    assert found(0.5, 0.949, 0.949, 0.949) == math.inf
    assert found(0, 0, 0, 1, 1) == math.inf  # two sizes
    assert found(1, 1) == 1.0
    assert found(1) == math.inf
    assert found(0, 1, 1, 0, 0, 1, 1, 1) == 2.0**6


@FEW
@given(
    starts=st.lists(st.floats(1e-7, 1e-3), min_size=2, max_size=2),
    slopes=st.lists(st.floats(1e-11, 1e-8), min_size=2, max_size=2),
)
def test_a_step_is_the_smaller_ratio_of_the_two_sizes_beside_it(starts: list[float], slopes: list[float]) -> None:
    law = Lines(np.array([starts]), np.array([slopes]), np.zeros((1, 2)))
    ratios = [(starts[1] + slopes[1] * size) / (starts[0] + slopes[0] * size) for size in SIZES[[3, 4]]]
    wanted = min(ratios) if min(ratios) > 1 else max(ratios) if max(ratios) < 1 else 1.0
    assert figures.steps(SIZES, [0, 4, 12], law)[0, 0] == pytest.approx(wanted)


def test_each_break_has_its_step() -> None:
    (found,) = figures.steps(SIZES, CUT, LAW)
    assert len(found) == 2
    for number, at in enumerate((4, 8)):
        ratios = [
            (LAW.start[0, number + 1] + LAW.per_byte[0, number + 1] * size)
            / (LAW.start[0, number] + LAW.per_byte[0, number] * size)
            for size in SIZES[[at - 1, at]]
        ]
        assert found[number] == pytest.approx(min(ratios) if min(ratios) > 1 else min(max(ratios), 1.0))


#: Numbers of pairs and sizes of a grid of times.
K = np.repeat([1.0, 2.0, 4.0, 8.0, 16.0], 4)
S = np.tile([1e3, 1e4, 1e5, 1e6], 5)


@FEW
@given(seed=SEEDS)
def test_the_rate_of_each_number_of_pairs_is_the_non_negative_least_squares_of_scipy(seed: int) -> None:
    random = np.random.default_rng(seed)
    order = random.permutation(K.size)
    k, s = K[order], S[order]
    start = random.choice([0.0, 1e-6, 1e-5])
    times = (start + k * s / np.minimum(2e10, 3e9 + (k - 1) * 2e9)) * np.exp(0.05 * random.standard_normal(k.size))
    numbers, found_start, found = pairs.by_number(k, s, times[None, :])
    assert numbers.tolist() == [1, 2, 4, 8, 16]
    columns = np.stack([np.ones_like(s), *(s * (k == each) for each in numbers)], axis=1) / times[:, None]
    scale = columns.max(axis=0)
    fit, _ = scipy.optimize.nnls(columns / scale, np.ones_like(times))
    fit /= scale
    assert found_start[0] == pytest.approx(fit[0], rel=1e-6, abs=1e-13)
    assert found[0] == pytest.approx(numbers / fit[1:], rel=1e-6)


@FEW
@given(seed=SEEDS, count=st.integers(1, 5))
def test_the_law_of_pairs_is_a_line_of_relative_residuals_and_a_level(seed: int, count: int) -> None:
    numbers = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    random = np.random.default_rng(seed)
    found = 3e9 * np.exp(0.5 * random.standard_normal(5))
    law = pairs.law_of(numbers, np.array([1e-6]), found[None, :], count)
    assert law.start.tolist() == [1e-6]
    if count == 1:
        assert law.one[0] == pytest.approx(found[0])
        assert law.further[0] == math.inf
    else:
        slope, one = np.polyfit(numbers[:count] - 1, found[:count], 1, w=1 / found[:count])
        if slope < 0:  # further pairs take nothing away
            slope, one = 0.0, (1 / found[:count]).sum() / (1 / found[:count] ** 2).sum()
        assert law.further[0] == pytest.approx(slope)
        assert law.one[0] == pytest.approx(one)
    if count < 5:
        assert law.node[0] == pytest.approx((1 / found[count:]).sum() / (1 / found[count:] ** 2).sum())
    else:
        assert law.node[0] == math.inf


def test_so_many_pairs_have_the_smaller_of_the_line_and_the_node() -> None:
    law = Rates(np.zeros(2), np.array([3.0, 2.0]), np.array([2.0, np.inf]), np.array([8.0, 5.0]))
    assert pairs.rates(np.array([1.0, 2.0, 3.0, 5.0]), law).tolist() == [[3, 5, 7, 8], [2, 5, 5, 5]]
    assert pairs.fill(law) == pytest.approx([1 + (8 - 3) / 2, 1.0])
    assert pairs.fill(law._replace(node=np.array([1.0, 5.0])))[0] == 1.0


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_the_node_is_reached_where_the_cost_is_least(seed: int) -> None:
    numbers = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 8.0])
    random = np.random.default_rng(seed)
    one, further, node = random.uniform(1, 5), random.choice([0.0, 0.02, 0.5, 2.0]), random.uniform(4, 12)
    found = np.minimum(node, one + (numbers - 1) * further) * np.exp(0.02 * random.standard_normal(6))
    costs = []
    for count in range(1, 7):
        law = pairs.law_of(numbers, np.zeros(1), found[None, :], count)
        fitted = [min(law.node[0], law.one[0] + ((k - 1) * law.further[0] if k > 1 else 0.0)) for k in numbers]
        off = sum(((a / b - 1) / 0.015) ** 2 for a, b in zip(fitted, found, strict=True))
        # Further pairs that add less than 5 % of one pair, all together, add nothing.
        nothing = count > 1 and 7 * law.further[0] < 0.05 * law.one[0]
        costs.append(math.inf if nothing else off + (4 * math.log(6) if count < 6 else 0.0))
    assert pairs.below(numbers, found) == 1 + costs.index(min(costs))


@pytest.mark.parametrize(("gain", "count"), [(0.0070, 1), (0.0073, 6)])
def test_pairs_that_add_five_percent_in_all_add_something(gain: float, count: int) -> None:
    numbers = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 8.0])
    assert pairs.below(numbers, 1 + gain * (numbers - 1)) == count
