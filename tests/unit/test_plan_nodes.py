"""The sample of memory nodes: small, the same for rows and columns, with a few cells of every distance."""

import itertools
from collections import Counter
from collections.abc import Callable

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from assay.model.machine import Machine, NumaNode, Topology
from assay.model.plan import Measure, Plan, Study
from assay.plan import Options, make
from assay.plan.nodes import MOST, memory_targets, sample

MakeMachine = Callable[..., Machine]
Links = list[tuple[int, int, int]]


def with_distances(topology: Topology, links: Links) -> Topology:
    """Every node 20 from every other, but for some links (one, other, distance)."""
    count = len(topology.numa_nodes)
    rows = [[10 if here == there else 20 for there in range(count)] for here in range(count)]
    for one, other, away in links:
        rows[one][other] = rows[other][one] = away
    return msgspec.structs.replace(topology, distances=tuple(map(tuple, rows)))


def cells(topology: Topology, nodes: tuple[int, ...]) -> Counter[tuple[bool, int]]:
    """How many cells off the diagonal there are of (same socket, distance)."""
    package = {node.index: node.package for node in topology.numa_nodes}
    return Counter(
        (package[here] == package[there], topology.distances[here][there] if topology.distances else 0)
        for here, there in itertools.permutations(nodes, 2)
    )


def planned(machine: Machine, *measures: Measure) -> Plan:
    study = Study(title="own", question="?", launches=1, measure=measures)
    return make("own", study, machine, Options(seed=1))


def test_sixteen_nodes_are_all_measured(make_machine: MakeMachine) -> None:
    assert sample(make_machine(2, 8, 1, 2).topology) == tuple(range(MOST))


def test_64_nodes_of_8_sockets_are_sampled_in_several_sockets(make_machine: MakeMachine) -> None:
    topology = make_machine(8, 8, 1, 1).topology
    nodes = sample(topology)
    assert len(nodes) == MOST
    assert nodes[0] == 0
    assert {node // 8 for node in nodes} == set(range(8))
    found = cells(topology, nodes)
    assert min(found[True, 0], found[False, 0]) >= 4


def test_64_sockets_of_one_node_have_no_cell_inside_a_socket(make_machine: MakeMachine) -> None:
    topology = make_machine(64, 1, 1, 1).topology
    assert cells(topology, sample(topology)) == {(False, 0): MOST * (MOST - 1)}


@given(
    count=st.integers(MOST + 1, 60),
    ends=st.lists(st.tuples(st.integers(0, 59), st.integers(0, 59)), min_size=1, max_size=9),
)
def test_every_distance_however_rare_has_its_cells_in_the_sample(
    make_machine: MakeMachine, count: int, ends: list[tuple[int, int]]
) -> None:
    links = [
        (one % count, other % count, 12 + number % 3)
        for number, (one, other) in enumerate(ends)
        if one % count != other % count
    ]
    topology = with_distances(make_machine(1, count, 1, 1).topology, links)
    nodes = sample(topology)
    assert len(nodes) == MOST
    assert nodes == tuple(sorted({0, *nodes}))
    everywhere, found = cells(topology, tuple(range(count))), cells(topology, nodes)
    for kind, existing in everywhere.items():
        assert found[kind] >= min(4, existing), kind


def test_of_more_distances_than_there_is_room_for_the_rare_ones_come_first(make_machine: MakeMachine) -> None:
    common = [(one, other, 30 + (one + other) % 37) for one, other in itertools.combinations(range(40), 2)]
    topology = with_distances(make_machine(1, 40, 1, 1).topology, [*common, (21, 30, 99)])
    nodes = sample(topology)
    assert len(nodes) == MOST
    assert cells(topology, nodes)[True, 99] == 2


def test_nodes_without_cores_are_sampled_too_and_only_as_memory(make_machine: MakeMachine) -> None:
    machine = make_machine(1, 20, 1, 1)
    far = tuple(NumaNode(20 + index, 2**38, (), None) for index in range(20))
    topology = msgspec.structs.replace(
        machine.topology, numa_nodes=machine.topology.numa_nodes + far, allowed_nodes=tuple(range(40))
    )
    nodes = sample(topology)
    assert len(nodes) == MOST
    assert min(sum(node < 20 for node in nodes), sum(node >= 20 for node in nodes)) >= 4
    plan = planned(
        msgspec.structs.replace(machine, topology=topology), Measure("stream", ("all:numa:*",), ("bind:*",))
    )
    measured = {
        (int(case.placement.label.rpartition(":")[2]), *case.placement.memory.nodes)
        for case in plan.cases
        if case.role == "measure"
    }
    assert measured == {(here, there) for here in nodes if here < 20 for there in nodes}


def test_the_plan_counts_the_cells_that_it_leaves_out(make_machine: MakeMachine) -> None:
    plan = planned(make_machine(4, 10, 2, 2), Measure("stream", ("all:numa:*", "all:l3:*", "all"), ("bind:*",)))
    assert {left.request: left.reason for left in plan.left_out} == {
        "stream at all:numa:*, bind:*": "a sample: 256 of 1600 cells are measured",
        "stream at all:l3:*, bind:*": "a sample: 512 of 3200 cells are measured",
        "stream at all, bind:*": "a sample: 16 of 40 cells are measured",
    }
    assert sum(case.role == "measure" for case in plan.cases) == 256 + 512 + 16


def test_without_the_memory_of_each_every_node_is_measured(make_machine: MakeMachine) -> None:
    machine = make_machine(4, 10, 1, 2)
    plan = planned(machine, Measure("stream", ("all:numa:*",), ("first-touch", "bind:local")))
    assert sum(case.role == "measure" for case in plan.cases) == 2 * len(memory_targets(machine.topology))
    assert not plan.left_out
