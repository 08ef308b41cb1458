"""The topology as a tree of text lines: equal siblings are folded into one line."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import groupby

from assay.model.machine import Cache, Core, NumaNode, Topology
from assay.model.units import count_of, format_cpu_list, format_size

#: Maximum groups whose cpus are listed separately; for more, cpus are only listed at their memory node.
_APART = 16
_L3 = 3


@dataclass(frozen=True)
class Line:
    """One line and the lines below it; `detail` marks lines with cpus or distances only."""

    text: str
    below: tuple["Line", ...] = ()
    detail: bool = False


def topology_tree(topology: Topology) -> tuple[Line, ...]:
    """Packages, their memory nodes, and their groups of cores that share a cache."""
    homeless = [node for node in topology.numa_nodes if node.package is None and not node.cpus]
    return (
        *(_package(topology, index) for index in range(len(topology.packages))),
        *(_node(topology, node, []) for node in homeless),
    )


def _package(topology: Topology, index: int) -> Line:
    cores = [core for core in topology.cores if core.package == index]
    cpus = {cpu for core in cores for cpu in core.cpus}
    nodes = [node for node in topology.numa_nodes if cpus & set(node.cpus) or node.package == index]
    text = f"package {index}  {count_of(len(cores), 'core')}, cpus {_listed(cpus)}"
    usable = cpus.intersection(topology.allowed_cpus)
    if usable != cpus:
        text += f" (may be used: {_listed(usable) or 'none'})"
    at_home = {node.index: [core for core in cores if set(core.cpus) & set(node.cpus)] for node in nodes}
    lines = [_node(topology, node, at_home[node.index]) for node in nodes]
    nowhere = [core for core in cores if not any(core in found for found in at_home.values())]
    return Line(text, (*lines, *_groups(topology, nowhere)))


def _node(topology: Topology, node: NumaNode, cores: list[Core]) -> Line:
    title = _title(topology, node, [cpu for core in cores for cpu in core.cpus])
    return Line(title, (*_distances(topology, node), *_groups(topology, cores)))


def _title(topology: Topology, node: NumaNode, cpus: Collection[int]) -> str:
    """Text with the node's memory, and its cpus in the package above."""
    here = _listed(cpus)
    words = [f"{format_size(node.memory_bytes)} memory" if node.memory_bytes else "no memory"]
    words.append(f"cpus {here}" if here else "no cpus")
    if here and set(node.cpus) - set(cpus):
        words.append("shared with another package")
    if node.index not in topology.allowed_nodes:
        words.append("may not be used")
    return f"NUMA node {node.index}  " + ", ".join(words)


def _distances(topology: Topology, node: NumaNode) -> tuple[Line, ...]:
    """The firmware's distances to other nodes, equal ones together: `distance 16 to nodes 1-3, 32 to 4-7`."""
    position = topology.numa_nodes.index(node)
    row = topology.distances[position] if topology.distances else ()
    nodes: dict[int, list[int]] = {}
    for there, value in enumerate(row):
        if there != position:
            nodes.setdefault(value, []).append(topology.numa_nodes[there].index)
    listed = [f"{value} to {format_cpu_list(tuple(indices))}" for value, indices in sorted(nodes.items())]
    return (Line("distance to other nodes: " + ", ".join(listed), detail=True),) if listed else ()


def _groups(topology: Topology, cores: list[Core]) -> tuple[Line, ...]:
    """The cores by their shared cache; neighbours of equal shape are one line, with their cpus below."""
    groups = [list(group) for _, group in groupby(cores, key=lambda core: core.l3)]
    lines = []
    for shape, equal in groupby(groups, key=lambda group: _shape(topology, group)):
        same = list(equal)
        cpus = [_listed(cpu for core in group for cpu in core.cpus) for group in same]
        below = (Line("cpus " + " | ".join(cpus), detail=True),) if 1 < len(same) <= _APART else ()
        lines.append(Line(f"{len(same)} x {shape}" if len(same) > 1 else shape, below))
    return tuple(lines)


def _shape(topology: Topology, group: list[Core]) -> str:
    """Description of a group of cores, without its cpus: `L3 8 MiB: 4 cores (L1d 32 KiB, L2 512 KiB each)`."""
    cpus = {cpu for core in group for cpu in core.cpus}
    shared = [
        cache
        for cache in topology.caches
        if cpus <= set(cache.cpus) and (len(group) > 1 or cache.level >= _L3) and cache.kind != "instruction"
    ]
    own = [cache for cache in topology.caches if cache not in shared]
    classes = [list(same) for _, same in groupby(group, key=lambda core: _cores([core], own, topology))]
    text = "; ".join(_cores(same, own, topology) for same in classes)
    return "".join(f"L{cache.level} {format_size(cache.size_bytes)}, " for cache in reversed(shared)) + text


def _cores(cores: list[Core], own: list[Cache], topology: Topology) -> str:
    """`8 performance cores of 2 threads (L1d 48 KiB, L2 2 MiB each)`."""
    first = cores[0]
    near = [
        (cache, sum(core.cpus[0] in cache.cpus for core in topology.cores))
        for cache in own
        if first.cpus[0] in cache.cpus
    ]
    caches = [_cache(cache, sharers) for cache, sharers in near]
    each = " each" if len(cores) > 1 and all(sharers == 1 for _, sharers in near) else ""
    noun = f"{first.kind} core".strip() + (f" of {len(first.cpus)} threads" if len(first.cpus) > 1 else "")
    counted = f"{len(cores)} {noun.replace('core', 'cores', 1) if len(cores) > 1 else noun}"
    return counted + (f" ({', '.join(caches)}{each})" if caches else "")


def _cache(cache: Cache, sharers: int) -> str:
    letter = {"data": "d", "instruction": "i", "unified": ""}[cache.kind]
    per = f" per {sharers} cores" if sharers > 1 else ""
    return f"L{cache.level}{letter} {format_size(cache.size_bytes)}{per}"


def _listed(cpus: Iterable[int]) -> str:
    return format_cpu_list(tuple(cpus))
