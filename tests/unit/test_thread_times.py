"""What each thread works by itself: kept from the records, and shown where memory is dealt to nodes."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.plan import Measure, Study
from assay.model.record import Threads
from assay.model.run import LaunchRecords, Run
from assay.report.sections import sections

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
    assert not any(each.threads for each in analyse(run).estimates)


def test_the_slowest_thread_and_the_memory_of_each_node_stand_in_the_table_of_interleaving(run: Run) -> None:
    launches = tuple(timed(each, (0.1, 0.1, 0.3, 0.2)) for each in run.launches)
    whole = msgspec.structs.replace(run, launches=launches)
    page = next(each for each in sections(whole, analyse(whole)) if each.id == "first-touch")
    (table,) = (each for each in page.tables if "Slowest thread" in [str(column) for column in each.columns])
    assert [[str(cell) for cell in row] for row in table.rows] == [
        ["none", "node 0 100 %", "30.0 ms", "15.0 ms", "2.00", "2"],
        ["interleave", "node 0 50 %, node 1 50 %", "30.0 ms", "15.0 ms", "2.00", "2"],
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
