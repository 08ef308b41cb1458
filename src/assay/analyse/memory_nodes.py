"""Memory nodes: how far they are from each other, in words."""

import numpy as np

from assay.model.machine import Topology
from assay.model.text import text

SAME_NODE, SAME_SOCKET, OTHER_SOCKET = text("same node"), text("same socket"), text("other socket")
_HOPS = (text("one hop"), text("two hops"), text("three hops"), text("four hops"))
_NO_SOCKET = -1


def nearness(kind: str, distance: int | None) -> tuple[int, int]:
    """Sort key of kinds of pairs, the nearest first: a node itself, its socket, the others by their distance."""
    near: tuple[str, ...] = (SAME_NODE, SAME_SOCKET)
    return near.index(kind) if kind in near else len(near), distance or 0


class Nodes:
    """The memory nodes of a machine, by their OS indices.

    Pairs within a socket are `same node` and `same socket`; beyond it the distinct distances of firmware,
    ascending, are `one hop`, `two hops` ... Where there is only one, or firmware gives none, it is `other socket`.
    Nodes whose socket is unknown differ in their distance alone.
    """

    def __init__(self, topology: Topology) -> None:
        sockets = [_NO_SOCKET if node.package is None else node.package for node in topology.numa_nodes]
        self._sockets = np.array(sockets, dtype=np.int64)
        self._place = {node.index: number for number, node in enumerate(topology.numa_nodes)}
        self._distances = np.array(topology.distances) if topology.distances else None
        self._names: dict[int, str] = {}
        if self._distances is not None:
            apart = (self._sockets[:, None] != self._sockets) | (self._sockets[:, None] == _NO_SOCKET)
            np.fill_diagonal(apart, val=False)
            far = [int(each) for each in np.unique(self._distances[apart])]
            one = len(far) == 1
            self._names = dict.fromkeys(far, OTHER_SOCKET) if one else dict(zip(far, _HOPS, strict=False))

    def distance(self, here: int, there: int) -> int | None:
        """Return firmware's distance from the cpus of one node to the memory of another; None if it gives none."""
        if self._distances is None or here not in self._place or there not in self._place:
            return None
        return int(self._distances[self._place[here], self._place[there]])

    def kind(self, here: int, there: int) -> str:
        """Return how far two nodes are apart, `same socket`, `one hop` ...; empty if one is unknown."""
        if here not in self._place or there not in self._place:
            return ""
        if here == there:
            return SAME_NODE
        one, other = (int(self._sockets[self._place[node]]) for node in (here, there))
        if one == other != _NO_SOCKET:
            return SAME_SOCKET
        away = self.distance(here, there)
        return OTHER_SOCKET if away is None else self._names.get(away, text("distance {distance}", distance=away))
