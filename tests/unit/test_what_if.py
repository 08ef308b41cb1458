"""Another network or more nodes: predicted from one network alone, then measured."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from tests.simulation import TWO_CORES, simulated_run
from tests.unit.test_hpl import WITH_BLAS

from assay import store
from assay.analyse import analyse, examine
from assay.cli import assay
from assay.model.plan import Measure, Study
from assay.plan.beyond import on_nodes
from assay.simulation import Law, Link
from assay.topics.scaling.what_if import WhatIf, measured_networks, on_cases, over_network, stated_network

FAST, SLOW = Link(1.6e-6, 12e9, 12.3e9), Link(2e-5, 1.1e9, 1.1e9)
LAW = Law(links={**Law().links, "eth0": FAST, "eth1": SLOW})
NODES = tuple(f"n{number}" for number in range(1, 9))
STUDY = Study(
    "Networks",
    "What does a network cost?",
    (
        Measure("himeno_mpi", ("all@1,2",), axes={"size": "S"}),
        Measure("weather", ("all@1,2",), axes={"nx": 400}),
        Measure("hpl", ("1x1@1,2",), axes={"n": (2048, 4096)}),
        Measure("pt2pt", ("pair:other-node",), axes={"pattern": "latency", "bytes": (0, "8:4M")}, weight=0.01),
        Measure("overlap", ("pair:other-node",), axes={"operation": "bcast", "bytes": 1 << 20, "tests": 100}),
    ),
    launches=6,
)


def run_over(folder: Path, device: str, study: Study = STUDY) -> Path:
    options = msgspec.structs.replace(WITH_BLAS, hosts=NODES[:2], networks={"net": device})
    return simulated_run(folder, LAW, description=TWO_CORES, study=study, options=options)


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_over(tmp_path_factory.mktemp("fast"), "eth0")


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_over(tmp_path_factory.mktemp("slow"), "eth1")


def by_case(found: tuple[WhatIf, ...]) -> dict[str, WhatIf]:
    return {each.case: each for each in found}


def test_another_network_is_predicted_from_one_alone(fast: Path, slow: Path) -> None:
    known = examine(store.load(fast))
    found = by_case(over_network(known, stated_network(SLOW.latency_s, SLOW.rate)))
    there = {
        (each.case, each.metric): each.value
        for each in analyse(store.load(slow)).estimates
        if each.placement.nodes > 1
    }
    assert {each.benchmark for each in found.values()} == {"himeno_mpi", "weather", "hpl"}
    for case, each in found.items():
        measured = there[case, each.metric]
        assert measured
        assert each.predicted.value == pytest.approx(measured.value, rel=0.06), case
        assert each.messages_before is not None
        assert each.messages_after is not None
        assert each.messages_before < each.messages_after


def test_what_messages_take_from_computing_is_known_where_it_was_measured(fast: Path, tmp_path: Path) -> None:
    """Nothing of a message is hidden over the slow network, and nobody can know that from the fast one."""
    law = replace(LAW, overlapped=(0.0, 0.0))
    options = msgspec.structs.replace(WITH_BLAS, hosts=NODES[:2], networks={"net": "eth1"})
    there = store.load(simulated_run(tmp_path, law, description=TWO_CORES, study=STUDY, options=options))
    (network,) = measured_networks(examine(there)).values()
    known = examine(store.load(fast))
    told, untold = (by_case(over_network(known, each)) for each in (network, network._replace(overlaps=())))
    rates = [each for each in analyse(there).estimates if each.benchmark == "hpl" and each.kernel == "rate"]
    compared = [each for each in rates if each.value and each.placement.nodes > 1]
    assert len(compared) == 2
    for each in compared:
        assert each.value
        assert told[each.case].predicted.value == pytest.approx(each.value.value, rel=0.06)
        assert untold[each.case].predicted.value > 1.06 * each.value.value
        assert untold[each.case].predicted.lo < each.value.hi


def test_the_same_network_changes_nothing(fast: Path) -> None:
    known = examine(store.load(fast))
    for each in over_network(known, stated_network(FAST.latency_s, FAST.rate)):
        if each.benchmark != "hpl":
            assert each.measured
            assert each.predicted.value == pytest.approx(each.measured.value, rel=0.01)


def test_more_nodes_are_predicted_as_they_are_measured_later(fast: Path, tmp_path: Path) -> None:
    run = store.load(fast)
    found = by_case(on_cases(examine(run), on_nodes(run.plan, run.machines, 4)))
    study = msgspec.structs.replace(
        STUDY,
        measure=tuple(
            msgspec.structs.replace(each, placements=tuple(word.replace("@1,2", "@4") for word in each.placements))
            for each in STUDY.measure[:2]
        ),
    )
    options = msgspec.structs.replace(WITH_BLAS, hosts=NODES[:4], networks={"net": "eth0"})
    there = analyse(store.load(simulated_run(tmp_path, LAW, study=study, options=options))).estimates
    checked = 0
    for estimate in there:
        for each in found.values():
            if (each.benchmark, each.metric) == (estimate.benchmark, estimate.metric) and estimate.value:
                assert each.predicted.lo <= estimate.value.hi
                assert each.predicted.hi >= estimate.value.lo
                checked += 1
    assert checked == 2


def command(*words: str) -> tuple[int, str]:
    answer = CliRunner().invoke(assay, ["predict", *words])
    return answer.exit_code, answer.output or str(answer.exception)


def test_the_command_prints_a_row_for_each_case(fast: Path, slow: Path) -> None:
    code, page = command(str(fast), "--network", "latency=20us bandwidth=1.1GB/s")
    assert code == 0, page
    assert "weather" in page
    code, page = command(str(fast), "--network", str(slow), "--json")
    assert code == 0, page
    assert {each["benchmark"] for each in json.loads(page)["predictions"]} == {"himeno_mpi", "weather", "hpl"}


def test_one_of_several_networks_must_be_named(fast: Path, tmp_path: Path) -> None:
    networks = {"quick": "eth0", "slow": "eth1"}
    study = msgspec.structs.replace(STUDY, measure=STUDY.measure[3:], launches=2)
    options = msgspec.structs.replace(WITH_BLAS, hosts=NODES[:2], networks=networks)
    both = simulated_run(tmp_path, LAW, description=TWO_CORES, study=study, options=options)
    networks_of = measured_networks(examine(store.load(both)))
    assert list(networks_of) == list(networks)
    quick, slow = networks_of["quick"].law.rate, networks_of["slow"].law.rate
    assert quick
    assert slow
    assert quick.value > slow.value
    code, page = command(str(fast), "--network", str(both))
    assert code != 0
    assert "the networks quick, slow" in page
    for name in ("other", "12:30", "of:slow", "nodes=2:12"):
        both = both.rename(tmp_path / name)
        assert "the networks quick, slow" in command(str(fast), "--network", str(both))[1]
        assert command(str(fast), "--network", f"{both}:slow")[0] == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "for another network, or for more nodes"),
        (("--network", "latency=1us bandwidth=1GB/s", "--nodes", "4"), "for another network, or for more nodes"),
        (("--network", "latency=1us"), "is not a network"),
        (("--network", "latency=1us bandwidth=0GB/s"), "is not a network"),
        (("--network", "latency=1us bandwidth=10ns"), "is not a network"),
        (("--nodes", "16"), "8 times as many"),
    ],
)
def test_an_impossible_prediction_is_refused(fast: Path, words: tuple[str, ...], why: str) -> None:
    code, page = command(str(fast), *words)
    assert code != 0
    assert why in page


def test_far_predictions_must_be_requested(fast: Path) -> None:
    code, page = command(str(fast), "--nodes", "16", "--far")
    assert code == 0, page
    assert "@16" in page


def test_a_run_without_messages_predicts_no_network(tmp_path: Path) -> None:
    path = simulated_run(tmp_path, Law(), study="quick")
    code, page = command(str(path), "--network", "latency=1us bandwidth=1GB/s")
    assert code != 0
    assert "cannot predict this" in page


def test_four_times_the_most_nodes_of_the_run_are_predicted_without_a_request(tmp_path: Path) -> None:
    """One benchmark ran on three nodes and the other on two: three count."""
    study = Study(
        "Nodes",
        "?",
        (
            Measure("himeno_mpi", ("1x1@1,2",), axes={"size": "XS"}),
            Measure("weather", ("1x1@1,2,3",), axes={"nx": 400}),
            Measure("pt2pt", ("pair:other-node",), axes={"pattern": "latency", "bytes": (8, 512, 32768, "1M")}),
        ),
        launches=2,
    )
    options = msgspec.structs.replace(WITH_BLAS, hosts=NODES[:3])
    path = str(simulated_run(tmp_path, LAW, description=TWO_CORES, study=study, options=options))
    code, page = command(path, "--nodes", "12")
    assert code == 0, page
    code, page = command(path, "--nodes", "13")
    assert code != 0
    assert "13 nodes are 4 times as many as the run has" in page
