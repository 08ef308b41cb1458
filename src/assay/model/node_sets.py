"""Sets of nodes in ClusterShell's notation: `node[01-16,20]`."""

from collections.abc import Iterable


def folded(names: Iterable[str]) -> str:
    """The names as one set: `node[01-02,07]`."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet  # noqa: PLC0415 (50 ms, seldom needed)

    return str(NodeSet.fromlist(list(names), resolver=RESOLVER_NOGROUP))


def expanded(nodes: str) -> tuple[str, ...]:
    """The names in a set, sorted."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet  # noqa: PLC0415 (50 ms, seldom needed)

    return tuple(NodeSet(nodes, resolver=RESOLVER_NOGROUP))
