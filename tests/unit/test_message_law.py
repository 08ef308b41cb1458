"""Time of messages by size: exact where the law is known, and what authors of published tables read from them."""

import math
from itertools import pairwise

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.unit.published_messages import GBE, GBE_WINDOW, IB, IB_FAR, IB_NEAR, IB_WINDOW, Table

from assay.topics.messages import figures, pieces, scatter
from assay.topics.messages.lines import HUBER, Lines, lines

Array = NDArray[np.float64]
SIZES = np.array([0.0, *(2.0**power for power in range(23))])
#: Ends of a law: (start in s, rate in B/s).
STARTS, RATES = st.floats(1e-7, 1e-4), st.floats(1e8, 3e10)


def fitted(sizes: Array, times: Array) -> tuple[list[int], Lines]:
    off = scatter.weighed(sizes, times)
    cut = pieces.edges(sizes, times, off)
    return cut, pieces.refit(sizes, times[None, :], cut, off)


def breaks(table: Table) -> list[tuple[float, float]]:
    """Last size before each break and first after it."""
    sizes, times = table
    cut, _ = fitted(sizes, times)
    return [(sizes[at - 1], sizes[at]) for at in cut[1:-1]]


def start_and_rate(table: Table) -> tuple[float, float]:
    _, law = fitted(*table)
    return float(law.start[0, 0]), float(figures.rate(law)[0])


def noisy(rng: np.random.Generator, curves: int, noise: float) -> Array:
    """Times of one piece each, shape (curves, sizes)."""
    start, rate = 10 ** rng.uniform(-7, -4, (curves, 1)), 10 ** rng.uniform(8, 10.5, (curves, 1))
    times: Array = (start + SIZES / rate) * np.exp(noise * rng.standard_normal((curves, SIZES.size)))
    return times


@given(STARTS, RATES)
@settings(max_examples=settings().max_examples // 2)
def test_an_exact_line_is_found_exactly_and_in_one_piece(start: float, rate: float) -> None:
    times = start + SIZES / rate
    cut, law = fitted(SIZES, times)
    assert cut == [0, SIZES.size]
    assert law.start[0, 0] == pytest.approx(start, rel=1e-9)
    assert figures.rate(law)[0] == pytest.approx(rate, rel=1e-6)
    assert figures.half_size(SIZES, cut, law)[0] == pytest.approx(start * rate, rel=1e-6)


@given(STARTS, RATES, st.integers(4, 20), st.floats(1.2, 5))
def test_exact_pieces_are_found_exactly_with_the_step_between_them(
    start: float, rate: float, at: int, factor: float
) -> None:
    times = start + SIZES / rate
    times[at:] *= factor
    cut, law = fitted(SIZES, times)
    assert cut == [0, at, SIZES.size]
    assert law.start[0] == pytest.approx([start, factor * start], rel=1e-6)
    assert figures.steps(SIZES, cut, law)[0, 0] == pytest.approx(factor)


def test_one_percent_of_noise_makes_no_break_in_200_curves() -> None:
    """bench/message_law_speed.py counts more."""
    times = noisy(np.random.default_rng(11), 200, 0.01)
    assert sum(len(fitted(SIZES, row)[0]) > 2 for row in times) == 0


def test_a_step_of_20_percent_is_always_found_under_one_percent_of_noise() -> None:
    rng = np.random.default_rng(12)
    for row in noisy(rng, 100, 0.01):
        at = int(rng.integers(pieces.FEWEST, SIZES.size - pieces.FEWEST + 1))
        row[at:] *= 1.2
        cut, law = fitted(SIZES, row)
        assert at in cut
        found = figures.steps(SIZES, cut, law)[0, cut.index(at) - 1]
        assert found == pytest.approx(1.2, abs=0.1)


def test_half_of_the_penalty_invents_breaks_where_the_scatter_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    times = noisy(np.random.default_rng(11), 200, 0.02)
    monkeypatch.setattr(pieces, "PENALTY", 2)
    assert sum(len(pieces.edges(SIZES, row, 0.02)) > 2 for row in times) > 10


def few(rng: np.random.Generator, count: int, noise: float) -> tuple[Array, Array]:
    """So many sizes up to 4 MiB, and 300 curves of one piece over them."""
    sizes = np.geomspace(1, 2**22, count)
    start, rate = 10 ** rng.uniform(-7, -4, (300, 1)), 10 ** rng.uniform(8, 10.5, (300, 1))
    return sizes, (start + sizes / rate) * np.exp(noise * rng.standard_normal((300, count)))


@pytest.mark.parametrize("count", [8, 12])
@pytest.mark.parametrize("noise", [0.01, 0.05])
@pytest.mark.parametrize("with_launches", [False, True])
def test_few_sizes_make_no_break_by_chance(count: int, noise: float, *, with_launches: bool) -> None:
    """bench/message_law_speed.py counts more; where only the curve tells, a few of 10,000 are lines by chance."""
    sizes, times = few(np.random.default_rng(20), count, noise)
    launches = noise if with_launches else None
    assert all(pieces.edges(sizes, row, scatter.weighed(sizes, row, launches)) == [0, count] for row in times)


@pytest.mark.parametrize(("with_launches", "least"), [(True, 298), (False, 130)])
def test_a_threefold_step_among_eight_noisy_sizes_is_found(*, with_launches: bool, least: int) -> None:
    """The step does not hide in the scatter that it makes: launches leave no doubt, the curve alone does."""
    sizes, times = few(np.random.default_rng(22), 8, 0.05)
    times[:, 4:] *= 3
    launches = 0.05 if with_launches else None
    found = [pieces.edges(sizes, row, scatter.weighed(sizes, row, launches)) == [0, 4, 8] for row in times]
    assert sum(found) >= least


def test_a_step_does_not_inflate_the_scatter_and_one_time_far_off_neither() -> None:
    rng = np.random.default_rng(23)
    sizes, times = few(rng, 8, 0.05)
    plain = np.median([scatter.weighed(sizes, row) for row in times])
    times[:, 4:] *= 3
    assert np.median([scatter.weighed(sizes, row) for row in times]) <= plain * 1.2
    rows = noisy(rng, 50, 0.01)
    plain = np.median([scatter.weighed(SIZES, row) for row in rows])
    rows[:, 13] *= 3
    assert np.median([scatter.weighed(SIZES, row) for row in rows]) <= plain * 1.6


def test_a_line_is_the_one_of_least_huber_cost_with_nothing_negative() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        times = (rng.uniform(0, 1e-6) + SIZES / 1e9) * np.exp(0.05 * rng.standard_normal(SIZES.size))
        times[rng.integers(SIZES.size)] *= 3
        times = np.maximum(times, 1e-9)

        def cost(law: Array, times: Array = times) -> float:
            off = np.abs(1 - (abs(law[0]) * 1e-6 + abs(law[1]) * 1e-9 * SIZES) / times) / 0.05
            whole: Array = np.where(off < HUBER, off**2, HUBER * (2 * off - HUBER))
            return float(whole.sum())

        best = min(
            scipy.optimize.minimize(cost, guess, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9}).fun
            for guess in ((0.5, 1.0), (0.01, 1.1))
        )
        found = lines(SIZES, times[None, :], np.ones((1, SIZES.size)), 0.05)
        assert found.start[0] >= 0
        assert found.per_byte[0] >= 0
        assert cost(np.array([1e6 * found.start[0], 1e9 * found.per_byte[0]])) <= best * 1.002


def test_the_partition_is_the_cheapest_of_all() -> None:
    sizes = SIZES[:13]
    times = noisy(np.random.default_rng(3), 1, 0.03)[0, :13]
    times[6:] *= 1.15
    off = 0.03

    def cost(cut: list[int]) -> float:
        law = pieces.refit(sizes, times[None, :], cut, off)
        return float(law.cost.sum()) + 4 * math.log(13) * (len(cut) - 2)

    whole = [[0, 13]] + [[0, at, 13] for at in range(4, 10)] + [[0, a, b, 13] for a in (4, 5) for b in (8, 9)]
    every = [cut for cut in whole if all(end - begin >= 4 for begin, end in pairwise(cut))]
    assert pieces.edges(sizes, times, off) == min(every, key=cost)


def test_a_law_that_does_not_grow_has_no_end_of_its_rate() -> None:
    flat, steep = (Lines(np.array([[1e-6]]), np.array([[cost]]), np.zeros(1)) for cost in (0.0, 1e-9))
    assert figures.rate(flat).tolist() == [math.inf]
    assert figures.rate(steep) == pytest.approx([1e9])


def test_a_mere_bend_is_no_step() -> None:
    times = np.where(SIZES < 3000, 1e-6 + SIZES / 1e8, 1e-6 + 3000 / 1e8 + (SIZES - 3000) / 1e9)
    cut, law = fitted(SIZES, times)
    assert len(cut) == 3
    assert figures.steps(SIZES, cut, law)[0, 0] == pytest.approx(1.0)


def test_sizes_of_a_curve_are_those_of_its_law() -> None:
    """T = 10 us + s / 1 GB/s: half of the rate at 10 kB, d ln T / d ln s = .95 at s = 190 kB."""
    sizes = np.geomspace(1, 2**22, 89)
    times = (1e-5 + sizes / 1e9)[None, :]
    assert figures.half_size_measured(sizes, times)[0] == pytest.approx(1e4, rel=0.01)
    assert figures.saturation(sizes, times)[0] == pytest.approx(1.9e5, rel=0.2)
    assert np.isinf(figures.saturation(sizes[:40], times[:, :40])[0])


def test_a_size_that_was_measured_twice_has_the_mean_of_its_times_and_hides_no_saturation() -> None:
    """NetPIPE's offsets meet: 4 - 3 is 1. There no difference of logarithms is divided by nothing."""
    sizes = np.geomspace(1, 2**22, 89)
    times = (1e-5 + sizes / 1e9)[None, :]
    twice, both = np.repeat(sizes, 2), np.repeat(times, 2, axis=1) * np.tile((1.01, 1 / 1.01), sizes.size)
    assert figures.saturation(twice, both) == pytest.approx(figures.saturation(sizes, times))
    assert np.isinf(figures.saturation(np.array([8.0, 8.0, 16.0, 16.0]), np.ones((1, 4)))[0])


def test_the_rates_of_the_published_networks_are_those_that_were_read_from_them() -> None:
    """About 3.4 GB/s, only about 118 MB/s, more than 28 times."""
    infiniband, ethernet = start_and_rate(IB_WINDOW)[1], start_and_rate(GBE_WINDOW)[1]
    assert infiniband == pytest.approx(3.4e9, rel=0.025)
    assert ethernet == pytest.approx(118e6, rel=0.01)
    assert 28 <= infiniband / ethernet < 30
    assert start_and_rate(IB)[1] == pytest.approx(3.4e9, rel=0.01)


def test_the_latencies_of_the_published_networks_are_those_that_were_read_from_them() -> None:
    """1.6 us of InfiniBand, 0.6 us more from the far socket, 25 us of Ethernet."""
    assert start_and_rate(IB)[0] == pytest.approx(1.6e-6, rel=0.01)
    far = start_and_rate(IB_FAR)[0] - start_and_rate(IB_NEAR)[0]
    assert far == pytest.approx(0.6e-6, rel=0.2)
    assert start_and_rate(GBE)[0] == pytest.approx(25.5e-6, rel=0.01)


def test_the_switches_of_the_published_curves_are_found() -> None:
    (ethernet,) = [each for each in breaks(GBE) if each[0] <= 2048 <= each[1]]
    sizes, times = GBE
    cut, law = fitted(sizes, times)
    step = figures.steps(sizes, cut, law)[0, cut.index(int(np.searchsorted(sizes, ethernet[1]))) - 1]
    assert step > 2
    for table in (IB, IB_NEAR, IB_FAR):
        assert (64, 128) in breaks(table)


def test_rows_of_draws_are_fitted_as_each_alone() -> None:
    sizes, times = IB
    off = scatter.weighed(sizes, times)
    cut = pieces.edges(sizes, times, off)
    rows = times * np.exp(0.02 * np.random.default_rng(4).standard_normal((5, times.size)))
    together = pieces.refit(sizes, rows, cut, off)
    for at, row in enumerate(rows):
        alone = pieces.refit(sizes, row[None, :], cut, off)
        assert together.start[at] == pytest.approx(alone.start[0])
        assert together.per_byte[at] == pytest.approx(alone.per_byte[0])
    assert pieces.fitted(sizes, cut, together).shape == rows.shape
