"""Estimates, outcomes, states, limits and models of runs on machines whose laws are known."""

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import numpy as np
import pytest
import scipy.stats
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.analyse.noise import Stops, lost_share, stops_in
from assay.analyse.plateaus import CACHE_PLATEAUS as PLATEAUS
from assay.analyse.plateaus import CachePlateaus
from assay.model.bracket import Handover
from assay.model.facts import Fact
from assay.model.law import Unfitted
from assay.model.noise import Noise
from assay.model.quantity import exact
from assay.model.record import Series
from assay.model.result import Analysis, Estimate
from assay.model.run import LaunchRecords, Run
from assay.model.samples import table_of
from assay.plan import Options
from assay.simulation import Fault, Law


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return store.load(simulated_run(tmp_path_factory.mktemp("runs"), options=Options(launches=6)))


def _triad(analysis: Analysis, label: str = "all", stores: str = "ordinary") -> list[Estimate]:
    return [
        each
        for each in analysis.estimates
        if (each.kernel, each.metric, each.placement.label) == ("triad", "bandwidth", label)
        and each.params["stores"] == stores
    ]


def _with(run: Run, change: Callable[[int, LaunchRecords], LaunchRecords]) -> Run:
    return msgspec.structs.replace(run, launches=tuple(change(at, each) for at, each in enumerate(run.launches)))


def _slowed(launch: LaunchRecords, factor: float, handover: float) -> LaunchRecords:
    """The launch with probes of `handover` seconds, its cases slower by `factor`."""
    probe = Handover((0, 1), 1, [handover] * 5)
    bracket = msgspec.structs.replace(launch.launch.bracket, before=probe, after=probe)
    cases = tuple(
        msgspec.structs.replace(
            case,
            series=tuple(
                msgspec.structs.replace(each, seconds=[value * factor for value in each.seconds])
                for each in case.series
            ),
        )
        for case in launch.cases
    )
    return msgspec.structs.replace(
        launch, launch=msgspec.structs.replace(launch.launch, bracket=bracket), cases=cases
    )


def test_the_figure_of_a_known_law_is_found_with_its_interval(run: Run) -> None:
    (triad,) = _triad(analyse(run), stores="non-temporal")
    assert triad.median == pytest.approx(24e9, rel=0.02)  # two cores of 12 GB/s, below the node's 30
    assert triad.lo is not None
    assert triad.hi is not None
    assert triad.min is not None
    assert triad.max is not None
    assert triad.median is not None
    assert triad.min <= triad.lo <= triad.median <= triad.hi <= triad.max
    assert triad.samples < 1000
    assert triad.p99 is None, "so few samples say nothing of the slowest in a hundred"
    assert (triad.basis, triad.confidence, triad.launches) == ("interval", 0.95, 6)
    assert triad.placement.proven is not None
    assert triad.placement.proven.as_asked


def test_nothing_is_dropped(run: Run) -> None:
    recorded = sum(
        len(series.seconds)
        for launch in run.launches
        for case in launch.cases
        for series in case.series
        if series.phase == "measured" and case.header.case != "sentinel" and series.kernel == "triad"
        if run.plan.case(case.header.case).role == "measure"
    )
    counted = sum(
        each.samples for each in analyse(run).estimates if (each.kernel, each.metric) == ("triad", "bandwidth")
    )
    assert counted == recorded > 0


def test_the_order_of_launches_changes_no_estimate(run: Run) -> None:
    order = np.random.default_rng(3).permutation(len(run.launches))
    again = analyse(msgspec.structs.replace(run, launches=tuple(run.launches[at] for at in order)))
    assert again.estimates == analyse(run).estimates


def test_every_case_of_the_plan_has_an_outcome(run: Run) -> None:
    assert [each.case for each in analyse(run).outcomes] == [case.id for case in run.plan.cases]


def test_a_healthy_run_is_not_split_into_states(run: Run) -> None:
    analysis = analyse(run)
    assert {each.state for each in analysis.estimates} == {None}
    assert len(analysis.noise.states) == 1


def test_both_states_are_reported_and_neither_is_averaged_away(run: Run) -> None:
    flipped = analyse(
        _with(run, lambda _, each: _slowed(each, 1 / 0.6, 125e-9) if each.launch.block >= 3 else each)
    )
    triads = {each.state: each for each in _triad(flipped, stores="non-temporal")}
    assert triads.keys() == {"near", "far"}
    assert triads["near"].median == pytest.approx(24e9, rel=0.02)
    assert triads["far"].median == pytest.approx(0.6 * 24e9, rel=0.02)
    assert {"near", "far"} <= flipped.noise.states.keys()


def test_a_state_that_explains_nothing_splits_nothing(run: Run) -> None:
    flipped = analyse(_with(run, lambda _, each: _slowed(each, 1.0, 125e-9) if each.launch.block >= 3 else each))
    assert {each.state for each in _triad(flipped)} == {None}


def test_a_flip_in_the_middle_of_a_simulated_run_is_seen(tmp_path: Path) -> None:
    plain = store.load(simulated_run(tmp_path / "plain", options=Options(launches=6)))
    seconds = sum(each.launch.bracket.elapsed_s for each in plain.launches)
    law = Law(flips=((seconds / 2, "far"),))
    analysis = analyse(store.load(simulated_run(tmp_path / "flip", law, options=Options(launches=6))))
    states = {each.state for each in analysis.estimates}
    assert {"near", "far"} <= states
    for each in _triad(analysis, stores="non-temporal"):
        assert each.median == pytest.approx(24e9 * (0.6 if each.state == "far" else 1), rel=0.02)


@pytest.mark.parametrize(
    ("kind", "status"),
    [("wrong-result", "failed"), ("misplaced", "invalid"), ("hang", "timed-out"), ("crash", "incomplete"),
     ("cannot-start", "failed")],
)  # fmt: skip
def test_a_fault_gives_its_status_a_reason_and_no_figure(tmp_path: Path, kind: str, status: str) -> None:
    law = Law(faults=(Fault(kind, "stream/one-core"),))  # type: ignore[arg-type]
    analysis = analyse(store.load(simulated_run(tmp_path, law)))
    struck = [each for each in analysis.outcomes if "stream/one-core" in each.case and each.status == status]
    assert struck
    assert all(each.reason for each in struck)
    cases = {each.case for each in struck}
    assert all(each.median is None and each.status == status for each in analysis.estimates if each.case in cases)


def test_a_launch_that_ends_before_a_case_begins_costs_the_others_nothing(tmp_path: Path) -> None:
    law = Law(faults=(Fault("cannot-start", "stream/one-core", starts=(0,)),))
    analysis = analyse(store.load(simulated_run(tmp_path, law, options=Options(launches=6))))
    fewer = [each for each in analysis.outcomes if each.launches < each.planned]
    struck = [each for each in fewer if "stream/one-core" in each.case]
    assert struck
    for each in struck:
        assert (each.status, each.launches) == ("complete", 5)
        assert each.reason.startswith("5 of 6 launches: ")
    figures = [each for each in analysis.estimates if each.case in {one.case for one in struck}]
    assert figures
    assert all(each.median and each.launches == 5 for each in figures)


def test_launches_that_were_not_made_are_said(run: Run) -> None:
    cut = analyse(msgspec.structs.replace(run, launches=run.launches[:1]))
    assert {each.status for each in cut.outcomes} == {"complete", "skipped"}
    assert all(each.reason for each in cut.outcomes)


def test_a_disturbed_launch_is_set_aside_only_where_its_repeat_was_quiet(run: Run) -> None:
    def disturb(launch: LaunchRecords) -> LaunchRecords:
        slow = _slowed(launch, 2.0, 28e-9)
        bracket = msgspec.structs.replace(slow.launch.bracket, foreign=0.5)
        return msgspec.structs.replace(slow, launch=msgspec.structs.replace(slow.launch, bracket=bracket))

    once = analyse(_with(run, lambda _, each: disturb(each) if each.launch.block == 0 else each))
    (triad,) = _triad(once)
    assert (triad.launches, triad.disturbed, triad.set_aside) == (6, 1, 0)
    assert once.noise.disturbed > 0
    (triad,) = _triad(analyse(_with(run, lambda _, each: disturb(each))))
    assert (triad.launches, triad.disturbed) == (6, 6)
    assert "disturbed" in (triad.reason or "")
    repeats = [
        msgspec.structs.replace(each, launch=msgspec.structs.replace(each.launch, attempt=1))
        for each in run.launches
        if each.launch.block == 0
    ]
    first = _with(run, lambda _, each: disturb(each) if each.launch.block == 0 else each)
    repeated = analyse(msgspec.structs.replace(first, launches=(*first.launches, *repeats)))
    (triad,) = _triad(repeated)
    assert (triad.launches, triad.disturbed, triad.set_aside) == (6, 0, 1)


def test_a_probe_that_was_held_up_is_no_state(run: Run) -> None:
    def held_up(at: int, launch: LaunchRecords) -> LaunchRecords:
        before = launch.launch.bracket.before
        assert before is not None
        slow = msgspec.structs.replace(before, seconds=[50 * seconds for seconds in before.seconds])
        bracket = msgspec.structs.replace(launch.launch.bracket, before=slow)
        held = msgspec.structs.replace(launch, launch=msgspec.structs.replace(launch.launch, bracket=bracket))
        return held if at in {2, 5, 9} else launch

    analysis = analyse(_with(run, held_up))
    assert set(analysis.noise.states) == {"one"}
    assert {each.state for each in analysis.estimates} == {None}


def test_launches_in_which_the_state_changed_are_set_aside_where_states_explain(run: Run) -> None:
    def flip(launch: LaunchRecords) -> LaunchRecords:
        if launch.launch.block == 0:
            return launch
        slow = _slowed(launch, 1 / 0.6, 125e-9)
        if launch.launch.block < 4:
            return slow
        if launch.launch.block > 4:
            return _slowed(launch, 1.0, 28e-9)
        changed = msgspec.structs.replace(slow.launch.bracket, before=launch.launch.bracket.before)
        return msgspec.structs.replace(slow, launch=msgspec.structs.replace(slow.launch, bracket=changed))

    longer = tuple(
        msgspec.structs.replace(
            each,
            launch=msgspec.structs.replace(
                each.launch, id=f"9{each.launch.id}", block=each.launch.block + run.plan.launches
            ),
        )
        for each in run.launches
    )
    twice = msgspec.structs.replace(run, launches=run.launches + longer)
    triads = {each.state: each for each in _triad(analyse(_with(twice, lambda _, each: flip(each))))}
    assert {state: (each.launches, each.set_aside) for state, each in triads.items()} == {
        "near": (8, 1),
        "far": (3, 1),
    }
    assert (triads["far"].confidence, triads["near"].confidence) == (None, 0.95)
    assert triads["far"].disturbed == 0


def test_too_few_launches_in_a_state_are_pooled_and_bear_no_name(run: Run) -> None:
    few = _with(run, lambda _, each: _slowed(each, 1 / 0.6, 125e-9) if each.launch.block >= 5 else each)
    analysis = analyse(few)
    (triad,) = _triad(analysis, stores="non-temporal")
    assert (triad.state, triad.launches) == (None, 6)
    assert {each.state for each in analysis.estimates} == {None}
    (found,) = (each for each in analysis.findings if each.id == "machine_noise:states")
    assert found.numbers["statistic"].value == pytest.approx(125 / 28, rel=0.01)


def test_limits_are_given_before_derived_before_measured(run: Run) -> None:
    (triad,) = _triad(analyse(run))
    assert triad.limit is not None
    assert triad.limit.source == "simulated"
    machine = run.machines["simulated"]
    memory = {"populated channels": Fact(2, source="test"), "transfer rate": Fact(3.2e9, "T/s", "test")}
    known = msgspec.structs.replace(
        run, machines={"simulated": msgspec.structs.replace(machine, facts=machine.facts | {"memory": memory})}
    )
    (triad,) = _triad(analyse(known))
    assert triad.limit is not None
    assert triad.limit.source == "derived"
    assert triad.limit.value == pytest.approx(0.75 * 2 * 3.2e9 * 8)  # 24 of 32 B moved are counted
    (triad,) = _triad(analyse(known, {"memory-bandwidth": 5e10}))
    assert triad.limit is not None
    assert (triad.limit.source, triad.limit.value) == ("given", 5e10)


def test_what_cannot_be_is_invalid_and_names_the_ceiling(run: Run) -> None:
    machine = run.machines["simulated"]
    memory = {"populated channels": Fact(1, source="test"), "transfer rate": Fact(1.6e9, "T/s", "test")}
    slow = msgspec.structs.replace(
        run, machines={"simulated": msgspec.structs.replace(machine, facts=machine.facts | {"memory": memory})}
    )
    (triad,) = _triad(analyse(slow))
    assert (triad.status, triad.median) == ("invalid", None)
    assert "1 populated channels x 1600 MT/s" in (triad.reason or "")


def test_the_plateaus_of_the_copy_curve_are_those_of_the_law(run: Run) -> None:
    model = next(each for each in analyse(run).models if isinstance(each, CachePlateaus))
    assert [each.rate.value for each in model.plateaus][1:] == pytest.approx([35e9, 18e9, 6e9], rel=0.05)
    ends = [each.end for each in model.plateaus if each.end]
    assert [(each.cause, each.cache_bytes) for each in ends] == [("L1", 2**15), ("L2", 2**20), ("L3", 2**25)]


def test_a_curve_of_too_few_sizes_says_why_it_has_no_law(run: Run) -> None:
    def only_one(_: int, launch: LaunchRecords) -> LaunchRecords:
        kept = tuple(case for case in launch.cases if case.header.params.get("bytes", 64) == 64)
        return msgspec.structs.replace(launch, cases=kept)

    models = [each for each in analyse(_with(run, only_one)).models if each.law == PLATEAUS]
    assert models
    assert all(isinstance(each, Unfitted) and each.reason for each in models)


def test_work_of_fixed_length_tells_what_stops_take() -> None:
    quanta = np.full(2000, 1e-3)
    quanta[[3, 500]] = 2e-3, 11e-3
    series = Series("work", 0, "measured", 7, "time", [0.0] * quanta.size, quanta.tolist())
    found = stops_in(table_of([series]))
    assert found.number == 2
    assert found.longest_s == pytest.approx(10e-3)
    assert found.lost_s / found.probed_s == pytest.approx(11e-3 / quanta.sum())


def _lost(shares: Iterable[float]) -> Noise:
    launches = [Stops(0.12, 0.12 * share, 1e-3, 20) for share in shares]
    return Noise(None, None, None, None, None, {}, 0, len(launches), lost=lost_share(launches))


def test_the_time_lost_has_the_interval_of_its_launches() -> None:
    """Stops come in bursts: a few launches that lost much do not show that the machine loses 2 %."""
    shares = np.array([0.0004, 0.0056, 0.0111, 0.0159, 0.0249, 0.0366, 0.0375, 0.0979])
    bursts, always, one, quiet = _lost(shares), _lost(0.07 + shares / 4), _lost([0.5]), _lost(shares / 10)
    assert bursts.lost
    assert bursts.lost.basis == "interval"
    lo, hi = 2 * shares.sum() / scipy.stats.chi2.ppf((0.975, 0.025), 2 * shares.size)
    assert bursts.lost.parts == pytest.approx((shares.mean(), lo, hi), rel=5e-3)
    assert bursts.lost.value > 0.028
    assert (bursts.is_open, bursts.loses(0.02)) == (True, False)
    assert (always.is_open, always.loses(0.02)) == (False, True)
    assert (one.is_open, one.loses(0.02)) == (True, False)
    assert (quiet.is_open, quiet.loses(0.02)) == (False, False)
    assert _lost([0.0] * 7).lost == exact(0)


def test_the_interval_of_the_time_lost_holds_the_truth_where_stops_come_in_bursts() -> None:
    rng = np.random.default_rng(1)
    found = [_lost(rng.exponential(0.02, 7)).lost for _ in range(1000)]
    held = sum(each.lo <= 0.02 <= each.hi for each in found if each)
    assert 930 <= held <= 970


def test_noise_shows_the_sentinels_tail(run: Run) -> None:
    noise = analyse(run).noise
    assert noise.sentinel_p99 == pytest.approx(np.exp(2.326 * 0.005), abs=0.006)  # 0.4 % and 0.3 % of noise
    assert noise.drift_p is not None
