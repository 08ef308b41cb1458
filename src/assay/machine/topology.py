"""Make a Topology, with a unique order and numbering, from sets of cpus of any source."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from assay.model.machine import Cache, Core, NumaNode, Topology

Cpus = frozenset[int]
_L3 = 3


@dataclass(frozen=True)
class Node:
    """A memory node as read from its source.

    Attributes:
        index: OS index.
        memory_bytes: memory that belongs to it.
        near: cpus to which it is attached.
        added: whether it is memory without its own cpus (CXL, HBM), although it is near some.
    """

    index: int
    memory_bytes: int
    near: Cpus
    added: bool = False


@dataclass(frozen=True)
class Parts:
    """Parts of a topology as read, in any order; sets may overlap or be missing.

    Attributes:
        cpus: OS indices of every online cpu.
        cores: cpus of each core; a cpu in no core is a core of its own.
        packages: cpus of each package; if empty, the machine is one package.
        nodes: memory nodes; if empty, the machine is one node of unknown size.
        caches: caches; may have duplicates and offline cpus.
        distances: distances by pair of OS indices of nodes.
        kinds: cpu -> `performance` or `efficiency`.
        allowed_cpus: allowed cpus; None for all.
        allowed_nodes: allowed nodes; None for all.
    """

    cpus: Cpus
    cores: tuple[Cpus, ...] = ()
    packages: tuple[Cpus, ...] = ()
    nodes: tuple[Node, ...] = ()
    caches: tuple[Cache, ...] = ()
    distances: Mapping[tuple[int, int], int] = field(default_factory=dict)
    kinds: Mapping[int, str] = field(default_factory=dict)
    allowed_cpus: Cpus | None = None
    allowed_nodes: Cpus | None = None


def assemble(parts: Parts) -> Topology:
    """The Topology: every cpu is in exactly one core, one package and at most one node."""
    packages = _cover(parts.packages, parts.cpus, rest_together=True)
    nodes = _nodes(parts, packages)
    caches = _caches(parts)
    cores = _cores(_cover(parts.cores, parts.cpus), packages, nodes, caches, parts)
    indices = tuple(node.index for node in nodes)
    complete = all((a, b) in parts.distances for a in indices for b in indices)
    allowed = parts.cpus if parts.allowed_cpus is None else parts.allowed_cpus & parts.cpus
    return Topology(
        packages=tuple(tuple(sorted(package)) for package in packages),
        numa_nodes=nodes,
        cores=cores,
        caches=caches,
        distances=tuple(tuple(parts.distances[a, b] for b in indices) for a in indices) if complete else (),
        allowed_cpus=tuple(sorted(allowed)),
        allowed_nodes=tuple(i for i in indices if parts.allowed_nodes is None or i in parts.allowed_nodes),
    )


def _cover(groups: tuple[Cpus, ...], cpus: Cpus, *, rest_together: bool = False) -> tuple[Cpus, ...]:
    """Disjoint groups that cover every cpu, ordered by their first cpu."""
    covered: set[int] = set()
    disjoint: list[Cpus] = []
    for group in sorted(groups, key=sorted):
        fresh = (group & cpus) - covered
        covered |= fresh
        disjoint += [fresh] if fresh else []
    rest = cpus - covered
    disjoint += ([rest] if rest_together else [Cpus({cpu}) for cpu in rest]) if rest else []
    return tuple(sorted(disjoint, key=min))


def _nodes(parts: Parts, packages: tuple[Cpus, ...]) -> tuple[NumaNode, ...]:
    """Memory nodes; each cpu belongs to its smallest enclosing node; a node without cpus is memory only."""
    found = sorted(parts.nodes, key=lambda node: node.index) or [Node(0, 0, parts.cpus)]
    owner = {
        cpu: min(around, key=lambda node: (node.added, len(node.near), node.index)).index
        for cpu in parts.cpus
        if (around := [node for node in found if cpu in node.near])
    }
    return tuple(
        NumaNode(
            index=node.index,
            memory_bytes=node.memory_bytes,
            cpus=tuple(sorted(cpu for cpu, index in owner.items() if index == node.index and not node.added)),
            package=next((i for i, package in enumerate(packages) if node.near and node.near <= package), None),
        )
        for node in (replace(node, near=node.near & parts.cpus) for node in found)
    )


def _caches(parts: Parts) -> tuple[Cache, ...]:
    unique = {
        (cache.level, cache.kind, cpus): Cache(cache.level, cache.kind, cache.size_bytes, cache.line_bytes, cpus)
        for cache in parts.caches
        if (cpus := tuple(sorted(parts.cpus.intersection(cache.cpus))))
    }
    return tuple(unique[key] for key in sorted(unique, key=lambda key: (key[0], key[1], key[2])))


def _cores(
    sets: tuple[Cpus, ...],
    packages: tuple[Cpus, ...],
    nodes: tuple[NumaNode, ...],
    caches: tuple[Cache, ...],
    parts: Parts,
) -> tuple[Core, ...]:
    package_of = {cpu: index for index, package in enumerate(packages) for cpu in package}
    home_of = {cpu: node for node in nodes for cpu in node.cpus}
    group_of = _sharing(sets, caches)

    def order(cpus: Cpus) -> tuple[int, int, int, int]:
        first = min(cpus)
        home = home_of.get(first)
        group = group_of.get(first)
        return (package_of[first], home.cpus[0] if home else first, group[0] if group else first, first)

    numbers: dict[object, int] = {}
    cores = []
    for index, cpus in enumerate(sorted(sets, key=order)):
        first = min(cpus)
        numa = _nearest(home_of.get(first), package_of[first], nodes, parts.distances)
        group = group_of.get(first) or ("node", numa)
        cores.append(
            Core(
                index=index,
                cpus=tuple(sorted(cpus)),
                package=package_of[first],
                numa=numa,
                l3=numbers.setdefault(group, len(numbers)),
                kind=parts.kinds.get(first, ""),
            )
        )
    return tuple(cores)


def _sharing(sets: tuple[Cpus, ...], caches: tuple[Cache, ...]) -> dict[int, tuple[int, ...]]:
    """By cpu, the cpus that share its L3, or, without an L3, the largest cache that several cores share."""
    core_of = {cpu: index for index, cpus in enumerate(sets) for cpu in cpus}
    best: dict[int, Cache] = {}
    for cache in caches:
        shared = len({core_of[cpu] for cpu in cache.cpus}) > 1
        if cache.kind == "instruction" or not (shared or cache.level == _L3):
            continue
        for cpu in cache.cpus:
            if cpu not in best or _rank(cache) > _rank(best[cpu]):
                best[cpu] = cache
    return {cpu: cache.cpus for cpu, cache in best.items()}


def _rank(cache: Cache) -> tuple[bool, int, int]:
    return cache.level == _L3, cache.size_bytes, cache.level


def _nearest(
    home: NumaNode | None, package: int, nodes: tuple[NumaNode, ...], distances: Mapping[tuple[int, int], int]
) -> int:
    """OS index of the nearest node with memory: its own, else by distance, by package, or the first."""
    if home is not None and home.memory_bytes:
        return home.index
    stocked = [node for node in nodes if node.memory_bytes] or list(nodes)
    if home is not None and home in stocked:
        return home.index
    return min(
        stocked,
        key=lambda node: (
            distances.get((home.index, node.index), 2**31) if home else 0,
            node.package != package,
            node.index,
        ),
    ).index
