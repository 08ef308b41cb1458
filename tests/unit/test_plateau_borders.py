"""Plateaus of curves: the cheapest partition, found by trying all, and the border of each decision."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analyse.plateaus import CachePlateaus, Plateau, partition, plateaus
from assay.model.quantity import Quantity

#: docs: points of a plateau scatter by 4 %, a point counts for 9 at most, a plateau costs 4 ln n, a point between
#: two plateaus 7; three points make a plateau.
SCATTER, MOST, PLATEAU, BETWEEN, FEWEST = 0.04, 9, 4, 7, 3
STEP = math.log(1.15)


def partitions(begin: int, end: int, fewest: int = FEWEST) -> Iterator[list[tuple[int, int]]]:
    """Yield every way to lay plateaus over points."""
    if begin >= end:
        yield []
        return
    yield from partitions(begin + 1, end, fewest)
    for stop in range(begin + fewest, end + 1):
        for others in partitions(stop, end, fewest):
            yield [(begin, stop), *others]


def cost(values: Sequence[float], parts: Sequence[tuple[int, int]], scatter: float = SCATTER) -> float:
    """Return the cost of a partition, by its definition."""
    total = 0.0
    for begin, end in parts:
        middle = float(np.median(values[begin:end]))
        total += sum(min(((value - middle) / scatter) ** 2, MOST) for value in values[begin:end])
        total += PLATEAU * math.log(len(values))
    return total + BETWEEN * (len(values) - sum(end - begin for begin, end in parts))


@given(st.lists(st.integers(0, 12), min_size=1, max_size=8), st.sampled_from([1.0, 2.0]))
def test_the_partition_is_the_cheapest_of_all(steps: list[int], scale: float) -> None:
    values = [0.02 * scale * each for each in steps]
    least = min(cost(values, parts) for parts in partitions(0, len(values)))
    found = partition(np.array(values))
    assert cost(values, found) == pytest.approx(least)


@pytest.mark.parametrize("seed", range(8))
def test_so_is_that_of_another_scatter_and_of_other_fewest_points(seed: int) -> None:
    values = np.random.default_rng(seed).normal(0, 0.1, 8).tolist()
    ways = list(partitions(0, 8, 2))
    least = min(ways, key=lambda parts: cost(values, parts, 0.02))
    assert partition(np.array(values), 0.02, 2) == least


@pytest.mark.parametrize(("beyond", "between"), [(2.98, False), (3.02, False), (2.6, False)])
def test_a_point_far_from_its_plateau_counts_for_nine_and_stays(beyond: float, *, between: bool) -> None:
    values = [0.0] * 4 + [beyond * SCATTER] + [0.0] * 4
    assert (len(partition(np.array(values))) > 1) == between


def stairs(*levels: float, points: int = 9, apart: float = 1 / 8) -> tuple[np.ndarray, np.ndarray]:
    """Return the values and octaves of level parts with so many points each."""
    values = np.repeat(np.array(levels), points)
    return values, 10 + apart * np.arange(values.size)


@pytest.mark.parametrize(
    ("second", "found"),
    [(1.14, [(0, 18)]), (1.15, [(0, 18)]), (1.16, [(0, 9), (9, 18)]), (0.5, [(0, 18)])],
)
def test_a_plateau_is_more_than_15_percent_above_the_one_before(
    second: float, found: list[tuple[int, int]]
) -> None:
    assert plateaus(*stairs(0.0, math.log(second))) == found


def test_what_joins_a_plateau_counts_for_its_median() -> None:
    step = 0.95 * STEP  # the third is more than a step above the median of the first two, and of the second less
    assert plateaus(*stairs(0.0, step, 2 * step)) == [(0, 18), (18, 27)]


def test_a_part_joins_the_last_plateau_only() -> None:
    assert plateaus(*stairs(0.0, 1.0, 2.0, 2.1)) == [(0, 9), (9, 18), (18, 36)]


@pytest.mark.parametrize(("apart", "found"), [(0.125, [(0, 5), (5, 10)]), (0.124, [])])
def test_a_plateau_spans_half_an_octave(apart: float, found: list[tuple[int, int]]) -> None:
    assert plateaus(*stairs(0.0, 1.0, points=5, apart=apart)) == found


@pytest.mark.parametrize(
    ("points", "rise", "is_level"),
    [
        (9, 1.14, True),  # an octave
        (9, 1.16, False),
        (8, 1.08, True),  # less than an octave
        (8, 1.10, False),
    ],
)
def test_a_part_that_rises_is_no_plateau(points: int, rise: float, *, is_level: bool) -> None:
    slope, flat = np.linspace(0, math.log(rise), points), np.full(points, 5.0)
    octaves = 20 + np.arange(2 * points) / 8
    last = (points, 2 * points)
    assert plateaus(np.concatenate((slope, flat)), octaves) == ([(0, points), last] if is_level else [last])


def test_a_rise_of_just_15_percent_is_level() -> None:
    values = np.array([0.0, STEP / 2, STEP, 5.0, 5.0, 5.0])
    assert plateaus(values, np.arange(6) / 2) == [(0, 3), (3, 6)]


def test_a_slope_between_two_plateaus_belongs_to_none_but_the_last_part_may_rise() -> None:
    slope = 2 + np.linspace(0, math.log(1.17), 9)
    values = np.concatenate((np.zeros(9), slope, np.full(9, 5.0)))
    octaves = np.arange(27) / 8
    assert plateaus(values, octaves) == [(0, 9), (18, 27)]
    assert plateaus(values[:18], octaves[:18]) == [(0, 9), (9, 18)]


def test_the_headline_is_the_rate_of_the_first_plateau() -> None:
    first, second = (Quantity(value, value, value, "B/s", "range") for value in (9e9, 5e9))
    model = CachePlateaus(id="m", of=("a",), offset=0, plateaus=(Plateau(first, None), Plateau(second, None)))
    assert model.headline == first
