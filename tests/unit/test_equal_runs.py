"""Equal runs carry few claims, and plain differences are called: by simulation, the whole way of a comparison."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from tests.equal_runs import Figures, Setting, called, claims, equal, equal_levels


@pytest.fixture(scope="module")
def figures() -> Figures:
    return Figures()


def test_few_equal_runs_carry_a_claim_and_hardly_any_one_beyond_5_percent(
    figures: Figures, repeats: Callable[[int, int], int]
) -> None:
    """Of all kinds: variation between runs, correlation, tails, disturbed launches, history, 1 to 268 figures."""
    pairs = repeats(30, 1000)
    found = [claimed for _, claimed in equal(figures, pairs)]
    assert sum(any_claim for any_claim, _ in found) / pairs <= 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / pairs) * (
        pairs < 1000
    )
    assert sum(beyond for _, beyond in found) / pairs <= 0.01


def test_few_equal_levels_of_a_run_carry_a_claim(figures: Figures, repeats: Callable[[int, int], int]) -> None:
    pairs = repeats(60, 1000)
    assert sum(claimed for _, (claimed, _) in equal_levels(figures, pairs)) / pairs <= 0.05


@pytest.mark.parametrize("blocks", [False, True], ids=["two runs of 6 launches", "levels in 6 blocks"])
def test_disjoint_intervals_with_a_factor_of_a_tenth_are_called(
    figures: Figures, repeats: Callable[[int, int], int], *, blocks: bool
) -> None:
    sure, plain = called(figures, repeats(15, 1000), blocks=blocks)
    assert plain > 0
    assert sure / plain >= 0.99


def test_an_eighth_of_many_figures_at_half_is_called_always(
    figures: Figures, repeats: Callable[[int, int], int]
) -> None:
    rng = np.random.default_rng(5)
    setting = Setting(268, noise=0.02, between=0.005, together=0.5)
    for _ in range(repeats(3, 100)):
        a, b = setting.drawn(rng), setting.drawn(rng)
        a[:, :33] -= math.log(2)
        found = figures.of_runs(a, b, ())
        assert all(each.is_claim for each in found[:33])
        assert not any(each.is_claim for each in found[33:])


def test_the_plain_exchange_of_launches_would_call_equal_runs_different(figures: Figures) -> None:
    """What the effects of runs are for: by launches alone, most equal runs of forty figures differ."""
    rng = np.random.default_rng(6)
    setting = Setting(40, noise=0.005, between=0.02, together=0.0)
    pairs = [(setting.drawn(rng), setting.drawn(rng)) for _ in range(5)]
    intervals = [figures.of_levels(a, b) for a, b in pairs]  # paired by launch, as if in blocks: no effect of runs
    assert all(claims(found)[0] for found in intervals)
    assert not any(claims(figures.of_runs(a, b, ()))[0] for a, b in pairs)
