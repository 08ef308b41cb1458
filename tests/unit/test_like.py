"""The study like:REFERENCE: its rows, on machines of the shape of each published system."""

import json

import msgspec
import pytest
from click.testing import CliRunner
from tests.simulation import EPYC_7601, TWO_CORES, plan_for
from tests.unit.test_hpl import WITH_BLAS

from assay import references, studies
from assay.cli import assay
from assay.model import benchmarks
from assay.model.errors import UsageError
from assay.model.imported import UNSTATED
from assay.model.plan import Plan

_PAIR = "pack:2 numa:1(memory=512MB) l2:1(size=512kB) core:1 pu:1"
#: Reference -> a node of its shape, and how many it has.
SHAPES = {
    "cs-pccluster2": ("pack:1 numa:1(memory=1GB) l2:1(size=512kB) core:1 pu:1", 8),
    "epyc-7601": (EPYC_7601.replace("memory=16GB", "memory=64GB"), 1),
    "hpcdiy-gbe": ("pack:2 numa:1(memory=32GB) l3:1(size=20MB) core:8 pu:1", 2),
    "hpcdiy-numa": ("pack:2 numa:1(memory=32GB) l3:1(size=20MB) core:8 pu:1", 1),
    "hpcdiy-qdr": ("pack:2 numa:1(memory=32GB) l3:1(size=20MB) core:8 pu:1", 2),
    "leo": (_PAIR, 12),
    "sci": (_PAIR, 18),
    "vtpcc": ("pack:1 numa:1(memory=1GB) l2:1(size=512kB) core:1 pu:1", 8),
}


def planned(name: str) -> Plan:
    shape, nodes = SHAPES[name]
    hosts = tuple(f"n{number}" for number in range(1, nodes + 1))
    return plan_for(shape, studies.get(f"like:{name}"), msgspec.structs.replace(WITH_BLAS, hosts=hosts))


@pytest.mark.parametrize("name", references.names())
def test_every_reference_plans_on_a_machine_of_its_shape(name: str) -> None:
    plan = planned(name)
    known = {table.benchmark for table in references.get(name).tables} & set(benchmarks.names())
    assert plan.studied
    assert {case.benchmark for case in plan.studied} <= known
    assert all(left.reason for left in plan.left_out)


def test_every_row_is_planned_or_left_out_with_its_reason() -> None:
    """Of the cluster LEO: its orders, its speed-ups, and what Assay has no benchmark for."""
    plan = planned("leo")
    systems = {(case.placement.label, case.params.get("n")) for case in plan.studied if case.benchmark == "hpl"}
    assert {("one-core", 10000), ("1x1@2", 10000), ("2x1@1", 10000), ("1x1@12", 10000)} <= systems
    wishes = {left.wish: left.reason for left in plan.left_out}
    assert "Assay has no benchmark 'priroda'" in wishes.values()
    assert "network=SCI" in wishes
    assert any("follows from other figures" in reason for reason in wishes.values())


def test_sizes_of_a_row_are_those_of_the_source() -> None:
    plan = planned("hpcdiy-gbe")
    (table, *_) = references.get("hpcdiy-gbe").tables
    wanted = {figure.params["bytes"] for figure in table.figures}
    having = {case.params["bytes"] for case in plan.studied if case.params["pattern"] == "bandwidth"}
    assert table.placement != UNSTATED
    assert having == wanted


def test_on_one_node_of_two_cores_what_needs_more_is_left_out() -> None:
    plan = plan_for(TWO_CORES, studies.get("like:leo"), WITH_BLAS)
    assert {case.benchmark for case in plan.studied} >= {"hpl", "linpack_fortran"}
    assert any(left.nodes for left in plan.left_out)


def test_unknown_references_are_refused() -> None:
    with pytest.raises(UsageError, match="no reference"):
        studies.get("like:nothing")
    with pytest.raises(UsageError, match="not swept"):
        studies.get("like:leo", ("ranks=1",))


def test_the_plan_command_says_what_cannot_be_done() -> None:
    machine = "numa:1(memory=8GB) core:2"
    answer = CliRunner().invoke(assay, ["plan", "like:leo", "--synthetic", machine, "--json"])
    assert answer.exit_code == 0, answer.output
    assert "no benchmark 'priroda'" in answer.output
    plan = json.loads(answer.output)
    known = {case["benchmark"] for case in plan["cases"]}
    assert "hpl" in known, "nobody knows that the described machine has no BLAS"
