"""Families of comparisons: step-down maximum of a moderated t, against brute force, scipy and simulation."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy

from assay.analyse.comparisons.families import PRIOR_FREEDOM, RunEffects, moderated, of_blocks, of_runs, prior_of

Samples = np.ndarray


def t_of(differences: Samples, measured: Samples | None = None) -> Samples:
    """The moderated t of each column, by its definition; the prior is that of the differences as measured."""
    count, free = len(differences), len(differences) - 1
    prior = np.median((differences if measured is None else measured).var(axis=0, ddof=1))
    variance = (PRIOR_FREEDOM * prior + free * differences.var(axis=0, ddof=1)) / (PRIOR_FREEDOM + free)
    found: Samples = np.abs(differences.mean(axis=0)) / np.sqrt(variance / count)
    return found


def stepped_down(observed: Samples, drawn: list[Samples]) -> Samples:
    """Algorithm 4.1 of Westfall and Young, figure by figure."""
    order = np.argsort(-observed)
    adjusted, before = np.zeros(observed.size), 0.0
    for at, figure in enumerate(order):
        left = order[at:]
        reached = [max(each[left]) >= observed[figure] - 1e-9 for each in drawn]
        before = max(before, float(np.mean(reached)))
        adjusted[figure] = before
    return adjusted


def no_effect(figures: int) -> RunEffects:
    """Runs that add nothing to their launches."""
    return RunEffects(np.zeros(figures), np.full(figures, math.inf), np.zeros(figures), 0.0)


@pytest.mark.parametrize("figures", [1, 2, 5])
def test_blocks_are_tested_as_by_brute_force(figures: int) -> None:
    rng = np.random.default_rng(figures)
    for _ in range(20):
        differences = rng.normal(0.5 * rng.integers(0, 3, figures), 1, (6, figures))
        every = [np.array(signs)[:, None] for signs in itertools.product((1, -1), repeat=6)]
        flips = [t_of(differences * signs, differences) for signs in every]
        found = of_blocks(differences)
        assert found.adjusted == pytest.approx(stepped_down(t_of(differences), flips))
        assert found.single == pytest.approx(np.mean([each >= t_of(differences) - 1e-9 for each in flips], axis=0))


def test_the_p_of_one_figure_is_scipys() -> None:
    """A single figure has its own variance: the statistic is Student's t."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        differences = rng.normal(0.6, 1, 8)
        (p,) = of_blocks(differences[:, None]).single
        theirs = scipy.stats.permutation_test(
            (differences,),
            lambda x, axis: np.abs(scipy.stats.ttest_1samp(x, 0, axis=axis).statistic),
            permutation_type="samples",
            alternative="greater",
            n_resamples=math.inf,
        )
        assert p == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("figures", [1, 3])
def test_runs_without_effects_are_tested_as_by_brute_force(figures: int) -> None:
    rng = np.random.default_rng(figures)
    both = np.concatenate([rng.normal(1.2, 1, (4, figures)), rng.normal(0, 1, (5, figures))])

    def t_of_labels(chosen: tuple[int, ...]) -> Samples:
        rest = [at for at in range(9) if at not in chosen]
        a, b = both[list(chosen)], both[rest]
        within = ((a - a.mean(axis=0)) ** 2).sum(axis=0) + ((b - b.mean(axis=0)) ** 2).sum(axis=0)
        variance = (PRIOR_FREEDOM * prior + within) / (PRIOR_FREEDOM + 7)
        found: Samples = np.abs(a.mean(axis=0) - b.mean(axis=0)) / np.sqrt(variance * (1 / 4 + 1 / 5))
        return found

    apart = np.concatenate([both[:4] - both[:4].mean(axis=0), both[4:] - both[4:].mean(axis=0)])
    prior = float(np.median((apart**2).sum(axis=0) / 7))
    observed = t_of_labels((0, 1, 2, 3))
    drawn = [t_of_labels(chosen) for chosen in itertools.combinations(range(9), 4)]
    found = of_runs(both[:4], both[4:], no_effect(figures))
    assert found.adjusted == pytest.approx(
        stepped_down(observed, drawn), abs=1e-3
    )  # the observed one counts twice
    if figures == 1:
        theirs = scipy.stats.permutation_test(
            (both[:4, 0], both[4:, 0]),
            lambda x, y, axis: np.abs(scipy.stats.ttest_ind(x, y, axis=axis).statistic),
            alternative="greater",
            n_resamples=math.inf,
        )
        assert found.single[0] == pytest.approx(theirs.pvalue, abs=1e-3)


def test_runs_whose_launches_agree_differ_by_the_law_of_their_effects() -> None:
    """With steady launches, p is that of the normal law of two runs; with an estimated variance, of Student's."""
    steady = np.zeros((6, 1)) + 1e-9 * np.arange(6)[:, None]
    for z in (1.0, 1.96, 2.5):
        shifted = steady + z * math.sqrt(2) * 0.02
        effects = RunEffects(np.array([2 * 0.02**2]), np.array([math.inf]), np.zeros(1), 0.0)
        assert of_runs(shifted, steady, effects).single[0] == pytest.approx(2 * scipy.stats.norm.sf(z), abs=0.012)
        few = effects._replace(freedom=np.array([4.0]))
        assert of_runs(shifted, steady, few).single[0] == pytest.approx(2 * scipy.stats.t.sf(z, 4), abs=0.012)


def test_moderated_variances_are_drawn_to_their_median() -> None:
    variances = np.array([1.0, 2.0, 9.0])
    assert moderated(variances, np.array([5, 5, 5]), prior_of(variances)) == pytest.approx(
        [(4 * 2 + 5 * own) / 9 for own in (1.0, 2.0, 9.0)]
    )


def test_missing_blocks_and_launches_are_left_out() -> None:
    rng = np.random.default_rng(4)
    differences = rng.normal(0.5, 1, (8, 3))
    differences[6:, 1] = math.nan
    found = of_blocks(differences)
    assert np.isfinite(found.adjusted).all()
    alone = of_blocks(differences[:6, 1:2])
    assert of_blocks(differences[:, 1:2]).single == pytest.approx(alone.single)
    a, b = rng.normal(1, 1, (6, 3)), rng.normal(0, 1, (6, 3))
    a[5, 0] = b[4:, 2] = math.nan
    assert np.isfinite(of_runs(a, b, no_effect(3)).adjusted).all()


def test_p_of_a_family_is_no_smaller_than_that_of_its_figures_and_follows_their_order() -> None:
    rng = np.random.default_rng(6)
    differences = rng.normal(rng.uniform(0, 1, 40), 1, (7, 40))
    found = of_blocks(differences)
    assert (found.adjusted >= found.single - 1e-12).all()
    rising = found.adjusted[np.argsort(-t_of(differences))]
    assert (np.diff(rising) >= 0).all()


def test_figures_that_move_together_count_as_one() -> None:
    """The same figure forty times has the p of a single one: dependence is kept, not assumed."""
    values = np.random.default_rng(7).normal(0.8, 1, (6, 1))
    assert of_blocks(np.repeat(values, 40, axis=1)).adjusted == pytest.approx(of_blocks(values).single[0])


def test_six_blocks_call_a_large_factor_among_forty_figures_always_and_ten_percent_in_94_of_100(
    repeats: Callable[[int, int], int],
) -> None:
    runs, large, small = repeats(60, 1000), 0, 0
    rng = np.random.default_rng(8)
    for _ in range(runs):
        noise = rng.normal(0, 0.02, (6, 40))
        for effect in (math.log(35.9), math.log(1.1)):
            moved = noise.copy()
            moved[:, 0] += effect
            called = of_blocks(moved).adjusted[0] <= 0.05
            large += called and effect > 1
            small += called and effect < 1
    assert large == runs
    assert small / runs >= 0.94


@pytest.mark.parametrize("share", [0.25, 0.6, 0.9])
@pytest.mark.parametrize("kind", ["blocks", "runs", "runs with history"])
def test_equal_figures_beside_others_that_differ_carry_a_claim_in_one_of_twenty(
    share: float, kind: str, repeats: Callable[[int, int], int]
) -> None:
    """The error holds whatever part of the family truly differs: strong control."""
    runs, rng, false, figures = repeats(60, 1000), np.random.default_rng(10), 0, 40
    differ = int(share * figures)
    effects = RunEffects(np.full(figures, 2 * 0.01**2), np.full(figures, 4.0), np.zeros(figures), 0.0)
    for _ in range(runs):
        a, b = rng.normal(0, 0.05, (2, 6, figures))
        a[:, :differ] += 0.7
        if kind == "blocks":
            found = of_blocks(a - b)
        elif kind == "runs":
            found = of_runs(a, b, no_effect(figures))
        else:
            found = of_runs(a + rng.normal(0, 0.01, figures), b + rng.normal(0, 0.01, figures), effects)
        false += (found.adjusted[differ:] <= 0.05).any()
        assert (found.adjusted[:differ] <= 0.05).all()
    assert false / runs <= 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / runs)


def test_equal_blocks_carry_a_claim_in_one_of_twenty(repeats: Callable[[int, int], int]) -> None:
    """Over the family, however the figures hang together and whatever their law is."""
    runs = repeats(100, 1000)
    laws: dict[str, Callable[[np.random.Generator, tuple[int, int]], Samples]] = {
        "normal": lambda rng, shape: rng.standard_normal(shape),
        "heavy": lambda rng, shape: rng.standard_t(3, shape),
        "together": lambda rng, shape: rng.standard_normal((shape[0], 1)) + 0.3 * rng.standard_normal(shape),
    }
    for law, draw in laws.items():
        rng = np.random.default_rng(9)
        false = sum((of_blocks(draw(rng, (6, 40))).adjusted <= 0.05).any() for _ in range(runs))
        assert false / runs <= 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / runs), law
