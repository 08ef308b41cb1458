"""Estimates by ranks and the resolution of A against A, against scipy and brute force."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import scipy
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.analyse.comparisons.ranks import mann_whitney_masses, null_effects, shift
from assay.analyse.statistics import hodges_lehmann, verdict
from assay.model.plan import Measure, Study
from assay.plan import Options


@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 3), (4, 4), (5, 3)])
def test_the_law_of_u_is_that_of_all_arrangements(m: int, n: int) -> None:
    values = list(itertools.combinations(range(m + n), m))
    sums = [sum(places) - m * (m - 1) // 2 for places in values]
    counted = np.bincount(sums, minlength=m * n + 1) / len(values)
    assert mann_whitney_masses(m, n) == pytest.approx(counted, abs=1e-15)


@pytest.mark.parametrize(("m", "n"), [(4, 4), (6, 6), (6, 10), (12, 5)])
def test_the_unpaired_interval_excludes_0_when_scipys_rank_test_does(m: int, n: int) -> None:
    rng = np.random.default_rng(m * n)
    for _ in range(50):
        a, b = rng.normal(0.8, 1, m), rng.normal(0, 1, n)
        interval = shift(a, b)
        p = scipy.stats.mannwhitneyu(a, b, method="exact").pvalue
        assert (p <= 0.05) == (not interval.lo <= 0 <= interval.hi)


@pytest.mark.parametrize(("m", "n"), [(4, 4), (6, 6), (10, 6)])
def test_the_unpaired_interval_covers_the_shift_as_often_as_it_says(m: int, n: int) -> None:
    rng = np.random.default_rng(m)
    draws = 2000
    covered = 0
    for _ in range(draws):
        interval = shift(rng.gumbel(0.5, 1, m), rng.gumbel(0, 1, n))
        covered += interval.lo <= 0.5 <= interval.hi
    assert covered / draws >= 0.945


def test_three_launches_have_a_range() -> None:
    interval = shift([1, 2, 3], [0, 0, 0, 0])
    assert (interval.value, interval.lo, interval.hi, interval.confidence) == (2, 1, 3, None)


def test_one_pair_has_no_interval_and_its_ends_are_the_ratio_itself() -> None:
    for interval in (hodges_lehmann([0.3]), shift([0.7], [0.4])):
        assert interval.lo == interval.value == interval.hi == pytest.approx(0.3)
        assert interval.confidence is None


def test_the_comparison_of_one_block_says_that_it_is_one_pair(tmp_path: Path) -> None:
    study = Study("t", "q?", (Measure("stream", ("one-core",), axes={"stores": ("ordinary", "non-temporal")}),))
    found = analyse(store.load(simulated_run(tmp_path, study=study, options=Options(launches=1)))).comparisons
    assert found
    for each in found:
        assert each.lo == each.ratio == each.hi
        assert (each.blocks, each.launches, each.confidence, each.p, each.detectable) == (
            1,
            (1, 1),
            None,
            None,
            None,
        )
        assert each.verdict == "inconclusive"


def test_effects_of_a_against_a_are_those_of_every_sign() -> None:
    differences = [0.01, -0.004, 0.02, 0.003, -0.008, 0.001]
    expected = sorted(
        abs(hodges_lehmann([sign * value for sign, value in zip(signs, differences, strict=True)]).value)
        for signs in itertools.product((1, -1), repeat=6)
    )
    assert null_effects(differences) == pytest.approx(expected)


def test_the_resolution_bounds_new_effects_of_nothing_in_19_of_20() -> None:
    rng = np.random.default_rng(9)
    inside = 0
    for _ in range(400):
        effects = null_effects(rng.normal(0, 0.01, 8))
        floor = effects[math.ceil(0.95 * effects.size) - 1]
        inside += abs(hodges_lehmann(rng.normal(0, 0.01, 8)).value) <= floor
    assert 0.88 <= inside / 400 <= 0.97


@pytest.mark.parametrize(
    ("lo", "hi", "floor", "expected"),
    [
        (1.02, 1.05, 0.0, "faster"),
        (1.02, 1.05, 0.03, "inconclusive"),
        (0.90, 0.95, 0.03, "slower"),
        (1.002, 1.006, 0.0, "trivially different"),
        (1.002, 1.006, 0.004, "equivalent"),
        (0.95, 1.05, 0.20, "inconclusive"),
    ],
)
def test_no_claim_is_smaller_than_the_floor_and_noise_makes_nothing_equivalent(
    lo: float, hi: float, floor: float, expected: str
) -> None:
    assert verdict(lo, hi, 0.95, floor) == expected
    assert verdict(lo, hi, None, floor) == "inconclusive"


def test_problems_and_their_sizes_are_no_alternatives(tmp_path: Path) -> None:
    study = Study(
        "Kernels",
        "How fast?",
        (
            Measure(
                "nas",
                ("all",),
                axes={"npb": ("cg", "ep"), "npb-class": ("S", "A"), "coupling": ("sharing", "independent")},
            ),
            Measure("himeno", ("all",), axes={"size": ("XS", "S"), "touch": ("parallel", "serial")}),
        ),
        launches=3,
    )
    compared = analyse(store.load(simulated_run(tmp_path, study=study))).comparisons
    assert {each.differ for each in compared} == {"coupling", "touch"}
    assert len(compared) >= 6  # each problem in each size, and each size of a grid
