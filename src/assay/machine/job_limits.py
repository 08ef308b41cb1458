"""Limits of a job on a machine: the cpus granted by the scheduler, and those that all nodes allow."""

from collections.abc import Mapping, Sequence

import msgspec

from assay.model.grouping import grouped
from assay.model.machine import Machine, Topology


def limit_to_job(machine: Machine, cpus: int) -> Machine:
    """The machine, limited to the number of cpus that a scheduler granted, if no cpuset enforces it.

    Schedulers do not say which cpus they mean: the first ones in topology order are used, with the threads of a
    core together. As many cpus as cores are the whole machine, because schedulers of some sites count cores.

    Args:
        machine: machine with the limits of the kernel.
        cpus: number of cpus from the scheduler; 0 if unknown.
    """
    topology = machine.topology
    allowed = set(topology.allowed_cpus)
    cores = [tuple(cpu for cpu in core.cpus if cpu in allowed) for core in topology.cores]
    if not cpus or cpus >= sum(map(bool, cores)):
        return machine
    first = [cpu for core in cores for cpu in core][:cpus]
    return _restricted_to(machine, tuple(sorted(first)), topology.allowed_nodes)


def common_to_all(machines: Sequence[Machine]) -> Machine:
    """The first machine, limited to the cpus and memory nodes that all machines of its topology allow.

    A plan gives each rank the same cpus on every node, so a cpu that one node does not allow cannot be used.
    """
    first, *others = machines
    same = [other.topology for other in others if _shape(other.topology) == _shape(first.topology)]
    cpus, nodes = set(first.topology.allowed_cpus), set(first.topology.allowed_nodes)
    for topology in same:
        cpus &= set(topology.allowed_cpus)
        nodes &= set(topology.allowed_nodes)
    return _restricted_to(first, tuple(sorted(cpus)), tuple(sorted(nodes)))


def of_each_kind(machines: Mapping[str, Machine]) -> dict[str, Machine]:
    """Host -> the machine for planning: the first of its topology, limited to what all of these allow.

    Hosts of one topology without a common cpu (jobs that share nodes) are grouped by their allowed cpus.
    """
    found: dict[str, Machine] = {}
    for hosts in grouped(machines, lambda host: _shape(machines[host].topology)).values():
        common = common_to_all([machines[host] for host in hosts])
        if common.topology.allowed_cpus:
            found |= dict.fromkeys(hosts, common)
            continue
        first: dict[tuple[int, ...], Machine] = {}
        for host in hosts:
            found[host] = first.setdefault(machines[host].topology.allowed_cpus, machines[host])
    return {host: found[host] for host in machines}


def is_restricted(machine: Machine) -> bool:
    """Whether some cpus of the machine may not be used."""
    return len(machine.topology.allowed_cpus) < sum(len(core.cpus) for core in machine.topology.cores)


def _shape(topology: Topology) -> tuple[object, ...]:
    caches = tuple((cache.level, cache.kind, cache.size_bytes, cache.cpus) for cache in topology.caches)
    return topology.cores, tuple(node.index for node in topology.numa_nodes), caches


def _restricted_to(machine: Machine, cpus: tuple[int, ...], nodes: tuple[int, ...]) -> Machine:
    topology = msgspec.structs.replace(machine.topology, allowed_cpus=cpus, allowed_nodes=nodes)
    return msgspec.structs.replace(machine, topology=topology)
