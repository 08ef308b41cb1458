"""Formulas and borders of one launch, one figure, one node: a value on each side, and what is published."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.simulation import described, plan_for, simulated_run

from assay import store
from assay.analyse import analyse
from assay.analyse.launches import misplaced
from assay.analyse.parts import part
from assay.model.bracket import Bracket, Handover
from assay.model.plan import Measure, Study
from assay.model.rank import Rank
from assay.model.record import Launch
from assay.model.result import Analysis, Estimate
from assay.model.run import LaunchRecords, Run
from assay.plan import Options
from assay.run.ledger import Ledger
from assay.simulation import Law

#: A machine without noise: what a test changes is all that differs.
EXACT = Law(noise=0.0, launch_noise=0.0)
HOSTS = tuple(f"n{number}" for number in range(1, 6))
TRIAD = Study("Triad", "How fast?", (Measure("stream", ("all",)),), launches=3)


def _bracket(**changes: float | None) -> Bracket:
    quiet = Bracket(None, None, elapsed_s=1, steal=0, foreign=0, involuntary_switches=0, load=0)
    return msgspec.structs.replace(quiet, **changes)


def _changed(run: Run, change: Callable[[LaunchRecords], LaunchRecords]) -> Run:
    return msgspec.structs.replace(run, launches=tuple(map(change, run.launches)))


def _with_bracket(records: LaunchRecords, **changes: float | None) -> LaunchRecords:
    bracket = msgspec.structs.replace(records.launch.bracket, **changes)
    return msgspec.structs.replace(records, launch=msgspec.structs.replace(records.launch, bracket=bracket))


def _with_seconds(records: LaunchRecords, kernel: str, seconds: NDArray[np.float64]) -> LaunchRecords:
    """The launch with these samples of one kernel, each the time of one iteration."""
    cases = tuple(
        msgspec.structs.replace(
            case,
            series=tuple(
                msgspec.structs.replace(
                    series, iterations=1, start_s=np.cumsum(seconds).tolist(), seconds=seconds.tolist()
                )
                if (series.kernel, series.phase) == (kernel, "measured")
                else series
                for series in case.series
            ),
        )
        for case in records.cases
    )
    return msgspec.structs.replace(records, cases=cases)


def _triad(analysis: Analysis) -> Estimate:
    (figure,) = [each for each in analysis.estimates if (each.kernel, each.metric) == ("triad", "bandwidth")]
    return figure


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return store.load(simulated_run(tmp_path_factory.mktemp("borders"), EXACT, study=TRIAD))


@pytest.mark.parametrize(("count", "place"), [(999, None), (1002, 992)])
def test_the_99th_percentile_is_the_sample_that_one_in_a_hundred_exceeds(
    run: Run, count: int, place: int | None
) -> None:
    """Of 1,002 samples 10 may exceed it: 992 of 1,002 are 99.002 %, 991 are 98.9 %."""
    ordered = np.linspace(1.0, 2.0, count)
    parts = iter(np.array_split(np.random.default_rng(1).permutation(ordered), TRIAD.launches or 0))

    def change(records: LaunchRecords) -> LaunchRecords:
        measured = any(case.header.case != "sentinel" for case in records.cases)
        return _with_seconds(records, "triad", next(parts)) if measured else records

    figure = _triad(analyse(_changed(run, change)))
    assert figure.samples == count
    if place is None:
        assert figure.p99 is None
    else:
        cases = (case for records in run.launches for case in records.cases if case.header.case != "sentinel")
        moved = next(cases).header.work["triad"]["bytes"]
        assert figure.p99 == pytest.approx(moved / ordered[place - 1], rel=1e-9)


def test_the_sentinels_tail_is_its_99th_percentile_over_its_median(tmp_path: Path) -> None:
    long = store.load(simulated_run(tmp_path, EXACT, study=msgspec.structs.replace(TRIAD, launches=6)))
    sentinel = next(case.id for case in long.plan.cases if case.role == "sentinel")
    samples = np.concatenate((np.full(980, 1.0), np.full(20, 3.0)))  # 2 % of them are slow

    def change(records: LaunchRecords) -> LaunchRecords:
        for kernel in ("copy", "scale", "add", "triad") if records.launch.cases == (sentinel,) else ():
            records = _with_seconds(records, kernel, samples)
        return records

    assert analyse(_changed(long, change)).noise.sentinel_p99 == pytest.approx(3.0)


def test_steal_counts_each_launch_by_its_duration(run: Run) -> None:
    """Half of a launch of 1 s, nothing of one of 9 s and 10 % of one of 10 s: 1.5 s of 20 s."""
    launches = iter([(0.5, 1.0), (0.0, 9.0), (0.1, 10.0), *[(None, 100.0)] * 100])

    def change(records: LaunchRecords) -> LaunchRecords:
        steal, elapsed_s = next(launches)
        return _with_bracket(records, steal=steal, elapsed_s=elapsed_s)

    assert analyse(_changed(run, change)).noise.steal == pytest.approx(1.5 / 20)


def test_without_counters_no_steal_is_claimed(run: Run) -> None:
    assert analyse(_changed(run, lambda records: _with_bracket(records, steal=None))).noise.steal is None


@pytest.mark.parametrize(("ratio", "moved"), [(1.49, False), (1.51, True), (1 / 1.49, False), (1 / 1.51, True)])
def test_probes_that_differ_by_half_or_more_mean_that_the_cores_moved(ratio: float, *, moved: bool) -> None:
    before, after = (Handover((0, 1), 1000, [1000 * seconds]) for seconds in (40e-9, ratio * 40e-9))
    bracket = msgspec.structs.replace(_bracket(), before=before, after=after)
    assert bool(bracket.disturbance) == moved


@pytest.mark.parametrize(("foreign", "crowded"), [(0.049, False), (0.05, False), (0.051, True), (None, False)])
def test_more_than_a_twentieth_of_foreign_work_disturbs(foreign: float | None, *, crowded: bool) -> None:
    bracket = _bracket(foreign=foreign)
    assert (bracket.is_crowded, bool(bracket.disturbance)) == (crowded, crowded)


def _rank(pages: dict[str, int], memory: str = "bind:0") -> Rank:
    return Rank(
        rank=0, host="n1", boot_id="b", cpus=(0,), requested_cpus=(0,), page_nodes=pages, requested_memory=memory
    )


@pytest.mark.parametrize(("stray", "refused"), [(0, False), (10, False), (11, True), (50, True)])
def test_one_page_in_a_hundred_may_lie_elsewhere(stray: int, *, refused: bool) -> None:
    why = misplaced(_rank({"0": 1000 - stray, "1": stray}))
    assert bool(why) == refused
    assert not misplaced(_rank({"0": 1000 - stray, "1": stray}, memory="first-touch"))


@pytest.mark.parametrize(("share", "nodes"), [(0.009, {0}), (0.011, {0, 1})])
def test_a_node_with_a_hundredth_of_the_pages_takes_part(run: Run, share: float, nodes: set[int]) -> None:
    (figure,) = [each for each in analyse(run).estimates if each.kernel == "triad" and each.metric == "bandwidth"]
    proven = figure.placement.proven
    assert proven is not None
    proof = msgspec.structs.replace(proven, page_nodes={"0": 1 - share, "1": share})
    placed = msgspec.structs.replace(figure.placement, proven=proof)
    assert part(msgspec.structs.replace(figure, placement=placed), described().topology).nodes == nodes


def _disturbed(launch: Launch, attempt: int) -> LaunchRecords:
    bracket = _bracket(foreign=0.5)
    return LaunchRecords(msgspec.structs.replace(launch, attempt=attempt, bracket=bracket), (), {})


def test_a_disturbed_launch_is_repeated_twice(run: Run) -> None:
    ledger = Ledger(plan_for(study=TRIAD), (), 0.0)
    attempts = [
        ledger.may_repeat(
            msgspec.structs.replace(run.launches[0], launch=_disturbed(run.launches[0].launch, attempt).launch),
            0.1,
            0.0,
        )
        for attempt in range(4)
    ]
    assert attempts == [True, True, False, False], "the launch itself, its first and its second repeat"


@pytest.mark.parametrize(("launches", "most"), [(6, 4), (40, 10)])
def test_repeats_of_a_run_are_four_or_a_quarter_of_its_launches(run: Run, launches: int, most: int) -> None:
    plan = plan_for(study=TRIAD)
    order = tuple(msgspec.structs.replace(plan.order[0], id=f"{at}", block=at) for at in range(launches))
    ledger = Ledger(msgspec.structs.replace(plan, order=order, budget_s=None), (), 0.0)
    first = run.launches[0]
    disturbed = msgspec.structs.replace(first, launch=_disturbed(first.launch, 0).launch)
    made = 0
    while ledger.may_repeat(disturbed, 0.1, 0.0) and made < 100:
        again = msgspec.structs.replace(first, launch=msgspec.structs.replace(first.launch, attempt=1))
        ledger.book(again, {}, 0.1)
        made += 1
    assert made == most


def _named(analysis: Analysis) -> set[str]:
    claims = [
        each.claim for each in analysis.findings if each.rule == "slow_node" and each.status != "not assessed"
    ]
    return {host for host in HOSTS if any(claim.startswith(f"{host} ") for claim in claims)}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("fleet")
    return store.load(simulated_run(folder, EXACT, study=TRIAD, options=Options(hosts=HOSTS)))


def _slower(run: Run, rates: Mapping[str, float], blocks: Sequence[int] = (0, 1, 2)) -> Run:
    """The run with these relative rates of its hosts in some blocks."""

    def change(records: LaunchRecords) -> LaunchRecords:
        if records.launch.block not in blocks:
            return records
        cases = []
        for case in records.cases:
            hosts = {rank.rank: rank.host for rank in case.header.ranks}
            series = tuple(
                msgspec.structs.replace(
                    each, seconds=[second / rates.get(hosts[each.rank], 1.0) for second in each.seconds]
                )
                for each in case.series
            )
            cases.append(msgspec.structs.replace(case, series=series))
        return msgspec.structs.replace(records, cases=tuple(cases))

    return _changed(run, change)


@pytest.mark.parametrize(("rate", "named"), [(0.98, set()), (0.972, set()), (0.968, {"n3"}), (0.8, {"n3"})])
def test_a_node_is_slow_from_3_percent_on_where_the_others_are_equal(
    fleet: Run, rate: float, named: set[str]
) -> None:
    assert _named(analyse(_slower(fleet, {"n3": rate}))) == named


@pytest.mark.parametrize(("rate", "named"), [(0.95, set()), (0.945, set()), (0.935, {"n3"}), (0.9, {"n3"})])
def test_a_node_is_slow_below_six_median_deviations(fleet: Run, rate: float, named: set[str]) -> None:
    """Rates of 1.01, 1, 1 and .99 beside it: their median is 1, the median of the deviations .01."""
    assert _named(analyse(_slower(fleet, {"n1": 1.01, "n2": 0.99, "n3": rate}))) == named


@pytest.mark.parametrize(("blocks", "named"), [((0,), set()), ((2,), set()), ((0, 2), set()), ((0, 1, 2), {"n3"})])
def test_a_node_is_slow_if_its_launches_agree(fleet: Run, blocks: Sequence[int], named: set[str]) -> None:
    assert _named(analyse(_slower(fleet, {"n3": 0.8}, blocks))) == named
