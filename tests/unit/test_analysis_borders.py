"""Borders of the analysis on both sides: outliers, two modes, two states, ends of draws, shares of cpus."""

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from assay.analyse import states
from assay.analyse.curves import between, ends, with_ends
from assay.analyse.modes import two_modes
from assay.analyse.outliers import common_end, first_few, slow
from assay.launch.command import CpuTimes
from assay.model.bracket import Bracket, Handover
from assay.model.law import Point
from assay.model.quantity import Quantity
from assay.run.quiet import shares
from assay.topics.kernels.sizes import passed


def _points(values: Sequence[float], width: float = 0.0) -> list[Point]:
    found = [Quantity(value, value - width, value + width, "s", "range") for value in values]
    return [Point(f"p{number}", {"a": 0, "b": number}, each, None) for number, each in enumerate(found, 1)]


@pytest.mark.parametrize(("last", "named"), [(1.099, False), (1.101, True)])
def test_an_outlier_is_ten_percent_slower_where_the_others_are_equal(last: float, *, named: bool) -> None:
    assert [point.estimate for point in slow(_points((1, 1, 1, 1, 1, last)), "lower")] == ["p6"] * named
    assert [point.estimate for point in slow(_points((1, 1, 1, 1, 1, 2 - last)), "higher")] == ["p6"] * named


@pytest.mark.parametrize(("last", "named"), [(1.29, False), (1.31, True)])
def test_an_outlier_is_six_median_deviations_slower(last: float, *, named: bool) -> None:
    """Their median is 1, and the deviations 0 0 .05 .05 .05 .05 and the last one have .05 as their median."""
    points = _points((0.95, 0.95, 1, 1, 1.05, 1.05, last))
    assert [point.estimate for point in slow(points, "lower")] == ["p7"] * named


def test_the_whole_interval_of_an_outlier_is_beyond() -> None:
    assert [point.estimate for point in slow(_points((1, 1, 1, 1, 1, 1.2), 0.09), "lower")] == ["p6"]
    assert not slow(_points((1, 1, 1, 1, 1, 1.2), 0.11), "lower")


def test_pairs_have_a_common_end_if_all_share_it_and_there_are_several() -> None:
    assert common_end(_points((1, 1, 1))) == 0
    assert common_end(_points((1,))) is None
    other = Point("q", {"a": 7, "b": 8}, _points((1,))[0].value, None)
    assert common_end([*_points((1, 1)), other]) is None


def test_three_names_are_shown_and_the_others_counted() -> None:
    assert str(first_few(["a", "b", "c"])) == "a, b, c"
    assert str(first_few(["a", "b", "c", "d", "e"])).endswith("2 more")


@pytest.mark.parametrize(("gap", "two"), [(1.019, False), (1.021, True)])
def test_modes_are_two_percent_apart(gap: float, *, two: bool) -> None:
    samples = np.concatenate((np.full(100, 1.0), np.full(100, gap)))
    assert two_modes(samples) == ((1.0, gap) if two else ())


@pytest.mark.parametrize(("smaller", "two"), [(19, False), (20, True)])
def test_the_smaller_mode_holds_a_tenth(smaller: int, *, two: bool) -> None:
    samples = np.concatenate((np.linspace(1, 1.001, 200 - smaller), np.linspace(2, 2.001, smaller)))
    assert bool(two_modes(samples)) == two


@pytest.mark.parametrize(("count", "two"), [(29, False), (30, True)])
def test_fewer_than_thirty_samples_have_one_mode(count: int, *, two: bool) -> None:
    half = count // 2
    assert bool(two_modes(np.concatenate((np.full(half, 1.0), np.full(count - half, 1.5))))) == two
    assert two_modes(np.concatenate(([0.0], np.full(40, 1.0), np.full(40, 1.5)))) == ()


def _run(medians: Sequence[float]) -> SimpleNamespace:
    """A run with two equal probes around each launch."""
    launches = []
    for seconds in medians:
        probe = Handover((0, 1), 1, [seconds])
        bracket = Bracket(probe, probe, 1, 0, 0, 0, 0)
        launches.append(SimpleNamespace(launch=SimpleNamespace(bracket=bracket)))
    return SimpleNamespace(launches=launches)


@pytest.mark.parametrize(
    ("medians", "split"),
    [
        ((10, 10, 14.9, 14.9), False),
        ((10, 10, 15.1, 15.1), True),
        ((10, 10, 10, 15.1), False),  # one launch is chance
        ((10, 15.1, 15.1, 15.1), False),
        ((10, 11, 20, 21), True),
    ],
)
def test_two_states_are_half_apart_and_hold_two_launches_each(medians: Sequence[float], *, split: bool) -> None:
    border = states.border(_run(medians))  # type: ignore[arg-type]
    assert (border is not None) == split
    if border:
        assert border == pytest.approx((medians[1] * medians[2]) ** 0.5)
        brackets = [each.launch.bracket for each in _run(medians).launches]
        assert [states.state(each, border) for each in brackets] == ["near", "near", "far", "far"]


def test_ends_of_draws_are_their_quantiles_and_of_launches_their_range() -> None:
    draws = np.arange(1001.0)
    assert ends(draws, "interval") == pytest.approx((25, 975))
    assert ends(draws, "range") == (0, 1000)
    assert with_ends(500, draws, "interval", "s").parts == pytest.approx((500, 25, 975))
    assert between(4, 16).parts == (8, 4, 16)


@pytest.mark.parametrize(
    ("busy", "own", "steal", "expected"),
    [
        (0.02, 0.0, 0.0, (0.0, 0.0)),  # one tick of 10 ms for each of two cpus is their rounding
        (0.22, 0.0, 0.0, (0.0, 0.1)),  # .2 of 2 s
        (0.22, 0.2, 0.0, (0.0, 0.0)),
        (0.0, 0.0, 0.5, (0.25, 0.0)),
        (9.0, 0.0, 9.0, (1.0, 1.0)),
        (-1.0, 0.0, -1.0, (0.0, 0.0)),  # counters that went back
    ],
)
def test_shares_of_the_cpus_are_what_others_certainly_took(
    busy: float, own: float, steal: float, expected: tuple[float, float]
) -> None:
    before = CpuTimes(100.0, 10.0, 50.0, 2, 0.0)
    after = CpuTimes(100.0 + busy, 10.0 + steal, 50.0 + own, 2, 0.0)
    assert shares(before, after, 1.0) == pytest.approx(expected)
    assert shares(before, after, 0.0) == (0.0, 0.0)


def test_a_box_of_mg_passes_layers_with_their_borders_on_each_grid() -> None:
    """Two ranks halve 32^3 along z: on 32, 16, 8 and 4 points a side a layer has (side + 2)^2 numbers."""
    wanted = [(6 * 4, 8 * (side + 2) ** 2) for side in (32, 16, 8, 4)]
    assert [tuple(each) for each in passed("mg", "S", 2) or ()] == wanted
