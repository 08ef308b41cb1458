"""The part of the machine of a figure: the cores that worked, and the memory nodes of their pages."""

from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from assay.model.grouping import grouped
from assay.model.machine import Topology
from assay.model.result import Estimate, Scope
from assay.model.text import text

#: A memory node with a smaller share of the pages did not take part: a few pages of the program can be anywhere.
_SOME_PAGES = 0.01


class Part(NamedTuple):
    """Positions of cores in the topology, and OS indices of memory nodes."""

    cores: frozenset[int]
    nodes: frozenset[int]


def part(estimate: Estimate, topology: Topology) -> Part:
    """Return the part of an estimate; nodes as its pages were found, else as requested."""
    cpus = frozenset(estimate.placement.cpus[0]) if estimate.placement.cpus else frozenset()
    cores = _cores(cpus, topology)
    proof = estimate.placement.proven
    found = {int(node) for node, share in proof.page_nodes.items() if share >= _SOME_PAGES} if proof else set()
    if not found:
        found = set(estimate.placement.policy.nodes)
    near = {topology.cores[core].numa for core in cores}
    return Part(cores, frozenset(found or near))


@lru_cache(maxsize=256)
def _cores(cpus: frozenset[int], topology: Topology) -> frozenset[int]:
    return frozenset(at for at, core in enumerate(topology.cores) if not cpus.isdisjoint(core.cpus))


def scope_of_cores(cores: frozenset[int], topology: Topology) -> Scope:
    """Return the scope of the cores: the machine, a package, a memory node, one core, or several cores."""
    if len(cores) == len(topology.cores):
        return "machine"
    every = range(len(topology.cores))
    if tuple(sorted(cores)) in grouped(every, lambda at: topology.cores[at].package).values():
        return "package"
    if tuple(sorted(cores)) in grouped(every, lambda at: topology.cores[at].numa).values():
        return "numa-node"
    return "core" if len(cores) == 1 else "cores"


def scope_of_nodes(nodes: frozenset[int], topology: Topology) -> Scope:
    """Return the scope of the memory nodes: all with cores, those of a package, one, or several."""
    ordinary = {node.index: node.package for node in topology.numa_nodes if node.cpus}
    if nodes >= ordinary.keys():
        return "machine"
    packages = {ordinary.get(node) for node in nodes}
    if len(packages) == 1 and nodes == {node for node, package in ordinary.items() if package in packages}:
        return "package"
    return "numa-node" if len(nodes) == 1 else "numa-nodes"


def name_of_nodes(nodes: frozenset[int], topology: Topology) -> str:
    """Return `the whole node`, `package 1`, `NUMA node 3`, `NUMA nodes 0, 2`."""
    scope = scope_of_nodes(nodes, topology)
    if scope == "machine":
        return text("the whole node")
    if scope == "package":
        package = next(node.package for node in topology.numa_nodes if node.index in nodes)
        return text("package {number}", number=str(package))
    numbers = ", ".join(map(str, sorted(nodes)))
    return text("NUMA nodes {numbers}" if len(nodes) > 1 else "NUMA node {numbers}", numbers=numbers)


def drives(here: Part, topology: Topology) -> bool:
    """Whether enough cores work to saturate the memory that they use: as many as belong to it, or more."""
    of_node = Counter(core.numa for core in topology.cores)
    least = min(of_node.values(), default=0)  # for a node without cores
    local = sum(of_node[node] for node in here.nodes)
    return len(here.cores) >= max(local, least)
