"""The levels of latency on curves by hand: where they end, what ends them, and from where on memory answers."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.unit.law_evidence import NODES, known, measured, placed

from assay.analyse.estimates import Measured
from assay.model.law import Unfitted
from assay.topics.memory.models import latency_levels
from assay.topics.memory.models.latency_levels import LatencyLevels

KIB, MIB = 2**10, 2**20
#: An eighth of an octave apart, from 4 KiB to 64 MiB.
SIZES = tuple(int(2 ** (12 + step / 8)) for step in range(14 * 8 + 1))
NANO = 1e-9


def curve(
    time: Callable[[int], float | Sequence[float]], sizes: Sequence[int] = SIZES, pages: str = "small"
) -> list[Measured]:
    """The walk of core 0, of times in ns, of one launch or of several."""
    place = placed("one-core", 0)
    found = []
    for size in sizes:
        times = time(size)
        values = [NANO * each for each in (times if isinstance(times, Sequence) else [times] * 6)]
        params: dict[str, Any] = {"bytes": size, "pages": pages, "line": 64, "seed": 1}
        found.append(measured("latency", "chase", "latency", values, place, **params))
    return found


def steps(*levels: tuple[float, float]) -> Callable[[int], float]:
    """Times in ns up to sizes in KiB; the last one goes on."""

    def time(size: int) -> float:
        return next((ns for kib, ns in levels if size <= kib * KIB), levels[-1][1])

    return time


def fitted(*figures: Measured, description: str = NODES) -> LatencyLevels:
    found, *_ = latency_levels.fit(known(figures, description=description))
    assert isinstance(found, LatencyLevels)
    return found


STAIRS = steps((30, 1.0), (800, 4.0), (5000, 14.0), (10**9, 90.0))


def last_at_most(kib: float) -> int:
    return max(size for size in SIZES if size <= kib * KIB)


def first_beyond(kib: float) -> int:
    return min(size for size in SIZES if size > kib * KIB)


def test_levels_end_between_their_last_size_and_the_first_beyond_and_caches_take_the_nearest() -> None:
    model = fitted(*curve(STAIRS))
    assert [each.latency.value for each in model.levels] == pytest.approx([1e-9, 4e-9, 14e-9, 90e-9])
    ends = [each.end for each in model.levels if each.end]
    assert [(each.cause, each.cache_bytes) for each in ends] == [("L1", 32 * KIB), ("L2", MIB), ("L3", 8 * MIB)]
    for end, kib in zip(ends, (30, 800, 5000), strict=True):
        low, high = last_at_most(kib), first_beyond(kib)
        assert tuple(end.size) == pytest.approx(((low * high) ** 0.5, low, high))
        assert end.size.basis == "interval"
    assert [each.answered_by for each in model.levels] == ["L1", "L2", "L3", "memory"]
    assert (model.memory_from, model.last_cache, model.last_cache_bytes) == (first_beyond(5000), "L3", 8 * MIB)
    assert (model.pages, model.huge_twin, model.residual, model.goes_on) == ("small", "", 0.0, False)
    assert model.headline == model.levels[0].latency


def test_points_know_their_level_and_how_far_they_lie_from_it() -> None:
    def time(size: int) -> float:
        between = first_beyond(30) == size
        return 2.0 if between else 1.02 if size == SIZES[3] else STAIRS(size)

    model = fitted(*curve(time))
    levels = [(each.at["bytes"], each.at["level"], each.ratio) for each in model.points]
    wanted = [(size, 1 + (size > 30 * KIB) + (size > 800 * KIB) + (size > 5000 * KIB)) for size in SIZES]
    for (size, level, ratio), (of_size, number) in zip(levels, wanted, strict=True):
        assert size == of_size
        if size == first_beyond(30):
            assert (level, ratio) == (0, None)
        else:
            assert level == number
            assert ratio == pytest.approx(1.02 if size == SIZES[3] else 1.0)
    assert model.residual == pytest.approx(0.02)


@pytest.mark.parametrize(("last", "reached"), [(first_beyond(5000) * 4, True), (first_beyond(5000) * 3.7, False)])
def test_memory_answers_for_certain_where_the_last_level_goes_on_for_two_doublings(
    last: float, *, reached: bool
) -> None:
    model = fitted(*curve(STAIRS, [size for size in SIZES if size <= last * 1.001]))
    assert model.memory_from == (first_beyond(5000) if reached else None)
    assert model.goes_on != reached


@pytest.mark.parametrize(("kib", "reached"), [(7000, False), (8191, False), (8192, True)])
def test_fewer_levels_than_caches_reach_memory_only_beyond_all_of_them(kib: int, *, reached: bool) -> None:
    model = fitted(*curve(steps((30, 1.0), (kib, 14.0), (10**9, 90.0))))
    assert model.memory_from == (first_beyond(kib) if reached else None)


@pytest.mark.parametrize(("between", "reached"), [(14, False), (16, True), (24, True)])
def test_a_slope_of_two_doublings_passes_a_cache(between: int, *, reached: bool) -> None:
    """Three levels and three caches; so many times between the first two rise, an eighth of a doubling apart."""

    def time(size: int) -> float:
        begin = SIZES.index(last_at_most(30)) + 1
        at = SIZES.index(size) - begin
        if 0 <= at < between:
            return float(2.0 * 1.16**at)
        return 1.0 if at < 0 else 400.0 if size <= 6000 * KIB else 900.0

    model = fitted(*curve(time))
    assert len(model.levels) == 3
    assert (model.memory_from == first_beyond(6000)) == reached


def test_without_caches_or_with_too_few_sizes_nothing_is_said() -> None:
    bare = "pack:1 numa:1(memory=8GB) core:2 pu:1"
    unnamed = fitted(*curve(STAIRS), description=bare)
    assert (unnamed.memory_from, unnamed.last_cache, unnamed.last_cache_bytes) == (None, "", 0)
    assert [(each.answered_by, each.step) for each in unnamed.levels] == [("", 1)] * 4
    assert [each.end.cause for each in unnamed.levels if each.end] == ["", "", ""]
    for count, fits in ((5, False), (6, True)):
        (found,) = latency_levels.fit(known(curve(STAIRS, SIZES[:count])))
        assert isinstance(found, Unfitted) != fits
        assert fits or "5 sizes: two levels need 6" in found.reason  # type: ignore[attr-defined]
    assert not list(latency_levels.fit(known(curve(STAIRS, SIZES[:1]))))
    (pair,) = latency_levels.fit(known(curve(STAIRS, SIZES[:2])))
    assert isinstance(pair, Unfitted)
    (rising,) = latency_levels.fit(known(curve(lambda size: size / KIB, SIZES[::8][:6])))
    assert isinstance(rising, Unfitted)
    assert rising.reason == "no level is found"


@pytest.mark.parametrize(("kib", "cause"), [(11.5, "L1"), (10.0, ""), (88, "L1"), (102, "")])
def test_a_boundary_is_a_caches_within_a_factor_of_three(kib: float, cause: str) -> None:
    model = fitted(*curve(steps((kib, 1.0), (10**9, 4.0)), [size for size in SIZES if size <= 400 * KIB]))
    assert [each.end.cause for each in model.levels if each.end] == [cause]


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ((1.0, 1.0), 0, 0),
        ((1.1, 1.3), 0, 1),  # one launch is still on the level there: they end at different sizes
        ((1.0, 1.1), 1, 1),
    ],
)
def test_ends_of_a_boundary_are_those_that_launches_allow(
    values: tuple[float, float], low: int, high: int
) -> None:
    """The size after the level has times of its own in two launches, 15 % above the level or not."""
    at = SIZES.index(last_at_most(30))

    def time(size: int) -> Sequence[float]:
        if size == SIZES[at + 1] and values != (1.0, 1.0):
            return values
        return [STAIRS(size)] * 2

    end = fitted(*curve(time)).levels[0].end
    assert end
    first = at + 1 if values == (1.0, 1.1) else at
    assert end.size.basis == "range"
    assert (end.size.lo, end.size.hi) == (SIZES[at + low], SIZES[at + 1 + high])
    assert SIZES[first] <= end.size.value <= SIZES[first + 2]


def both(small: Callable[[int], float], huge: Callable[[int], float]) -> LatencyLevels:
    return fitted(*curve(small), *curve(huge, pages="huge"))


@pytest.mark.parametrize(("extra", "cause"), [(0.14, ""), (0.16, "TLB")])
def test_small_pages_take_15_percent_longer_beyond_the_tlb(extra: float, cause: str) -> None:
    """Huge pages take 14 ns on both sides of 2.5 MiB; small ones there 2 ns longer before."""

    def small(size: int) -> float:
        if 800 * KIB < size <= 5000 * KIB:
            return 16.0 if size <= 2500 * KIB else 16.0 + 14.0 * extra + 0.3 * (extra > 0.15)
        return STAIRS(size)

    model = both(small, STAIRS)
    ends = [each.end for each in model.levels if each.end]
    inside = [each.cause for each in ends if MIB < each.size.value < 4 * MIB]
    assert inside == ([cause] if cause else [])


@pytest.mark.parametrize(("kib", "found"), [(58, False), (60, True), (32 * KIB, True), (36 * KIB, False)])
def test_a_tlb_has_16_to_8192_entries(kib: int, *, found: bool) -> None:
    """Pages of 4 KiB: from 64 KiB to 32 MiB."""

    def small(size: int) -> float:
        return STAIRS(size) * (1.0 if size <= kib * KIB else 3.0)

    model = both(small, STAIRS)
    causes = [each.end.cause for each in model.levels if each.end and last_at_most(kib) <= each.end.size.value]
    assert ("TLB" in causes) == found
    assert any(each.beyond_tlb for each in model.levels) == found
    assert model.huge_twin.startswith("latency-levels/")


@pytest.mark.parametrize(("kib", "found"), [(1000, False), (1300, True)])
def test_knees_that_huge_pages_show_within_a_factor_of_one_and_a_half_are_the_same(
    kib: int, *, found: bool
) -> None:
    def small(size: int) -> float:
        return STAIRS(size) + (8.0 if size > kib * KIB else 0.0)

    causes = [each.end.cause for each in both(small, STAIRS).levels if each.end]
    assert ("TLB" in causes) == found


def test_levels_of_one_cache_are_counted_as_steps() -> None:
    model = fitted(*curve(steps((30, 1.0), (200, 4.0), (800, 6.0), (5000, 14.0), (10**9, 90.0))))
    assert [(each.answered_by, each.step) for each in model.levels] == [
        ("L1", 1),
        ("L2", 1),
        ("L2", 2),
        ("L3", 1),
        ("memory", 1),
    ]


def test_levels_in_cycles_use_the_clock_of_the_core_under_load() -> None:
    params = {"format": "fp64", "width": "scalar", "mix": "add"}
    clock = measured("flops", "loaded-clock", "frequency", [3e9] * 6, placed("one-core", 0), **params)
    model = fitted(*curve(STAIRS), clock)
    cycles = [each.cycles.value for each in model.levels if each.cycles]
    assert cycles == pytest.approx([3.0, 12.0, 42.0, 270.0])
    assert all(each.cycles is None for each in fitted(*curve(STAIRS)).levels)


def test_huge_pages_that_rise_less_than_a_step_leave_no_room_for_the_tlb() -> None:
    """Small pages rise by 16 % and huge ones by 13 %: little of it is extra."""

    def risen(size: int, ns: float) -> float:
        return ns if 2500 * KIB < size <= 5000 * KIB else STAIRS(size)

    model = both(lambda size: risen(size, 16.3), lambda size: risen(size, 15.8))
    causes = [each.end.cause for each in model.levels if each.end and MIB < each.end.size.value < 4 * MIB]
    assert causes == [""]


def test_the_last_cache_ends_where_memory_begins_whatever_it_claims() -> None:
    model = fitted(*curve(STAIRS), description=NODES.replace("8MB)", "100MB)"))
    assert [each.end.cause for each in model.levels if each.end] == ["L1", "L2", "L3"]
    assert [each.answered_by for each in model.levels] == ["L1", "L2", "L3", "memory"]


def test_memory_that_huge_pages_show_counts_for_small_ones_too() -> None:
    fewer = steps((30, 1.0), (3000, 14.0), (10**9, 90.0))
    whole = steps((30, 1.0), (800, 4.0), (3500, 14.0), (10**9, 90.0))
    assert fitted(*curve(fewer)).memory_from is None
    model = both(fewer, whole)
    assert model.memory_from == first_beyond(3500)
    assert model.levels[-1].answered_by == "memory"  # it begins a little before
    earlier = both(STAIRS, steps((30, 1.0), (800, 4.0), (4200, 14.0), (10**9, 90.0)))
    assert earlier.memory_from == first_beyond(4200)


@pytest.mark.parametrize(
    ("levels", "last", "answered"),
    [
        (((30, 1.0), (10**9, 4.0)), MIB, ["L1", "L2"]),
        (((30, 1.0), (10**9, 4.0)), first_beyond(1024), ["L1", "L3"]),
        (((30, 1.0), (500, 4.0), (10**9, 14.0)), MIB, ["L1", "L2", "L3"]),
        (((10**9, 1.0),), 32 * KIB, ["L1"]),
    ],
)
def test_the_first_cache_that_holds_a_level_answers_it(
    levels: tuple[tuple[float, float], ...], last: int, answered: list[str]
) -> None:
    model = fitted(*curve(steps(*levels), [size for size in SIZES if size <= last]))
    assert [each.answered_by for each in model.levels] == answered
