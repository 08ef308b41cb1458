"""Limits of a job on a machine: the cpus that the scheduler granted, and those that all nodes allow."""

from collections.abc import Mapping, Sequence

import msgspec

from assay.model.machine import Machine, Topology


def limit_to_job(machine: Machine, cpus: int) -> Machine:
    """The machine limited to the number of cpus that a scheduler granted, if no cpuset enforces it.

    Schedulers do not say which cpus they mean: the first ones in topology order are taken, the threads of a core
    together. As many cpus as there are cores are the whole machine: some sites let their scheduler count cores.

    Args:
        machine: with what the kernel allows.
        cpus: that the scheduler counts; 0 if it tells nothing.
    """
    topology = machine.topology
    allowed = set(topology.allowed_cpus)
    cores = [tuple(cpu for cpu in core.cpus if cpu in allowed) for core in topology.cores]
    if not cpus or cpus >= sum(map(bool, cores)):
        return machine
    first = [cpu for core in cores for cpu in core][:cpus]
    return _restricted_to(machine, tuple(sorted(first)), topology.allowed_nodes)


def common_to_all(machines: Sequence[Machine]) -> Machine:
    """The first machine, limited to the cpus and memory nodes that all machines of the same topology allow.

    A plan gives each rank the same cpus on every node, so a cpu that one node does not allow cannot be used.
    """
    first, *others = machines
    alike = [other.topology for other in others if _shape(other.topology) == _shape(first.topology)]
    cpus, nodes = set(first.topology.allowed_cpus), set(first.topology.allowed_nodes)
    for topology in alike:
        cpus &= set(topology.allowed_cpus)
        nodes &= set(topology.allowed_nodes)
    return _restricted_to(first, tuple(sorted(cpus)), tuple(sorted(nodes)))


def of_each_kind(machines: Mapping[str, Machine]) -> dict[str, Machine]:
    """Host -> the machine that a plan takes it for: the first of its topology, with what all of them allow.

    Hosts of one topology that have no cpu in common (jobs that share nodes) are of several kinds: those that allow
    the same cpus are alike.
    """
    kinds: dict[tuple[object, ...], list[str]] = {}
    for host, machine in machines.items():
        kinds.setdefault(_shape(machine.topology), []).append(host)
    found: dict[str, Machine] = {}
    for hosts in kinds.values():
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
