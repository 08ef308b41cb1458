"""A topology as an outline for people: equal siblings are folded into one line."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby

from assay.model.machine import Cache, Core, NumaNode, Topology
from assay.model.units import format_cpu_list, format_size

#: More groups than this in one folded line, and their cpus are told together.
_APART = 4


@dataclass(frozen=True)
class Line:
    """One line and those below it."""

    text: str
    below: tuple["Line", ...] = ()


def outline(topology: Topology) -> tuple[Line, ...]:
    """Package, below it its memory nodes, below each its groups of cores that share a cache."""
    homeless = [node for node in topology.numa_nodes if node.package is None and not node.cpus]
    return (
        *(_package(topology, index) for index in range(len(topology.packages))),
        *(Line(_node_text(topology, node, (), node.memory_bytes)) for node in homeless),
    )


def _package(topology: Topology, index: int) -> Line:
    cores = [core for core in topology.cores if core.package == index]
    cpus = {cpu for core in cores for cpu in core.cpus}
    nodes = [
        node for node in topology.numa_nodes if cpus & set(node.cpus) or (node.package == index and not node.cpus)
    ]
    lines = tuple(
        _node(topology, node, [core for core in cores if set(core.cpus) & set(node.cpus)]) for node in nodes
    )
    text = f"package {index}  {_plural(len(cores), 'core')}, cpus {_listed(cpus)}"
    barred = cpus - set(topology.allowed_cpus)
    if barred:
        usable = cpus - barred
        text += f" (may be used: {_listed(usable) if usable else 'none'})"
    return Line(text, lines)


def _node(topology: Topology, node: NumaNode, cores: list[Core]) -> Line:
    cpus = tuple(cpu for core in cores for cpu in core.cpus)
    text = _node_text(topology, node, cpus, node.memory_bytes)
    groups = [list(group) for _, group in groupby(cores, key=lambda core: core.l3)]
    shaped = [(_shape(topology, group), group) for group in groups]
    return Line(
        text,
        tuple(
            Line(_folded(shape, [group for _, group in same]))
            for shape, same in ((shape, list(same)) for shape, same in groupby(shaped, key=lambda pair: pair[0]))
        ),
    )


def _node_text(topology: Topology, node: NumaNode, cpus: Iterable[int], memory_bytes: int) -> str:
    words = [f"{format_size(memory_bytes)} memory" if memory_bytes else "no memory"]
    listed = _listed(cpus)
    words.append(f"cpus {listed}" if listed else "no cpus")
    elsewhere = set(node.cpus) - set(cpus)
    if elsewhere and listed:
        words.append("shared with another package")
    if node.index not in topology.allowed_nodes:
        words.append("may not be used")
    return f"NUMA node {node.index}  " + ", ".join([*words, *_distances(topology, node)])


def _distances(topology: Topology, node: NumaNode) -> list[str]:
    """Firmware's distances to other nodes, equal ones counted: `distance 16 x3, 32 x4`."""
    if len(topology.distances) < 2:  # noqa: PLR2004 (a single node has no other)
        return []
    position = topology.numa_nodes.index(node)
    others = Counter(value for there, value in enumerate(topology.distances[position]) if there != position)
    return ["distance " + ", ".join(f"{value} x{count}" for value, count in sorted(others.items()))]


def _shape(topology: Topology, group: list[Core]) -> str:
    """What a group of cores is, without saying which: equal groups have equal shapes."""
    cpus = {cpu for core in group for cpu in core.cpus}
    shared = [
        f"L{cache.level} {format_size(cache.size_bytes)}"
        for cache in topology.caches
        if len(group) > 1 and cpus <= set(cache.cpus)
    ]
    third = [
        f"L{cache.level} {format_size(cache.size_bytes)}"
        for cache in topology.caches
        if len(group) == 1 and cpus <= set(cache.cpus) and cache.level >= 3  # noqa: PLR2004 (the L3)
    ]
    classes = [_cores(topology, list(same)) for _, same in groupby(group, key=_class_of(topology))]
    return " | ".join([" + ".join(shared + third), "; ".join(classes)])


def _class_of(topology: Topology) -> Callable[[Core], tuple[object, ...]]:
    """Cores of one kind, with as many threads and the same caches of their own, are told together."""

    def key(core: Core) -> tuple[object, ...]:
        return (core.kind, len(core.cpus), tuple(_private(topology, core)))

    return key


def _private(topology: Topology, core: Core) -> list[str]:
    """The caches of a core below the L3, with the number of cores that share one."""
    found = []
    for cache in topology.caches:
        if core.cpus[0] in cache.cpus and cache.level < 3:  # noqa: PLR2004 (the L3)
            sharers = sum(1 for other in topology.cores if other.cpus[0] in cache.cpus)
            per = "" if sharers == 1 else f" per {sharers}"
            found.append(f"{_name(cache)} {format_size(cache.size_bytes)}{per}")
    return found


def _name(cache: Cache) -> str:
    return f"L{cache.level}" + {"data": "d", "instruction": "i", "unified": ""}[cache.kind]


def _cores(topology: Topology, cores: list[Core]) -> str:
    kind = f"{cores[0].kind} " if cores[0].kind else ""
    threads = f" of {len(cores[0].cpus)} threads" if len(cores[0].cpus) > 1 else ""
    own = _private(topology, cores[0])
    caches = f" ({', '.join(own)}{' each' if len(cores) > 1 else ''})" if own else ""
    return f"{len(cores)} {kind}core{'s' if len(cores) > 1 else ''}{threads}{caches}"


def _folded(shape: str, groups: list[list[Core]]) -> str:
    shared, _, cores = shape.partition(" | ")
    count = f"{len(groups)} x " if len(groups) > 1 else ""
    lists = [_listed(cpu for core in group for cpu in core.cpus) for group in groups]
    told = f": cpus {' | '.join(lists)}" if 1 < len(groups) <= _APART else ""
    return f"{count}{shared + ': ' if shared else ''}{cores}{told}"


def _listed(cpus: Iterable[int]) -> str:
    return format_cpu_list(tuple(cpus))


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
