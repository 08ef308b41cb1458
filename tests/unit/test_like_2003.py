"""Every row of the studies of 2003 and 2004, on clusters of their shape: compared, or refused for a reason."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import pytest
from tests.simulation import plan_for, simulated_run
from tests.unit.test_hpl import WITH_BLAS

from assay import store
from assay.analyse import examine, imported, repetition
from assay.compare.runs import between
from assay.model.grouping import grouped
from assay.model.plan import Factor, Plan
from assay.model.run import Run
from assay.simulation import Law, Link

#: A node of 1 GiB with two processors of one core, and one with a single one.
TWO = "pack:2 numa:1(memory=512MB) l2:1(size=512kB) core:1 pu:1"
ONE = "pack:1 numa:1(memory=512MB) l2:1(size=512kB) core:1 pu:1"
MTU = Factor("mtu", ("1500", "4075"), "commands", commands={"1500": "mtu 1500", "4075": "mtu 4075"})
FRAMES = {"mtu 1500": 1.0, "mtu 4075": 1.04}


class System(NamedTuple):
    """A cluster: its node, their number, what is true of it, what the command line says, and its unlike nodes."""

    node: str
    nodes: int
    law: Law
    options: Mapping[str, Any] = MappingProxyType({})
    unlike: Mapping[str, str] = MappingProxyType({})


def links(**networks: Link) -> Law:
    """Messages between the processors of a node as between two of VTPCC, and over these devices."""
    return Law(links={"package": Link(5e-6, 312e6, 312e6), **networks}, tcp=(0.9, 0.85), commands=FRAMES)


SYSTEMS = {
    "leo": System(
        TWO,
        12,
        links(sci0=Link(3.9e-6, 250e6, 300e6), eth0=Link(140e-6, 10e6, 12e6)),
        {"networks": {"eth0-net": "eth0", "fast": "sci0"}, "toolchains": ("gcc", "clang")},
    ),
    "sci": System(TWO, 16, links(host=Link(5.9e-6, 83e6, 90e6))),
    "vtpcc": System(TWO, 8, links(host=Link(5e-5, 100e6, 112e6))),
    "cs-pccluster2": System(
        ONE,
        8,
        links(eth0=Link(6e-5, 37e6, 40e6), eth1=Link(9e-5, 11e6, 12e6)),
        {"networks": {"second": "eth1", "first": "eth0"}, "factors": (MTU,)},
        {"n1": ONE.replace("512MB", "1GB")},
    ),
}
#: Reference -> its figures, those that are compared, and why the others are not.
ROWS = {
    "leo": (26, 22, {"it needs the other system: sci": 3, "it needs 4 GiB of memory; 1 GiB may be used": 1}),
    "sci": (5, 5, {}),
    "vtpcc": (9, 9, {}),
    "cs-pccluster2": (
        11,
        6,
        {
            "it needs system Windows": 3,
            "it needs two operating systems: Vine Linux and Windows": 1,
            "it needs the other system: vtpcc": 1,
        },
    ),
}


def made(name: str, folder: Path) -> tuple[Run, list[str]]:
    """The simulated run of `like:NAME`, and the ids of the reference's figures."""
    system = SYSTEMS[name]
    hosts = tuple(f"n{number}" for number in range(1, system.nodes + 1))
    options = msgspec.structs.replace(WITH_BLAS, hosts=hosts, launches=2, **system.options)
    path = simulated_run(
        folder, system.law, description=system.node, study=f"like:{name}", options=options, unlike=system.unlike
    )
    source = store.load(store.find(name))
    assert source.imported
    figures = [each.estimate.id for each in imported.measured(source, source.imported)]
    return store.load(path), figures


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_figure_is_compared_or_refused_for_a_physical_reason(name: str, tmp_path: Path) -> None:
    run, figures = made(name, tmp_path)
    stored, met, refused = ROWS[name]
    assert len(figures) == len(set(figures)) == stored
    rows = repetition.repeated(examine(run), name).rows
    assert sum(row.figures for row in rows if row.ours) == met
    reasons = [row.reason for row in rows for _ in range(row.figures) if not row.ours]
    assert {reason: reasons.count(reason) for reason in reasons} == refused


def test_what_one_run_cannot_tell_is_refused_by_what_it_lacks(tmp_path: Path) -> None:
    """One kind of frames, one network, and one node of each pair."""
    options = msgspec.structs.replace(WITH_BLAS, hosts=("n1", "n2"), launches=2)
    path = simulated_run(
        tmp_path, SYSTEMS["sci"].law, description=ONE, study="like:cs-pccluster2", options=options
    )
    source = store.load(store.find("cs-pccluster2"))
    refused = between(store.load(path), source).uncompared
    reasons = [why for name, why in refused.items() if "jumbo" in name]
    assert sum(why.startswith("it needs two levels of mtu: assay run like:cs-pccluster2 ") for why in reasons) == 2
    assert reasons.count("it needs system Windows") == 1


def sizes(plan: Plan, placement: str, pattern: str) -> set[int]:
    cases = (case for case in plan.studied if case.benchmark == "pt2pt" and case.placement.label == placement)
    return {int(case.params["bytes"]) for case in cases if case.params["pattern"] == pattern}


def test_the_curves_of_the_pictures_are_measured_whole() -> None:
    hosts = tuple(f"n{number}" for number in range(1, 13))
    plan = plan_for(TWO, "like:leo", msgspec.structs.replace(WITH_BLAS, hosts=hosts))
    assert sizes(plan, "one-core@2", "latency") == {0, *(2**power for power in range(9))}
    large = {2**power for power in range(10, 25)}
    assert sizes(plan, "one-core@2", "bandwidth") == sizes(plan, "one-core@2", "bidirectional") == large
    assert sizes(plan, "pair:other-socket", "bandwidth") == large
    orders = grouped((case for case in plan.studied if case.benchmark == "hpl"), lambda case: case.placement.label)
    for label in ("2x1@2", "2x1@6", "2x1@12"):
        found = {int(case.params["n"]) for case in orders[label]}
        assert {1000, 2000, 5000, 10000} < found
        assert max(case.memory_bytes for case in orders[label]) > 0.75 * 2**30, "the largest fills the memory"
    mixes = {case.params["mix"] for case in plan.studied if case.benchmark == "flops_plain"}
    assert mixes == {f"mix-{number}" for number in range(1, 9)}


@pytest.mark.parametrize(("name", "networks"), [("vtpcc", 2), ("cs-pccluster2", 1)])
def test_netpipe_is_measured_whole(name: str, networks: int) -> None:
    """From 1 B to 8 MiB between nodes, inside a node where it has two processors, and by copies hot and cold."""
    plan = plan_for(SYSTEMS[name].node, f"like:{name}", msgspec.structs.replace(WITH_BLAS, hosts=("n1", "n2")))
    curves = grouped(
        plan.studied,
        lambda case: (case.benchmark, case.placement.label, case.params.get("buffers") == "cold"),
    )
    of_messages = [found for (benchmark, *_), found in curves.items() if benchmark != "memcpy"]
    assert len(of_messages) == 2 * networks
    for found in (*of_messages, curves["memcpy", "one-core", False], curves["memcpy", "one-core", True]):
        assert {2**power for power in range(24)} == {int(case.params["bytes"]) for case in found}
