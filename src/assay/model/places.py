"""Placement words and memory policies in plain English, for readers who do not know the words."""

from assay.model.placement import Memory, Word, parsed
from assay.model.text import text
from assay.model.units import format_cpu_list

_SHARES = {
    "all": text("all cores"),
    "half": text("half of the cores"),
    "one-core": text("one core"),
    "all-threads": text("all hardware threads"),
    "pair": text("two cores"),
}
_GROUPS = {"numa": text("NUMA node"), "socket": text("socket"), "l3": text("L3 group")}
_EACH = {
    "core": text("one rank for each core"),
    "numa": text("one rank for each NUMA node"),
    "socket": text("one rank for each socket"),
    "l3": text("one rank for each L3 group"),
    "gpu": text("one rank for each GPU"),
    "device": text("one rank for each device"),
}
_CARD = {"near-nic": text("near the network card"), "far-nic": text("far from the network card")}
_PARTNERS = {
    "same-core": text("two threads of a core"),
    "same-l3": text("two cores of an L3 group"),
    "same-socket": text("two cores of a socket"),
    "other-l3": text("two L3 groups"),
    "other-numa": text("two NUMA nodes"),
    "other-socket": text("two sockets"),
    "other-node": text("two nodes"),
}


def cores(label: str, nodes: int = 0) -> str:
    """`all cores of NUMA node 0`, `one core on each of 2 nodes`, `one core on every node`.

    A foreign word stays unchanged.

    Args:
        label: the placement word.
        nodes: number of nodes to add if the word names none; 0: add nothing.
    """
    word = parsed(label)
    part, count = _of_group(word) or part_of_node(word), (word.nodes if word.over else 0) or nodes
    if part == word.plain:
        return label
    if not count:
        return text("{part} on every node", part=part) if word.over else part
    if count == 1:
        return text("{part} of one node", part=part)
    return text("{part} on each of {count} nodes", part=part, count=count)


def partners(word: str) -> str:
    """The two partners that exchange messages: `two sockets`; empty for a word without partners."""
    return _PARTNERS.get(word.partition(":")[2], "") if word.startswith("pair:") else ""


def part_of_node(word: Word) -> str:
    """The cores of a node: `NUMA node 0`, `half of socket 1`, `4 cores`."""
    if word.group in _GROUPS and word.index is not None:
        return _share(word.share, _GROUPS[word.group], str(word.index))
    if where := _near(word):
        return text("{cores} {where}", cores=_SHARES[word.share], where=where)
    if word.count is not None:
        return text(
            "{count} core spread|{count} cores spread" if word.share == "spread" else "{count} core|{count} cores",
            count=word.count,
        )
    if word.cpus:
        return text("cpus {one} and {other}", one=str(word.cpus[0]), other=str(word.cpus[1]))
    if word.share == "rank-per" and word.group in _EACH:
        return _EACH[word.group]
    return partners(word.plain) or _SHARES.get(word.plain, word.plain)


def _near(word: Word) -> str:
    """`near the network card`, `near GPU 0`; empty if it is near neither."""
    if word.form == "device" and word.index is not None:
        index = str(word.index)
        return (
            text("near GPU {index}", index=index)
            if word.group == "gpu"
            else text("near device {index}", index=index)
        )
    return _CARD[word.group] if word.group in _CARD and word.share in _SHARES else ""


def _of_group(word: Word) -> str:
    whole = word.share == "all" and word.group in _GROUPS and word.index is not None
    return text("all cores of {part}", part=part_of_node(word)) if whole else ""


def _share(share: str, kind: str, index: str) -> str:
    """`half of NUMA node 3`."""
    if share == "half":
        return text("half of {kind} {index}", kind=kind, index=index)
    if share == "one-core":
        return text("one core of {kind} {index}", kind=kind, index=index)
    return text("{kind} {index}", kind=kind, index=index)


def memory(policy: Memory) -> str:
    """`memory of NUMA node 1`, `memory of NUMA nodes 0-3 in turn`; empty for first touch."""
    if not policy.nodes:
        return ""
    nodes = format_cpu_list(policy.nodes)
    if policy.policy == "interleave":
        return text("memory of NUMA nodes {nodes} in turn", nodes=nodes)
    return text("memory of NUMA node {nodes}", nodes=nodes)
