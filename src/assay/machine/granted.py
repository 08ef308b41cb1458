"""What of a machine may be used: the cpus that a job was given, and those that may be used on all nodes."""

from collections.abc import Sequence

import msgspec

from assay.model.machine import Machine, Topology


def narrowed(machine: Machine, cpus: int) -> Machine:
    """The machine with no more cpus than a scheduler gave, where nothing else keeps a job to them.

    Which ones it meant nobody tells: the first in topology order are taken, the threads of a core together. So
    many cpus as there are cores are the whole machine: some sites let their scheduler count cores.

    Args:
        machine: with what the kernel allows.
        cpus: that the scheduler counts; 0 where it tells nothing.
    """
    topology = machine.topology
    allowed = set(topology.allowed_cpus)
    cores = [tuple(cpu for cpu in core.cpus if cpu in allowed) for core in topology.cores]
    if not cpus or cpus >= sum(map(bool, cores)):
        return machine
    first = [cpu for core in cores for cpu in core][:cpus]
    return _with(machine, tuple(sorted(first)), topology.allowed_nodes)


def common(machines: Sequence[Machine]) -> Machine:
    """The first machine with the cpus and memory nodes that may be used on all that are built like it.

    A plan gives each rank the same cpus on every node: those that one node does not allow are of no use.
    """
    first, *others = machines
    alike = [other.topology for other in others if _built(other.topology) == _built(first.topology)]
    cpus, nodes = set(first.topology.allowed_cpus), set(first.topology.allowed_nodes)
    for topology in alike:
        cpus &= set(topology.allowed_cpus)
        nodes &= set(topology.allowed_nodes)
    return _with(first, tuple(sorted(cpus)), tuple(sorted(nodes)))


def is_part(machine: Machine) -> bool:
    """Whether some cpus of the machine may not be used."""
    return len(machine.topology.allowed_cpus) < sum(len(core.cpus) for core in machine.topology.cores)


def _built(topology: Topology) -> tuple[object, ...]:
    return topology.cores, tuple(node.index for node in topology.numa_nodes)


def _with(machine: Machine, cpus: tuple[int, ...], nodes: tuple[int, ...]) -> Machine:
    topology = msgspec.structs.replace(machine.topology, allowed_cpus=cpus, allowed_nodes=nodes)
    return msgspec.structs.replace(machine, topology=topology)
