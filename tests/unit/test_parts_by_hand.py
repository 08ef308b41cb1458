"""Which part of a machine a figure is of: the scopes and names of cores and memory nodes, by hand."""

from collections.abc import Collection

import msgspec
import pytest
from tests.simulation import described
from tests.unit.report_example import estimate

from assay.analyse.parts import Part, drives, name_of_nodes, part, scope_of_cores, scope_of_nodes
from assay.model.machine import Topology
from assay.model.placed import Placed, Proof

#: Two packages, each of two memory nodes, each of two cores with two threads.
TOPOLOGY = described("pack:2 numa:2(memory=8GB) l3:1(size=8MB) l2:2(size=1MB) core:1 pu:2").topology


def placed(*cpus: int, memory: str = "first-touch", pages: dict[str, float] | None = None) -> Placed:
    proof = Proof((cpus,), pages, as_asked=True) if pages else None
    return Placed("label", ("n1",), (cpus,) if cpus else (), memory, proof)


@pytest.mark.parametrize(
    ("place", "cores", "nodes"),
    [
        (placed(0, 1), {0}, {0}),
        (placed(0, 2), {0, 1}, {0}),
        (placed(1, 15), {0, 7}, {0, 3}),
        (placed(0, memory="bind:2"), {0}, {2}),
        (placed(0, memory="bind:2", pages={"2": 0.01, "3": 0.99}), {0}, {2, 3}),
        (placed(0, memory="bind:2", pages={"2": 0.0099, "3": 0.99}), {0}, {3}),
        (placed(0, memory="bind:2", pages={"2": 0.0014, "3": 0.0014}), {0}, {2}),
        (placed(), set(), set()),
    ],
)
def test_a_part_is_its_cores_and_the_nodes_of_its_pages(
    place: Placed, cores: Collection[int], nodes: Collection[int]
) -> None:
    found = part(estimate("stream/all/x", "triad", 1.0, placement=place), TOPOLOGY)
    assert found == Part(frozenset(cores), frozenset(nodes))


@pytest.mark.parametrize(
    ("cores", "scope"),
    [
        (range(8), "machine"),
        (range(4), "package"),
        (range(4, 8), "package"),
        ((2, 3), "numa-node"),
        ((1, 2), "cores"),
        ((2,), "core"),
        (range(5), "cores"),
    ],
)
def test_cores_are_named_by_the_unit_that_they_fill(cores: Collection[int], scope: str) -> None:
    assert scope_of_cores(frozenset(cores), TOPOLOGY) == scope


@pytest.mark.parametrize(
    ("nodes", "scope", "name"),
    [
        ((0, 1, 2, 3), "machine", "the whole node"),
        ((0, 1), "package", "package 0"),
        ((2, 3), "package", "package 1"),
        ((3,), "numa-node", "NUMA node 3"),
        ((2, 1), "numa-nodes", "NUMA nodes 1, 2"),
        ((0, 2, 3), "numa-nodes", "NUMA nodes 0, 2, 3"),
    ],
)
def test_memory_nodes_are_named_by_the_package_that_they_fill(
    nodes: Collection[int], scope: str, name: str
) -> None:
    assert scope_of_nodes(frozenset(nodes), TOPOLOGY) == scope
    assert str(name_of_nodes(frozenset(nodes), TOPOLOGY)) == name


def without_cores(topology: Topology, node: int) -> Topology:
    nodes = tuple(
        msgspec.structs.replace(each, cpus=() if each.index == node else each.cpus) for each in topology.numa_nodes
    )
    cores = tuple(each for each in topology.cores if each.numa != node)
    return msgspec.structs.replace(topology, numa_nodes=nodes, cores=cores)


def test_nodes_without_cores_are_no_part_of_the_whole() -> None:
    topology = without_cores(TOPOLOGY, 3)
    assert scope_of_nodes(frozenset({0, 1, 2}), topology) == "machine"
    assert scope_of_nodes(frozenset({2}), topology) == "package"
    assert scope_of_nodes(frozenset({3}), topology) == "numa-node"


@pytest.mark.parametrize(
    ("cores", "nodes", "enough"),
    [
        (range(2), (0,), True),
        (range(1), (0,), False),
        (range(4), (0, 1), True),
        (range(3), (0, 1), False),
        (range(2), (0, 1), False),
    ],
)
def test_as_many_cores_as_belong_to_the_memory_may_fill_it(
    cores: Collection[int], nodes: Collection[int], *, enough: bool
) -> None:
    assert drives(Part(frozenset(cores), frozenset(nodes)), TOPOLOGY) == enough


@pytest.mark.parametrize(("cores", "enough"), [(1, False), (2, True)])
def test_memory_without_cores_of_its_own_needs_those_of_the_smallest_node(cores: int, *, enough: bool) -> None:
    topology = without_cores(TOPOLOGY, 3)
    fewer = msgspec.structs.replace(topology, cores=(*topology.cores, topology.cores[0]))
    assert drives(Part(frozenset(range(cores)), frozenset({3})), fewer) == enough
