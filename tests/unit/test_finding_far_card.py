"""Cores far from the network card: what is planted in the simulated machine is found, and nothing else."""

from pathlib import Path

import pytest
from tests.simulation import EPYC_7601, simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.plan import Measure, Study
from assay.model.result import Finding
from assay.plan import Options
from assay.simulation import Law

NETWORKS = {"ib": "mlx5_0:1", "gbe": "eth0"}
NODES = {"ib": 6, "gbe": 0}
SIZES = (0, 8, 1024, 65536, 2**20)


def found(
    folder: Path, far: tuple[float, float], launches: int = 6, machine: str = EPYC_7601, **options: object
) -> list[Finding]:
    """What the rule says of messages from beside the cards and from far of them."""
    words = ("pair:other-node", "one-core:far-nic@2")
    measures = (
        Measure("pt2pt", words, axes={"pattern": "latency", "bytes": SIZES}),
        Measure("pt2pt", words, axes={"pattern": ("bandwidth", "bidirectional"), "bytes": SIZES[1:]}),
    )
    study = Study("Cards", "How far?", measures, launches=launches)
    given = {"networks": NETWORKS, "nic_nodes": NODES} | options
    law = Law(cards={NETWORKS[name]: node for name, node in NODES.items()}, far_card=far)
    wanted = Options(hosts=("n1", "n2"), launches=launches, **given)  # type: ignore[arg-type]
    path = simulated_run(folder, law, description=machine, study=study, options=wanted)
    return [each for each in analyse(store.load(path)).findings if each.rule == "far_card"]


def test_nothing_is_said_where_far_cores_lose_nothing_that_matters(tmp_path: Path) -> None:
    assert found(tmp_path, (0.05e-6, 0.98)) == []


def test_what_the_far_socket_costs_is_found_on_each_network(tmp_path: Path) -> None:
    findings = found(tmp_path, (0.3e-6, 0.55))
    assert {each.status for each in findings} == {"observed"}
    by_network = {name: [each for each in findings if f"network={name}" in each.claim] for name in NETWORKS}
    assert {name: len(each) for name, each in by_network.items()} == {"ib": 3, "gbe": 3}
    for each in findings:
        statistic, threshold = each.numbers["statistic"], each.numbers["threshold"]
        if statistic.unit == "s":
            assert threshold.value == 0.2e-6
            assert statistic.lo > threshold.value
        else:
            assert threshold.value == 0.95
            assert statistic.value == pytest.approx(0.55, abs=0.03)
            assert statistic.hi < threshold.value
    assert {each.next.rpartition("NUMA node ")[2].partition(",")[0] for each in by_network["ib"]} == {"6"}


def test_latency_alone_is_found_alone(tmp_path: Path) -> None:
    findings = found(tmp_path, (0.3e-6, 1.0))
    small = [each for each in findings if each.numbers["statistic"].unit == "s"]
    assert len(small) == 2
    for each in small:  # both ends are far
        assert each.numbers["statistic"].value > 0.55e-6


def test_three_launches_make_a_candidate_with_its_experiment(tmp_path: Path) -> None:
    findings = found(tmp_path, (0.5e-6, 0.55), launches=3)
    assert {each.status for each in findings} == {"candidate"}
    assert all(each.experiment for each in findings)


def test_it_is_not_assessed_where_nobody_knows_the_card_or_all_cores_are_beside_it(tmp_path: Path) -> None:
    (unknown,) = found(tmp_path / "a", (0.0, 1.0), nic_nodes={})
    one_node = "pack:1 numa:1(memory=8GB) l3:1(size=32MB) core:2 pu:1"
    (alone,) = found(tmp_path / "b", (0.0, 1.0), machine=one_node, nic_nodes={"": 0})
    assert {unknown.status, alone.status} == {"not assessed"}
    assert (bool(unknown.next), alone.next) == (True, "")
