"""Topology: the laws that hold on every machine, and the counts of those we know."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import machine
from assay.machine import hwloc
from assay.machine.topology import Cpus, Node, Parts, assemble
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.machine import Cache, Topology

needs_hwloc = pytest.mark.skipif(hwloc.library() is None, reason="libhwloc is not installed")


def counts(topology: Topology) -> tuple[int, int, int, int, int]:
    groups = {core.l3 for core in topology.cores}
    return (len(topology.packages), len(topology.numa_nodes), len(groups), len(topology.cores), topology.smt)


@needs_hwloc
@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("pack:2 numa:4 l3:2 core:4 pu:1", (2, 8, 16, 64, 1)),  # dual EPYC 7601
        ("pack:2 numa:4(memory=32GB) l3:4(size=32MB) l2:4 core:1 pu:2", (2, 8, 32, 128, 2)),
        ("socket:2 node:4 core:2", (2, 8, 8, 16, 1)),
        ("Package:1 NUMANode:2 L3Cache:1 Core:2 PU:2", (1, 2, 2, 4, 2)),
        ("pack:2 core:64 pu:2", (2, 1, 1, 128, 2)),
        ("core:1 pu:1", (1, 1, 1, 1, 1)),
        ("2 2", (1, 2, 2, 4, 1)),
    ],
)
def test_a_description_has_the_packages_nodes_cache_groups_cores_and_threads_it_names(
    description: str, expected: tuple[int, int, int, int, int]
) -> None:
    assert counts(machine.synthetic(description).topology) == expected


@needs_hwloc
def test_a_die_of_the_dual_epyc_has_two_core_complexes_of_four_cores() -> None:
    topology = machine.synthetic("pack:2 numa:4 l3:2 core:4 pu:1").topology
    die = [core for core in topology.cores if core.numa == 5]
    assert [core.cpus for core in die] == [(cpu,) for cpu in range(40, 48)]
    assert [core.l3 for core in die] == [10] * 4 + [11] * 4
    assert {core.package for core in die} == {1}


@needs_hwloc
def test_memory_that_a_description_leaves_out_is_said_to_be_assumed() -> None:
    assert machine.synthetic("numa:2 core:2 pu:1").memory.guessed
    given_sizes = machine.synthetic("numa:2(memory=4GB) core:2 pu:1").memory
    assert given_sizes.value == 2 * 4 * 2**30
    assert not given_sizes.guessed


@needs_hwloc
@pytest.mark.parametrize("description", ["", "   ", "a machine", "pack:two core:1", "pack:2 flux:3 pu:1", "pu:0"])
def test_a_wrong_description_is_refused_with_one_that_works(description: str) -> None:
    with pytest.raises(UsageError) as refused:
        machine.synthetic(description)
    example = refused.value.remedy.split('"')[1]
    assert counts(machine.synthetic(example).topology) == (2, 8, 16, 64, 1)


def test_a_description_without_libhwloc_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hwloc, "library", lambda: None)
    with pytest.raises(UnfitEnvironmentError, match="description") as unfit:
        machine.synthetic("core:2 pu:1")
    assert "hwloc" in unfit.value.remedy


def cache(level: int, size: int, *cpus: int) -> Cache:
    return Cache(level, "data" if level == 1 else "unified", size, 64, cpus)


def test_without_an_l3_cores_are_grouped_by_the_largest_cache_that_several_share() -> None:
    parts = Parts(
        cpus=Cpus(range(4)),
        caches=(cache(1, 32, 0), cache(1, 32, 1), cache(2, 1024, 0, 1), cache(2, 1024, 2, 3)),
    )
    assert [core.l3 for core in assemble(parts).cores] == [0, 0, 1, 1]


def test_without_a_shared_cache_cores_are_grouped_by_memory_node() -> None:
    nodes = (Node(0, 1, Cpus({0, 1})), Node(1, 1, Cpus({2, 3})))
    parts = Parts(cpus=Cpus(range(4)), nodes=nodes, caches=tuple(cache(2, 1024, cpu) for cpu in range(4)))
    assert [core.l3 for core in assemble(parts).cores] == [0, 0, 1, 1]


def test_an_l3_that_serves_one_core_is_a_group_although_larger_caches_are_shared() -> None:
    parts = Parts(cpus=Cpus({0, 1}), caches=(cache(3, 100, 0), cache(3, 100, 1), cache(4, 9999, 0, 1)))
    assert [core.l3 for core in assemble(parts).cores] == [0, 1]


def test_cores_of_a_node_without_memory_take_the_nearest_node_that_has_some() -> None:
    nodes = (Node(0, 0, Cpus({0, 1})), Node(1, 8, Cpus({2})), Node(2, 8, Cpus({3})))
    far_first = {(0, 0): 10, (0, 1): 32, (0, 2): 16}
    cores = assemble(Parts(cpus=Cpus(range(4)), nodes=nodes, distances=far_first)).cores
    assert [core.numa for core in cores] == [2, 2, 1, 2]


def test_a_node_around_the_cpus_of_a_tighter_one_is_memory_only() -> None:
    nodes = (Node(0, 8, Cpus({0, 1})), Node(1, 8, Cpus({2, 3})), Node(2, 99, Cpus(range(4))))
    topology = assemble(Parts(cpus=Cpus(range(4)), nodes=nodes))
    assert [node.cpus for node in topology.numa_nodes] == [(0, 1), (2, 3), ()]


def test_distances_that_leave_a_node_out_are_not_told() -> None:
    nodes = (Node(0, 8, Cpus({0})), Node(1, 8, Cpus({1})))
    assert assemble(Parts(cpus=Cpus({0, 1}), nodes=nodes, distances={(0, 0): 10})).distances == ()


def test_without_packages_and_nodes_the_machine_is_one_of_each() -> None:
    topology = assemble(Parts(cpus=Cpus({0, 3})))
    assert topology.packages == ((0, 3),)
    assert [(node.index, node.cpus, node.package) for node in topology.numa_nodes] == [(0, (0, 3), 0)]
    assert [core.cpus for core in topology.cores] == [(0,), (3,)]


cpu_sets = st.frozensets(st.integers(0, 12), max_size=6)
anything = st.builds(
    Parts,
    cpus=st.frozensets(st.integers(0, 9), min_size=1),
    cores=st.lists(cpu_sets, max_size=6).map(tuple),
    packages=st.lists(cpu_sets, max_size=3).map(tuple),
    nodes=st.lists(
        st.builds(Node, st.integers(0, 4), st.integers(0, 2), cpu_sets, st.booleans()),
        max_size=4,
        unique_by=lambda node: node.index,
    ).map(tuple),
    caches=st.lists(
        st.builds(
            Cache,
            st.integers(1, 4),
            st.sampled_from(["data", "instruction", "unified"]),
            st.integers(1, 4),
            st.just(64),
            cpu_sets.map(lambda cpus: tuple(sorted(cpus))),
        ),
        max_size=6,
    ).map(tuple),
    allowed_cpus=st.none() | cpu_sets,
    allowed_nodes=st.none() | cpu_sets,
)


@given(anything)
def test_every_cpu_is_in_exactly_one_core_and_one_package_and_at_most_one_node(parts: Parts) -> None:
    topology = assemble(parts)
    everyone = sorted(parts.cpus)
    assert sorted(cpu for core in topology.cores for cpu in core.cpus) == everyone
    assert sorted(cpu for package in topology.packages for cpu in package) == everyone
    at_home = [cpu for node in topology.numa_nodes for cpu in node.cpus]
    assert len(at_home) == len(set(at_home))
    assert set(topology.allowed_cpus) <= set(everyone)


@given(anything)
def test_cores_are_numbered_in_order_and_refer_to_what_exists(parts: Parts) -> None:
    topology = assemble(parts)
    assert [core.index for core in topology.cores] == list(range(len(topology.cores)))
    groups = [core.l3 for core in topology.cores]
    assert set(groups) == set(range(len(set(groups))))
    indices = [node.index for node in topology.numa_nodes]
    assert indices == sorted(set(indices))
    for core in topology.cores:
        assert core.numa in indices
        assert core.cpus[0] in topology.packages[core.package]
    assert set(topology.allowed_nodes) <= set(indices)


@given(anything, st.data())
def test_the_order_in_which_nodes_were_read_does_not_matter(parts: Parts, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(parts.nodes))
    assert assemble(replace(parts, nodes=tuple(shuffled))) == assemble(parts)


def test_sizes_of_a_description_are_powers_of_two_whatever_hwloc_is_installed() -> None:
    described = hwloc._modern_description(
        "pack:1 numa:1(memory=8GB) l3:1(size=32MiB) l2:1(size=1.5MB) core:1 pu:1"
    )
    assert described == f"pack:1 numa:1(memory={8 * 2**30}) l3:1(size={2**25}) l2:1(size={3 * 2**19}) core:1 pu:1"
