"""What Assay reads from /proc and /sys of a real kernel on a machine of two sockets and four memory nodes."""

import pytest
from tests.cluster.guest import CPUS, CPUS_OF, DISTANCES, NODE_MIB, NODES, Guest

from assay.machine import kernel
from assay.machine.topology import assemble
from assay.model.machine import Topology

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def topology(guest: Guest) -> Topology:
    return assemble(kernel.parts(guest.root))


def test_the_firmware_s_distances_are_read_as_they_were_given(topology: Topology) -> None:
    assert topology.distances == DISTANCES


def test_there_are_two_packages_of_four_cores_each(topology: Topology) -> None:
    assert topology.packages == (CPUS[:4], CPUS[4:])
    assert [(core.cpus, core.package) for core in topology.cores] == [((cpu,), cpu // 4) for cpu in CPUS]
    assert topology.smt == 1


def test_each_node_has_its_cpus_its_package_and_nearly_all_of_its_memory(topology: Topology) -> None:
    assert {node.index: (node.cpus, node.package) for node in topology.numa_nodes} == {
        node: (CPUS_OF[node], node // 2) for node in NODES
    }
    # The kernel keeps some for itself.
    assert all(0.5 * NODE_MIB < node.memory_bytes / 2**20 <= NODE_MIB for node in topology.numa_nodes)


def test_each_core_is_near_the_node_that_it_belongs_to(topology: Topology) -> None:
    assert [core.numa for core in topology.cores] == [cpu // 2 for cpu in CPUS]


def test_small_caches_are_a_core_s_own_and_each_last_level_stays_within_a_package(topology: Topology) -> None:
    shared = {level: {cache.cpus for cache in topology.caches if cache.level == level} for level in (1, 2, 3)}
    each = {(cpu,) for cpu in CPUS}
    assert shared[1] == shared[2] == each
    assert sorted(cpu for group in shared[3] for cpu in group) == list(CPUS)
    assert all(len({cpu // 4 for cpu in group}) == 1 for group in shared[3])
    numbered = {(topology.cores[cpu].l3, group) for group in shared[3] for cpu in group}
    assert len(numbered) == len({number for number, _ in numbered}) == len(shared[3])


def test_all_cpus_and_nodes_may_be_used(topology: Topology) -> None:
    assert (topology.allowed_cpus, topology.allowed_nodes) == (CPUS, NODES)
