"""Memory nodes: how far they are from each other, in words."""

from assay.model.machine import Topology

SAME_NODE, SAME_SOCKET, OTHER_SOCKET = "same node", "same socket", "other socket"
_HOPS = ("one hop", "two hops", "three hops", "four hops")


def distance(topology: Topology, here: int, there: int) -> int | None:
    """The firmware's distance between nodes by OS index; None where it gives none."""
    position = {node.index: number for number, node in enumerate(topology.numa_nodes)}
    if not topology.distances or here not in position or there not in position:
        return None
    return topology.distances[position[here]][position[there]]


def classes(topology: Topology) -> dict[tuple[int, int], str]:
    """(cpu node, memory node) -> `same node`, `same socket`, and beyond the socket `one hop`, `two hops` ...

    Hops are the distinct distances between sockets, ascending. Where there is but one, or firmware gives none, it
    is `other socket`. Nodes whose socket is unknown are told apart by their distance alone.
    """
    package = {node.index: node.package for node in topology.numa_nodes}
    nodes = sorted(package)
    beyond = [
        (here, there)
        for here in nodes
        for there in nodes
        if here != there and (package[here] != package[there] or package[here] is None)
    ]
    far = sorted({each for pair in beyond if (each := distance(topology, *pair)) is not None})
    names = dict.fromkeys(far, OTHER_SOCKET) if len(far) == 1 else dict(zip(far, _HOPS, strict=False))
    found = {(here, there): SAME_NODE if here == there else SAME_SOCKET for here in nodes for there in nodes}
    for pair in beyond:
        away = distance(topology, *pair)
        found[pair] = OTHER_SOCKET if away is None else names.get(away, f"distance {away}")
    return found
