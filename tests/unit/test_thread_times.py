"""What each thread works by itself: kept from the records, and shown where memory is dealt to nodes."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import SANDY_BRIDGE, simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.plan import Measure, Study
from assay.model.record import Threads
from assay.model.run import LaunchRecords, Run
from assay.report.sections import sections
from assay.simulation import Law

TWO_NODES = "pack:2 numa:1(memory=8GB) l3:1(size=8MB) l2:2(size=512kB) l1:1(size=32kB) core:1 pu:1"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    measure = Measure("himeno", ("all",), ("first-touch", "interleave"), axes={"size": "M", "touch": "serial"})
    study = Study("S", "Q?", (measure,), launches=6)
    return store.load(simulated_run(tmp_path, description=TWO_NODES, study=study))


def timed(launch: LaunchRecords, seconds: tuple[float, ...]) -> LaunchRecords:
    """The launch with 10 iterations in which its threads worked so many seconds."""
    cases = tuple(
        msgspec.structs.replace(each, threads=(Threads("jacobi", 0, 10, seconds),))
        if "jacobi" in each.header.work
        else each
        for each in launch.cases
    )
    return msgspec.structs.replace(launch, cases=cases)


def test_the_time_of_each_thread_is_the_median_over_launches(run: Run) -> None:
    own = [(0.1, 0.1, 0.2 + 0.01 * at, 0.2) for at in range(len(run.launches))]
    launches = tuple(map(timed, run.launches, own))
    found = analyse(msgspec.structs.replace(run, launches=launches))
    (first, *others) = (each for each in found.estimates if each.benchmark == "himeno")
    assert first.threads[0] == pytest.approx(0.01)
    assert 0.02 < first.threads[2] < 0.02 + 0.001 * len(own)
    assert others


@pytest.mark.parametrize(
    ("slow", "cpu", "over"), [({}, 2, 1 / 0.8), ({1: 0.25}, 1, 4 / ((1 + 4 + 2 * 5 / 3) / 4))]
)
def test_the_thread_that_memory_or_its_core_makes_slow_is_named_with_intervals(
    tmp_path: Path, slow: dict[int, float], cpu: int, over: float
) -> None:
    """All pages lie on the node of cpus 0 and 1; the others reach .6 of the rate."""
    measure = Measure("himeno", ("all",), axes={"size": "M", "touch": "serial"})
    study = Study("S", "Q?", (measure,), launches=6)
    law = Law(slow_cores=slow, noise=0.002)
    run = store.load(simulated_run(tmp_path, law, description=TWO_NODES, study=study))
    found = next(each.slowest for each in analyse(run).estimates if each.benchmark == "himeno")
    assert found
    assert found.cpu in {cpu, cpu + (not slow)}
    assert found.over_mean.has_interval
    assert found.over_mean.value == pytest.approx(over, rel=0.02)
    assert found.of_iteration.value == pytest.approx(1, abs=0.01)
    assert found.launches == 6 or not slow


@pytest.mark.parametrize(("remote", "unequal"), [(0.55, "holds"), (1.0, "does not hold")])
def test_whether_the_slowest_thread_decides_is_judged_on_the_run(
    tmp_path: Path, remote: float, unequal: str
) -> None:
    law = Law(core_traffic=10e9, node_traffic=35e9, remote=remote)
    run = store.load(simulated_run(tmp_path, law, description=SANDY_BRIDGE, study="like:hpcdiy-numa"))
    found = analyse(run).repetition
    assert found
    decides, more_equal = (
        next(each for each in found.conclusions if words in each.conclusion.says)
        for words in ("slowest thread decides", "more equal")
    )
    assert decides.truth == "holds"
    assert decides.quantity
    assert decides.quantity.has_interval
    assert (more_equal.truth, more_equal.blocks) == (unequal, run.plan.launches)


def test_where_each_thread_works_a_part_of_a_sweep_no_single_one_decides(run: Run) -> None:
    """Each thread works 75 % of a sweep: another one is the last in each."""
    launches = tuple(timed(each, tuple(0.75 * _sweeps(each, 10) for _ in range(4))) for each in run.launches)
    whole = msgspec.structs.replace(run, launches=launches)
    page = next(each for each in sections(whole, analyse(whole)) if each.id == "first-touch")
    (table,) = (each for each in page.tables if "Slowest on cpu" in [str(column) for column in each.columns])
    assert {str(row[-1]) for row in table.rows} == {"no"}


def _sweeps(launch: LaunchRecords, count: int) -> float:
    """Seconds of so many sweeps of a launch."""
    measured = (
        series
        for case in launch.cases
        for series in case.series
        if series.kernel == "jacobi" and series.phase == "measured"
    )
    return next((count * float(sum(each.seconds)) / len(each.seconds) / each.iterations for each in measured), 1.0)


def test_the_slowest_thread_and_the_memory_of_each_node_stand_in_a_table(run: Run) -> None:
    launches = tuple(timed(each, (0.1, 0.1, 0.3, 0.2)) for each in run.launches)
    whole = msgspec.structs.replace(run, launches=launches)
    page = next(each for each in sections(whole, analyse(whole)) if each.id == "first-touch")
    (table,) = (each for each in page.tables if "Slowest on cpu" in [str(column) for column in each.columns])
    assert [[str(cell) for cell in row[1:6]] for row in table.rows] == [
        ["node 0 100 %", "2", "6 of 6", "30.0 ms", "1.71 [1.71, 1.71]"],
        ["node 0 50 %, node 1 50 %", "2", "6 of 6", "30.0 ms", "1.71 [1.71, 1.71]"],
    ]


def test_launches_with_other_numbers_of_threads_tell_nothing_of_each(run: Run) -> None:
    changed = next(
        at for at, each in enumerate(run.launches) if any("jacobi" in case.header.work for case in each.cases)
    )
    launches = tuple(
        timed(each, (0.1, 0.2, 0.3) if at == changed else (0.1, 0.1, 0.2, 0.2))
        for at, each in enumerate(run.launches)
    )
    found = analyse(msgspec.structs.replace(run, launches=launches))
    numbers = [len(each.threads) for each in found.estimates if each.benchmark == "himeno"]
    assert sorted(set(numbers)) == [0, 4]
