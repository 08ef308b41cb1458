"""Findings of what a run needed beside cores: limits of packages that are gone, folders that stayed."""

import pytest
from msgspec.structs import replace
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.model.resource import OpenedFolder
from assay.model.result import Finding
from assay.model.run import Run
from assay.report import formatting

STUDY = Study("Small", "How?", (Measure("stream", ("one-core",)),), launches=2)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return store.load(simulated_run(tmp_path_factory.mktemp("runs"), study=STUDY))


def _found(run: Run, rule: str) -> list[Finding]:
    return [each for each in analyse(run).findings if each.rule == rule]


def test_a_limit_whose_package_is_gone_is_named_once_for_its_benchmark(run: Run) -> None:
    def foreign(law: str) -> Run:
        declarations = tuple(
            replace(each, metrics=tuple(replace(metric, limit=law) for metric in each.metrics))
            for each in run.plan.declarations
        )
        return replace(run, plan=replace(run.plan, declarations=declarations))

    assert not _found(run, "unknown_limit")
    assert not _found(foreign(""), "unknown_limit")
    (found,) = _found(foreign("flux"), "unknown_limit")
    assert found.id == "unknown_limit:stream:flux"
    limited = {each.id for each in analyse(run).estimates if each.benchmark == "stream" and each.limit}
    assert limited
    assert set(found.evidence) >= limited


def _with_folder(run: Run, *, removed: bool) -> Run:
    folder = OpenedFolder("/scratch/assay-1", "/scratch", "ext4", "", 1, 1, removed=removed)
    launches = []
    for launch in run.launches:
        cases = tuple(
            replace(
                case,
                header=replace(
                    case.header, ranks=tuple(replace(rank, folder=folder) for rank in case.header.ranks)
                ),
            )
            for case in launch.cases
        )
        launches.append(replace(launch, cases=cases))
    return replace(run, launches=tuple(launches))


def test_a_folder_that_stays_is_told_and_one_that_goes_is_not(run: Run) -> None:
    assert not _found(run, "folder_left")
    assert not _found(_with_folder(run, removed=True), "folder_left")
    (found,) = _found(_with_folder(run, removed=False), "folder_left")
    assert (found.severity, found.numbers["statistic"].value) == ("advice", 1)
    assert "/scratch/assay-1" in found.claim


@pytest.mark.parametrize(
    ("value", "lo", "hi", "ends"),
    [
        (607e-9, 547e-9, 17.1e-3, ("547 ns", "17.1 ms")),
        (607e-9, 547e-9, 59e-6, ("547", "59000")),
        (4.01e-3, 35e-6, 4.2e-3, ("35.0 µs", "4.20 ms")),
    ],
)
def test_ends_that_are_far_from_their_figure_have_units_both(
    value: float, lo: float, hi: float, ends: tuple[str, str]
) -> None:
    shown = formatting.interval(Quantity(value, lo, hi, "s", basis="range"), "range")
    assert (shown.lo, shown.hi) == ends
