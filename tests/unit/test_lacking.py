"""What an inconclusive comparison lacks: the number that it names decides, and one less does not."""

import math

import numpy as np
import pytest
import scipy
from tests.equal_runs import Figures, Samples

from assay.analyse.history import FEWEST_RUNS


@pytest.fixture(scope="module")
def figures() -> Figures:
    return Figures()


def centred(count: int, deviation: float) -> Samples:
    """Values of a normal shape with mean 0 and exactly this standard deviation."""
    values = scipy.stats.norm.ppf((np.arange(count) + 0.5) / count)
    found: Samples = deviation * (values - values.mean()) / values.std(ddof=1)
    return found


@pytest.mark.parametrize(("effect", "made"), [(0.03, 6), (0.04, 6), (0.5, 3), (3.58, 4), (0.06, 5)])
def test_as_many_more_blocks_decide_as_are_named(figures: Figures, effect: float, made: int) -> None:
    deviation = 0.03

    def judged(blocks: int) -> tuple[str, int | None]:
        values = (effect + centred(blocks, deviation))[:, None]
        (found,) = figures.of_levels(values, np.zeros_like(values))
        return found.verdict, found.lack.more if found.lack else None

    verdict, more = judged(made)
    assert verdict == "inconclusive"
    assert more
    enough = made + more
    assert judged(enough + 1)[0] == "faster"  # rank intervals are a step wider or narrower than Student's
    assert judged(max(made, enough - 3))[0] == "inconclusive" or enough <= 6 + 3


def test_no_number_of_launches_decides_what_the_effects_of_runs_can_make(figures: Figures) -> None:
    """3 % between two runs without history: more launches cannot help, earlier runs can."""
    launches = centred(6, 0.002)[:, None]
    (found,) = figures.of_runs(launches + 0.03, launches, ())
    assert found.lack
    assert (found.lack.more, found.lack.runs) == (None, FEWEST_RUNS)
    (plain,) = figures.of_runs(launches + 0.3, launches, ())
    assert (plain.verdict, plain.lack) == ("faster", None)


def test_a_figure_among_many_names_chance_and_a_noisy_one_the_margin(figures: Figures) -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(0, 0.04, (6, 40))
    values[:, 0] = 0.04 + centred(6, 0.015)
    found = figures.of_levels(values, np.zeros_like(values))[0]
    assert found.lack
    assert found.lack.why == ("among",)
    assert found.among == 40
    assert found.lo > 1.01
    noisy = figures.of_levels((0.01 + centred(6, 0.05))[:, None], np.zeros((6, 1)))[0]
    assert noisy.lack
    assert set(noisy.lack.why) == {"among", "margin"}
    assert math.isclose(noisy.margin, 0.01)
