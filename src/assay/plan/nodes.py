"""The usable memory nodes; if there are many, a sample that has every distance."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from assay.model.machine import Topology, allowed_cores

#: A matrix with more nodes per side is sampled: the sample has 256 cells.
MOST = 16
#: Minimum number of cells of each distance, if there are as many.
_FEW = 4

#: Whether two nodes are in one socket, and the firmware's distance if it gives one.
_Apart = tuple[bool, int]


@lru_cache(maxsize=4)
def memory_targets(topology: Topology) -> tuple[int, ...]:
    """OS indices of the allowed memory nodes with memory, with cores or without; all if no size is known."""
    holding = [node for node in topology.numa_nodes if node.memory_bytes > 0] or topology.numa_nodes
    allowed = set(topology.allowed_nodes)
    return tuple(node.index for node in holding if node.index in allowed)


@lru_cache(maxsize=4)
def sample(topology: Topology) -> tuple[int, ...]:
    """OS indices of the nodes of a measured matrix, the same for its rows and its columns.

    All nodes, if there are at most 16. Otherwise 16 of them: the first, then the first that give each distance a
    few cells, the rarest distance before others, and the rest evenly over all indices.
    """
    rows = sorted({core.numa for core in allowed_cores(topology)})
    columns = memory_targets(topology)
    nodes = sorted({*rows, *columns})
    if len(nodes) <= MOST:
        return tuple(nodes)
    apart = _distance_matrix(rows, columns, topology)
    chosen = {nodes[0]}
    rarity = Counter(each for row in apart.values() for each in row if each)
    for each in sorted(rarity, key=lambda each: (rarity[each], each)):
        for pair in _pairs(each, apart, columns, sorted(rows, key=lambda node: node not in chosen)):
            if len(chosen) > MOST - 2 or _cells(each, apart, columns, chosen) >= _FEW:
                break
            chosen.update(pair)
        if len(chosen) > MOST - 2:
            break
    rest = [node for node in nodes if node not in chosen]
    missing = MOST - len(chosen)
    return tuple(sorted({*chosen, *(rest[number * len(rest) // missing] for number in range(missing))}))


def _distance_matrix(
    rows: list[int], columns: tuple[int, ...], topology: Topology
) -> dict[int, list[_Apart | None]]:
    """Node -> distance of each of the columns, None for itself."""
    package = {node.index: node.package for node in topology.numa_nodes}
    position = {node.index: number for number, node in enumerate(topology.numa_nodes)}
    inside = {own: [package[node] == own for node in columns] for own in set(package.values())}
    matrix: dict[int, list[_Apart | None]] = {}
    for here in rows:
        far = topology.distances[position[here]] if topology.distances else (0,) * len(position)
        matrix[here] = list(zip(inside[package[here]], (far[position[node]] for node in columns), strict=True))
        if here in columns:
            matrix[here][columns.index(here)] = None
    return matrix


def _pairs(
    wanted: _Apart, apart: dict[int, list[_Apart | None]], columns: tuple[int, ...], rows: list[int]
) -> Iterator[tuple[int, int]]:
    """For each row the first column at this distance."""
    return ((here, columns[apart[here].index(wanted)]) for here in rows if wanted in apart[here])


def _cells(
    wanted: _Apart, apart: dict[int, list[_Apart | None]], columns: tuple[int, ...], chosen: set[int]
) -> int:
    places = [place for place, node in enumerate(columns) if node in chosen]
    return sum(apart[here][place] == wanted for here in chosen & apart.keys() for place in places)
