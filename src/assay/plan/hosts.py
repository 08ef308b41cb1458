"""Placement words over several nodes, and beside the network card.

`WORD@2` is WORD on each of two nodes. Without it a program that passes messages stays inside the first node;
others run on every node at once. `near-nic` and `far-nic` stand for the memory node that the network card belongs
to and for the one that is farthest from it.
"""

import re
from collections.abc import Mapping

from assay.model.errors import UsageError
from assay.model.machine import Device, Machine, Topology
from assay.plan.cores import allowed_cores
from assay.plan.nodes import memory_targets
from assay.plan.placement import AbsentPlacementError, plural

#: Word -> what it means; they go together with those of assay.plan.placement.
WORDS = {
    "WORD@N": "any other word on each of N nodes; `@all` on each of all of them",
    "pair:other-node": "one core on each of two nodes",
    "all:near-nic": "the cores of the NUMA node that the network card belongs to; also `half:`, `one-core:`",
    "all:far-nic": "the cores of the NUMA node farthest from the network card; also `half:`, `one-core:`",
}
_ALIASES = {"pair:other-node": "one-core@2"}
_NIC_WORD = re.compile(r"(all|half|one-core):(near|far)-nic")
_NODES = re.compile(r"[1-9]\d*|all")


def split(word: str) -> tuple[str, str]:
    """`all:numa:*@2` -> (`all:numa:*`, `2`); the second is empty where no number of nodes is named.

    Raises:
        UsageError: what follows the `@` is no number of nodes.
    """
    plain, at, nodes = _ALIASES.get(word, word).partition("@")
    if at and not _NODES.fullmatch(nodes):
        raise UsageError(
            f"'{word}' names no number of nodes", why="after @ stands a number, or all", remedy=f"write {plain}@2"
        )
    return plain, nodes


def label(word: str, place: str) -> str:
    """What a case is called: the word itself, with the index that took the place of its `*`."""
    if word in _ALIASES or _NIC_WORD.fullmatch(word.partition("@")[0]):
        return word
    _, at, nodes = word.partition("@")
    return f"{place}{at}{nodes}"


def machines(hosts: tuple[str, ...], kernels: Mapping[str, str]) -> dict[str, str]:
    """Host -> the first host of the same kernel: itself, but for nodes that are one machine."""
    first: dict[str, str] = {}
    return {host: first.setdefault(kernels.get(host, host), host) for host in hosts}


def chosen(
    word: str, nodes: str, hosts: tuple[str, ...], kernels: Mapping[str, str], *, joint: bool
) -> tuple[str, ...]:
    """The hosts that a word's places run on: of nodes that are one machine one, for what passes no messages.

    Raises:
        AbsentPlacementError: it asks for more nodes than there are.
    """
    if not joint:
        hosts = tuple(dict.fromkeys(machines(hosts, kernels).values()))
    if not nodes:
        return hosts[:1] if joint else hosts
    wanted = len(hosts) if nodes == "all" else int(nodes)
    if wanted > len(hosts):
        raise AbsentPlacementError(
            word, f"it needs {plural(wanted, 'node')}; this run has {plural(len(hosts), 'node')} (see --hosts)"
        )
    return hosts[:wanted]


def side_by_side(
    cpus: tuple[int, ...], hosts: tuple[str, ...], kernels: Mapping[str, str], topology: Topology
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """The ranks of each host where some hosts are one machine; empty where every host has cores of its own.

    The first host of a machine has the cpus that were asked for, the next one those of the cores after them: two
    ranks on one core would take turns.
    """
    known = [kernels.get(host, host) for host in hosts]
    if len(set(known)) == len(hosts):
        return ()
    order = [core.cpus[0] for core in allowed_cores(topology)]
    place = {cpu: at for at, cpu in enumerate(order)}
    found = []
    for number, kernel in enumerate(known):
        before = known[:number].count(kernel) * len(cpus)
        found.append(tuple((order[(place[cpu] + before) % len(order)] if cpu in place else cpu,) for cpu in cpus))
    return tuple(found)


def beside_network(word: str, machine: Machine, given: int | None) -> str:
    """A word with the NUMA node in the place of `near-nic` and `far-nic`; other words as they are.

    Args:
        word: without `@`.
        machine: whose network card it is.
        given: the card's NUMA node where the user names it.

    Raises:
        AbsentPlacementError: nobody knows where the card is, or there is no other node.
    """
    match = _NIC_WORD.fullmatch(word)
    if not match:
        return word
    near = network_node(machine) if given is None else given
    if near is None:
        why = "nobody knows which NUMA node the network card belongs to (see --nic-node)"
        raise AbsentPlacementError(word, why)
    share, side = match.groups()
    return f"{share}:numa:{near if side == 'near' else _farthest(word, near, machine)}"


def network_node(machine: Machine) -> int | None:
    """NUMA node of the fastest network device that tells one: InfiniBand before others."""
    found = [(_speed(device), node) for device in machine.devices if (node := _numa_node(device)) is not None]
    return max(found)[1] if found else None


def _numa_node(device: Device) -> int | None:
    if device.kind not in {"network", "infiniband"}:
        return None
    fact = device.facts.get("NUMA node")
    return fact.value if fact is not None and isinstance(fact.value, int) and fact.value >= 0 else None


def _speed(device: Device) -> tuple[bool, float]:
    fact = device.facts.get("rate" if device.kind == "infiniband" else "speed")
    value = fact.value if fact is not None else None
    return device.kind == "infiniband", float(value) if isinstance(value, int | float) else 0.0


def _farthest(word: str, near: int, machine: Machine) -> int:
    topology = machine.topology
    usable = [node for node in topology.numa_nodes if node.index in memory_targets(topology) and node.cpus]
    others = [node for node in usable if node.index != near]
    own = next((node for node in topology.numa_nodes if node.index == near), None)
    if not others or own is None:
        raise AbsentPlacementError(word, "there is no other NUMA node that may be used")
    position = {node.index: at for at, node in enumerate(topology.numa_nodes)}

    def farness(index: int) -> int:
        return topology.distances[position[index]][position[near]] if topology.distances else 0

    return max(others, key=lambda node: (farness(node.index), node.package != own.package, -node.index)).index
