"""Pairs of cores: what lies between two, the nearest ones of each kind, and a sample of all of them."""

import itertools
from collections.abc import Iterator

from assay.model.machine import Core, Topology
from assay.plan import nodes
from assay.plan.cores import grouped, performance, spread

Pair = tuple[Core, Core]

#: What lies between two cores, the nearest first, and the words for it.
BETWEEN = {
    "same-l3": "of one L3 group",
    "other-l3": "of one NUMA node, in two L3 groups",
    "other-numa": "of one socket, on two NUMA nodes",
    "other-socket": "of two sockets",
}
#: Every pair of so many cores is 120 pairs.
_EVERY_PAIR_OF = 16
#: So many pairs are a sample that a matrix needs and that a minute measures.
_SAMPLE = 240


def between(one: Core, other: Core) -> str:
    """Key of BETWEEN for two different cores."""
    if one.package != other.package:
        return "other-socket"
    if one.numa != other.numa:
        return "other-numa"
    return "same-l3" if one.l3 == other.l3 else "other-l3"


def relation(one: Core, other: Core, *, known_caches: bool) -> str:
    """What lies between two cores in words: `of two sockets`."""
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
    """Every pair of at most 16 cores; of more, about 240 pairs at most, the same for machines that are alike.

    The sample has every pair of 16 L3 groups at most (one core of each), every pair inside the largest L3 group
    of each NUMA node (of 16 nodes at most of the machine, evenly over its sockets, and of as many of the group's
    cores as there is room for), and the nearest of each kind.
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
    inside = (pair for group in largest for pair in _pairs_of(group, members))
    each_kind = (pair for kind in BETWEEN if (pair := nearest(kind, cores, topology)))
    return tuple(dict.fromkeys((*across, *inside, *each_kind)))


def _sampled_groups(kind: str, cores: tuple[Core, ...], topology: Topology) -> list[tuple[Core, ...]]:
    """Groups of cores in which to look for a pair of a kind: what lies between all others is no different."""
    if kind == "same-l3":
        return [group[:2] for group in grouped(cores, "l3").values()]
    of_nodes = sorted(grouped(cores, "numa").items(), key=lambda each: each[1][0].l3)
    if kind == "other-l3":
        return [tuple(group[0] for group in grouped(node, "l3").values())[:2] for _, node in of_nodes]
    return [tuple(node[0] for index, node in of_nodes if index in nodes.sample(topology))]


def _pairs_of(group: tuple[Core, ...], members: int) -> Iterator[Pair]:
    return itertools.combinations(spread(group, min(members, len(group))), 2)


def _most_members(pairs: int) -> int:
    """The most cores, two at least, that have no more than so many pairs."""
    return next(count for count in itertools.count(2) if count * (count + 1) // 2 > pairs)


def _distance(pair: Pair, topology: Topology) -> int:
    if not topology.distances:
        return 0
    row = {node.index: row for row, node in enumerate(topology.numa_nodes)}
    return topology.distances[row[pair[0].numa]][row[pair[1].numa]]
