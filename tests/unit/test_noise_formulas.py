"""Noise of a run from planted launches: tail, drift, stops and shares, beside scipy and numpy."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import numpy as np
import pytest
import scipy
from tests.unit.report_example import estimate

from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.noise import Stops, lost_share, noise, stops, stops_in
from assay.model.bracket import Bracket, Handover
from assay.model.noise import Noise
from assay.model.record import Series
from assay.model.samples import table_of

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)


def bracket(
    elapsed_s: float = 1.0, steal: float | None = None, foreign: float | None = None, probe: float | None = None
) -> Bracket:
    made = None if probe is None else Handover((0, 1), 1, [probe])
    return Bracket(made, made, elapsed_s, steal, foreign, 0, 0.0)


def launch(
    name: str, at_s: float, around: Bracket, *series: Series, attempt: int = 0, waited_s: float = 0.0
) -> SimpleNamespace:
    record = SimpleNamespace(
        id=name,
        attempt=attempt,
        started=(BEGAN + timedelta(seconds=at_s)).isoformat(),
        bracket=around,
        waited_s=waited_s,
    )
    cases = [
        SimpleNamespace(header=SimpleNamespace(case="sentinel"), series=series),
        SimpleNamespace(header=SimpleNamespace(case="other"), series=series[:1] * 5),
    ]
    return SimpleNamespace(launch=record, cases=cases if series else [])


def attempt(
    made: SimpleNamespace, samples: dict[str, Sequence[float]], state: str | None = None, status: str = "complete"
) -> SimpleNamespace:
    """An attempt of the sentinel; `samples`: by kernel, on one host."""
    sampled = {(kernel, "n1"): SimpleNamespace(seconds=np.array(each)) for kernel, each in samples.items()}
    known = made.launch
    return SimpleNamespace(launch=known.id, attempt=known.attempt, state=state, status=status, sampled=sampled)


def found(
    launches: Sequence[SimpleNamespace],
    attempts: Sequence[SimpleNamespace] = (),
    measured: Sequence[Measured] = (),
) -> Noise:
    cases = [SimpleNamespace(id="sentinel", role="sentinel"), SimpleNamespace(id="other", role="measure")]
    run = SimpleNamespace(launches=launches, made=launches, ending=None, plan=SimpleNamespace(cases=cases))
    return noise(cast("Any", run), {"sentinel": cast("Any", attempts)}, None, measured)


def quiet(*times_s: float) -> list[SimpleNamespace]:
    return [launch(f"l{at}", time_s, bracket()) for at, time_s in enumerate(times_s)]


def test_the_tail_is_the_99th_percentile_over_the_median_from_1000_samples_on() -> None:
    (made,) = quiet(0.0)
    samples = np.random.default_rng(1).permutation(np.arange(1.0, 1001.0))
    tail = found([made], [attempt(made, {"work": samples.tolist()})]).sentinel_p99
    assert tail == pytest.approx(990 / 500.5)  # the smallest that 99 % do not exceed, over the middle
    assert found([made], [attempt(made, {"work": samples[1:].tolist()})]).sentinel_p99 is None


def test_each_kernel_and_state_has_its_own_median_and_only_whole_attempts_count() -> None:
    launches = quiet(0.0, 1.0, 2.0)
    attempts = [
        attempt(launches[0], {"a": [1.0] * 400, "b": [7.0] * 400}, "near"),
        attempt(launches[1], {"a": [3.0] * 400, "b": [5.0] * 400}, "far"),
        attempt(launches[2], {"a": [90.0] * 400}, "near", "failed"),
    ]
    assert found(launches, attempts).sentinel_p99 == 1.0


@pytest.mark.parametrize("times", [(0.0, 1.0, 5.0, 6.0), (0.0, 2.0, 3.0, 9.0, 20.0)])
def test_drift_is_the_slope_of_theil_and_sen_over_the_run_with_kendalls_p(times: tuple[float, ...]) -> None:
    launches = quiet(*times)
    values = [1.0, 1.3, 1.2, 1.7, 1.6][: len(times)]
    attempts = [attempt(each, {"work": [value] * 3}) for each, value in zip(launches, values, strict=True)]
    relative = np.array(values) / np.median(np.repeat(values, 3))
    noise_found = found(launches, attempts)
    slope = scipy.stats.theilslopes(relative, times).slope
    assert noise_found.drift == pytest.approx(slope * (times[-1] - times[0]))
    assert noise_found.drift_p == pytest.approx(scipy.stats.kendalltau(times, values).pvalue)


@pytest.mark.parametrize("times", [(10.0, 8.0, 20.0, 30.0), (8.0, 10.0, 20.0, 20.0)])
def test_without_a_clock_that_goes_on_the_order_of_launches_is_their_time(times: tuple[float, ...]) -> None:
    launches = quiet(*times)
    attempts = [attempt(each, {"work": [value]}) for each, value in zip(launches, (1, 2, 3, 4.5), strict=True)]
    slope = scipy.stats.theilslopes(np.array([1, 2, 3, 4.5]) / 2.5, range(4)).slope
    assert found(launches, attempts).drift == pytest.approx(3 * slope)


def test_fewer_than_four_launches_show_no_drift() -> None:
    launches = quiet(0.0, 1.0, 2.0, 3.0)
    attempts = [attempt(each, {"work": [1.0]}) for each in launches]
    assert found(launches, attempts).drift == 0.0
    assert found(launches, attempts[1:]).drift is None
    assert found(launches, attempts[1:]).drift_p is None


def headline(values: Sequence[float | None], *, better: str = "higher", metric: str = "bandwidth") -> Measured:
    """A figure with a launch in each block with a value."""
    shown = msgspec.structs.replace(
        estimate("stream/all/x", "triad", 1.0),
        metric=metric,
        better=better,
        measurand=estimate("stream/all/x", "triad", 1.0).measurand,
    )
    made = tuple(LaunchMedian(10 + at, None, value) for at, value in enumerate(values) if value is not None)
    return Measured(shown, made)


def test_the_drift_of_figures_is_that_of_their_median_slowness_by_block() -> None:
    rate, time = [8.0, 7.0, 6.0, 5.0, 4.0], [1.0, 1.2, 1.1, 1.5, 1.4]
    known = [headline(rate), headline(time, better="lower"), headline([9.0, None, 8.0, 7.0, 2.0])]
    slowness = [-np.log(np.array(rate) / 6.0), np.log(np.array(time) / 1.2)]
    third = -np.log(np.array([9.0, np.nan, 8.0, 7.0, 2.0]) / 7.5)
    middle = np.nanmedian([*slowness, third], axis=0)
    figures = found(quiet(0.0), (), known)
    slope = scipy.stats.theilslopes(middle, range(5)).slope
    assert figures.figures_drift == pytest.approx(math.expm1(4 * slope))
    assert figures.figures_drift_p == pytest.approx(scipy.stats.kendalltau(range(5), middle).pvalue)


def test_figures_with_four_launches_above_0_and_four_blocks_drift() -> None:
    assert found(quiet(0.0), (), [headline([1.0, 1.0, 1.0, 1.0])]).figures_drift == 0.0
    assert found(quiet(0.0), (), [headline([1.0, 1.0, 1.0])]).figures_drift is None
    assert found(quiet(0.0), (), [headline([1.0, 1.0, 1.0, 0.0])]).figures_drift is None
    assert found(quiet(0.0), (), [headline([1.0] * 4, metric="traffic")]).figures_drift is None


def test_the_resolution_is_what_95_percent_of_the_pairs_of_launches_stay_below() -> None:
    three, two = [1.0, 1.1, 1.3], [2.0, 2.5]
    ignored = [headline([1.0]), headline([1.0, 0.0]), headline([1.0, 9.0], metric="traffic")]
    resolution = found(quiet(0.0), (), [headline(three), headline(two), *ignored]).resolution
    assert found(quiet(0.0), (), [headline(two)]).resolution == pytest.approx(0.25)
    assert resolution == pytest.approx(0.3)  # of four pairs: 10 %, 18 %, 25 %, 30 %
    many = np.exp(np.arange(21) / 100)  # 210 pairs; 95 % are the first 200
    ordered = sorted(abs(a - b) for at, a in enumerate(np.log(many)) for b in np.log(many)[:at])
    assert found(quiet(0.0), (), [headline(many.tolist())]).resolution == pytest.approx(math.expm1(ordered[199]))
    assert found(quiet(0.0), (), ignored).resolution is None


def test_steal_counts_by_time_and_foreign_is_the_largest() -> None:
    around = [bracket(1.0, 0.2, 0.01), bracket(3.0, 0.4, 0.03), bracket(9.0), bracket(1.0, 0.0, 0.02)]
    made = [launch(f"l{at}", at, each) for at, each in enumerate(around)]
    assert found(made).steal == pytest.approx((0.2 + 3 * 0.4) / 5)
    assert found(made).foreign == 0.03
    assert (found(made[2:3]).steal, found(made[2:3]).foreign) == (None, None)


def test_launches_are_counted_with_and_without_repeats() -> None:
    loud, calm = bracket(foreign=0.2), bracket(foreign=0.0)
    moved = msgspec.structs.replace(bracket(probe=1.0), after=Handover((0, 1), 1, [3.0]))
    made = [
        launch("a", 0, loud, waited_s=1.0),
        launch("a", 1, calm, attempt=1, waited_s=2.0),
        launch("b", 2, loud),
        launch("b", 3, moved, attempt=1),
        launch("c", 4, loud),
        launch("d", 5, calm),
    ]
    counted = found(made)
    assert (counted.disturbed, counted.launches, counted.made) == (4, 6, 4)
    assert (counted.spoilt, counted.crowded, counted.waited_s) == (2, 1, 3.0)


def test_one_state_has_the_median_of_all_probes() -> None:
    made = [launch(f"l{at}", at, bracket(probe=each)) for at, each in enumerate((1.0, 1.1, 1.4))]
    assert found([*made, *quiet(9.0)]).states == {"one": (3, 1.1)}


def series(seconds: list[float], phase: str = "measured") -> Series:
    return Series("work", 0, cast("Any", phase), 1, "samples", [0.0] * len(seconds), seconds)


def test_a_stop_takes_ten_percent_longer_than_usual_and_loses_what_is_beyond_the_usual() -> None:
    usual = [1.0] * 7
    table = table_of(
        [series([9.0, 9.0, 9.0], "warmup"), series([*usual, 1.09, 1.11, 1.5]), series([2.0, 2.0, 4.0])]
    )
    own = stops_in(table)
    assert own == pytest.approx(Stops(7 + 3.7 + 8, 0.11 + 0.5 + 2, 2.0, 3))
    assert stops_in(table_of([series([1.0] * 3 + [1.1])])).number == 0
    assert stops_in(table_of([series([1.0] * 9 + [1.5])])).longest_s == 0.5
    assert stops_in(table_of([series([]), series([5.0])])) == (5.0, 0.0, 0.0, 0)
    assert Stops() == (0.0, 0.0, 0.0, 0)
    assert Stops(1.0, 2.0, 3.0, 4).plus(Stops(5.0, 6.0, 2.0, 1)) == Stops(6.0, 8.0, 3.0, 5)


def test_stops_are_those_of_the_sentinel_in_its_launches() -> None:
    slow = series([1.0] * 9 + [2.0])
    made = [launch("a", 0, bracket(), slow), launch("b", 1, bracket(), series([1.0] * 5)), *quiet(9.0)]
    counted = found(made)
    assert counted.probed_s == pytest.approx(16.0)
    assert counted.longest_stop_s == pytest.approx(1.0)
    assert counted.stops_per_s == pytest.approx(1 / 16)
    assert counted.lost
    assert counted.lost.value == pytest.approx(1 / 16)
    run = SimpleNamespace(
        launches=made, plan=SimpleNamespace(cases=[SimpleNamespace(id="sentinel", role="sentinel")])
    )
    assert stops(cast("Any", run)) == pytest.approx(Stops(16.0, 1.0, 1.0, 1))
    none = found(quiet(0.0))
    assert (none.lost, none.longest_stop_s, none.stops_per_s, none.probed_s) == (None, None, None, 0.0)


@pytest.mark.parametrize("launches", [4, 9])
def test_the_interval_of_a_share_of_exponential_losses_is_that_of_chi_square(launches: int) -> None:
    each = [Stops(10.0, 0.1 * (at + 1), 1.0, 1) for at in range(launches)]
    found_share = lost_share(each)
    assert found_share
    share = 0.1 * launches * (launches + 1) / 2 / (10 * launches)
    lo, hi = (2 * launches * share / scipy.stats.chi2.ppf(q, 2 * launches) for q in (0.975, 0.025))
    assert found_share.value == pytest.approx(share)
    assert (found_share.lo, found_share.hi) == pytest.approx((lo, hi), rel=0.02)
    assert found_share.basis == "interval"


def test_a_share_of_one_launch_or_of_none_lost_has_no_interval_and_none_exceeds_all() -> None:
    one = lost_share([Stops(10.0, 1.0, 1.0, 1)])
    assert one
    assert (one.value, one.lo, one.hi, one.has_interval) == (0.1, 0.1, 0.1, False)
    calm = lost_share([Stops(10.0)] * 3)
    assert calm
    assert (calm.value, calm.hi) == (0.0, 0.0)
    most = lost_share([Stops(10.0, 8.0), Stops(10.0, 9.0)])
    assert most
    assert most.hi == 1.0
    assert lost_share([]) is None
