"""Pairs of cores: their kind, the nearest pair of each kind, and a sample of all pairs."""

import itertools

from assay.model.machine import Core, Topology
from assay.plan import nodes
from assay.plan.cores import grouped, performance, spread

Pair = tuple[Core, Core]

#: Kind of a pair, the nearest first -> its text.
BETWEEN = {
    "same-l3": "of one L3 group",
    "other-l3": "of one NUMA node, in two L3 groups",
    "other-numa": "of one socket, on two NUMA nodes",
    "other-socket": "of two sockets",
}
#: Up to so many cores, every pair is measured: 120 pairs.
_EVERY_PAIR_OF = 16
#: Pairs of a sample: enough for a matrix, and measured in a minute.
_SAMPLE = 240


def between(one: Core, other: Core) -> str:
    """Key of BETWEEN for two different cores."""
    if one.package != other.package:
        return "other-socket"
    if one.numa != other.numa:
        return "other-numa"
    return "same-l3" if one.l3 == other.l3 else "other-l3"


def relation(one: Core, other: Core, *, known_caches: bool) -> str:
    """The kind of a pair as text: `of two sockets`."""
    kind = between(one, other)
    return BETWEEN[kind] if kind != "same-l3" or known_caches else "of one NUMA node"


def nearest(kind: str, cores: tuple[Core, ...], topology: Topology) -> Pair | None:
    """The pair of this kind that is nearest by the firmware's distances, else the first; None if there is none.

    On a hybrid processor two performance cores come before others.
    """
    for candidates in (performance(cores), cores):
        few = _sampled_groups(kind, candidates, topology)
        of_kind = (pair for group in few for pair in itertools.combinations(group, 2) if between(*pair) == kind)
        found = min(of_kind, key=lambda pair: _distance(pair, topology), default=None)
        if found:
            return found
    return None


def sample(cores: tuple[Core, ...], topology: Topology) -> tuple[Pair, ...]:
    """Every pair if there are at most 16 cores; otherwise at most about 240 pairs, the same for equal machines.

    The sample has every pair of up to 16 L3 groups (one core of each), every pair inside the largest L3 group of
    each NUMA node (of up to 16 nodes, evenly over the sockets, and of as many cores of the group as there is room
    for), and the nearest pair of each kind.
    """
    if len(cores) <= _EVERY_PAIR_OF:
        return tuple(itertools.combinations(cores, 2))
    heads = tuple(group[0] for group in grouped(cores, "l3").values())
    across = tuple(itertools.combinations(spread(heads, min(_EVERY_PAIR_OF, len(heads))), 2))
    largest = [
        max(grouped(node, "l3").values(), key=lambda group: (len(group), -group[0].index))
        for socket in grouped(cores, "socket").values()
        for index, node in grouped(socket, "numa").items()
        if index in nodes.sample(topology)
    ]
    members = _most_members((_SAMPLE - len(across)) // len(largest))
    inside = (
        pair for group in largest for pair in itertools.combinations(spread(group, min(members, len(group))), 2)
    )
    each_kind = (pair for kind in BETWEEN if (pair := nearest(kind, cores, topology)))
    return tuple(dict.fromkeys((*across, *inside, *each_kind)))


def _sampled_groups(kind: str, cores: tuple[Core, ...], topology: Topology) -> list[tuple[Core, ...]]:
    """Groups of cores in which to look for a pair of a kind: no other pair of this kind is nearer."""
    if kind == "same-l3":
        return [group[:2] for group in grouped(cores, "l3").values()]
    of_nodes = sorted(grouped(cores, "numa").items(), key=lambda each: each[1][0].l3)
    if kind == "other-l3":
        return [tuple(group[0] for group in grouped(node, "l3").values())[:2] for _, node in of_nodes]
    sampled = [node for index, node in of_nodes if index in nodes.sample(topology)]
    if kind == "other-numa":
        return [tuple(node[0] for node in sampled)]
    return [tuple(part[0] for node in sampled for part in grouped(node, "socket").values())]  # they may share it


def _most_members(pairs: int) -> int:
    """The largest number of cores, at least two, that has at most `pairs` pairs."""
    return next(count for count in itertools.count(2) if count * (count + 1) // 2 > pairs)


def _distance(pair: Pair, topology: Topology) -> int:
    if not topology.distances:
        return 0
    row = {node.index: row for row, node in enumerate(topology.numa_nodes)}
    return topology.distances[row[pair[0].numa]][row[pair[1].numa]]
