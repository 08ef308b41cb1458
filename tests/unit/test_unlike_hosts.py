"""Hosts of different topology in one run: each is placed by its own machine, and every record proves where."""

import io
from collections.abc import Iterable
from pathlib import Path

import pytest
from rich.console import Console
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.cli.support.plan_page import show
from assay.model.plan import Measure, Study
from assay.model.record import Header
from assay.model.run import Run
from assay.plan import Options
from assay.report import html

pytestmark = pytest.mark.usefixtures("undrawn")

LARGE = "pack:2 numa:2(memory=16GB) l3:2(size=16MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
SMALL = "pack:1 numa:1(memory=8GB) l3:1(size=32MB) l2:2(size=1MB) l1:1(size=32kB) core:2 pu:1"
STUDY = Study(
    "S",
    "Q?",
    (
        Measure("stream", ("all", "one-core")),
        Measure("collective", ("2x2@2", "rank-per:numa@2"), axes={"operation": "allreduce", "bytes": (8, 1024)}),
        Measure("pt2pt", ("one-core@2",), axes={"pattern": "latency", "bytes": 8}),
    ),
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    options = Options(launches=2, hosts=("n1", "n2"))
    folder = tmp_path_factory.mktemp("runs")
    return simulated_run(folder, description=LARGE, study=STUDY, options=options, unlike={"n2": SMALL})


def headers(run: Run, label: str, benchmark: str) -> Iterable[Header]:
    wanted = {case.id for case in run.plan.studied if (case.benchmark, case.placement.label) == (benchmark, label)}
    found = [
        each.header
        for launch in run.launches
        for each in launch.cases
        if each.header and each.header.case in wanted
    ]
    assert found
    return found


def test_ranks_lie_on_each_host_where_its_own_machine_has_room_for_them(path: Path) -> None:
    for header in headers(store.load(path), "2x2@2", "collective"):
        assert [(rank.host, rank.cpus) for rank in header.ranks] == [
            ("n1", (0, 1)),
            ("n1", (16, 17)),
            ("n2", (0, 1)),
            ("n2", (2, 3)),
        ]


def test_hosts_may_have_different_numbers_of_ranks(path: Path) -> None:
    for header in headers(store.load(path), "rank-per:numa@2", "collective"):
        assert [rank.host for rank in header.ranks] == ["n1"] * 4 + ["n2"]
        assert [len(rank.cpus) for rank in header.ranks] == [8, 8, 8, 8, 4]


def test_programs_of_one_process_fill_each_host_by_its_own_cores_and_caches(path: Path) -> None:
    run = store.load(path)
    found = {
        rank.host: (len(rank.cpus), header.params["elements"])
        for header in headers(run, "all", "stream")
        for rank in header.ranks
    }
    assert found == {"n1": (32, 8 * 4 * 16 * 2**20 // 8), "n2": (4, 4 * 32 * 2**20 // 8)}


def test_every_case_is_complete_and_has_figures_of_its_hosts(path: Path) -> None:
    run = store.load(path)
    found = analyse(run)
    assert {outcome.status for outcome in found.outcomes} == {"complete"}
    hosts = {each.placement.hosts for each in found.estimates if each.benchmark == "stream"}
    assert hosts == {("n1",), ("n2",)}
    (laid,) = {each.placement.cpus for each in found.estimates if each.placement.label == "2x2@2"}
    assert laid == ((0, 1, 16, 17), (0, 1, 2, 3))
    assert {each.placement.ranks for each in found.estimates if each.placement.label == "rank-per:numa@2"} == {5}
    assert "n2" in html.render(run, found)


def test_a_plan_shows_the_cpus_of_each_node_where_they_differ(path: Path) -> None:
    plan = store.load(path).plan
    for every in (False, True):
        console = Console(width=120, file=io.StringIO())
        show(plan, console, every=every)
        assert isinstance(console.file, io.StringIO)
        lines = [" ".join(line.split()) for line in console.file.getvalue().splitlines()]
        if every:
            assert any(line.startswith("cpus 0-1,16-17 of n1; 0-3 of n2; needs ") for line in lines)
            assert any(line.startswith("cpus 0; needs ") for line in lines)
        else:
            assert "2x2@2: cpus 0-1,16-17 of n1; 0-3 of n2" in lines
            assert "all: cpus 0-31 of n1; 0-3 of n2" in lines
            assert not any(line.startswith("one-core@2:") for line in lines)
