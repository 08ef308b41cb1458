"""The networks of a run: `gbe=eth0,ib=mlx5_0:1`; one for all cases, or several as a factor; and their cards.

Placement words relative to a network card mean its NUMA node, or the farthest one. `pair:other-node` is near the
card of the measured network, if its place is known.
"""

import re
from collections.abc import Collection, Mapping, Sequence

import msgspec

from assay.launch.networks import PROVIDERS
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.machine import Device, Machine, allowed_cores, device_of
from assay.model.node_sets import folded
from assay.model.placement import OTHER_NODE, parsed
from assay.model.plan import Factor
from assay.plan.nodes import memory_targets
from assay.plan.placement import AbsentPlacementError

NETWORK = "network"
#: Name of an interface or of a port of a card: not an option, and without characters special to a shell.
_DEVICE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@-]*")
_LOOPBACK = "lo"
_HELP = "--network gbe=eth0,ib=mlx5_0:1"


def parse_networks(text: str) -> dict[str, str]:
    """Name -> device, an interface or a port of an RDMA card; a device alone is its own name.

    A libfabric provider may precede a device: `hsn=cxi/cxi0`.

    Raises:
        UsageError: a part is empty, repeated, or not a name of a device; a provider is unknown.
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        name, named, device = part.strip().partition("=")
        device = device if named else name
        provider, _, device = device.rpartition("/")
        name = name if named else device
        if provider and provider not in PROVIDERS:
            why = f"known: {', '.join(PROVIDERS)}; without one: TCP over interfaces, UCX over ports"
            raise UsageError(f"'{provider}' is no provider that is known", why=why, remedy=_HELP)
        if not _DEVICE.fullmatch(name) or not _DEVICE.fullmatch(device):
            why = "a network is a name and a device, NAME=DEVICE"
            raise UsageError(f"'{part.strip()}' is not a network", why=why, remedy=_HELP)
        if name in found:
            raise UsageError(f"network '{name}' is given twice", remedy=_HELP)
        found[name] = f"{provider}/{device}" if provider else device
    return found


def with_ports(networks: Mapping[str, str], there: Collection[str]) -> dict[str, str]:
    """The networks; a card named without its port (`mlx5_0`) becomes its first port (`mlx5_0:1`).

    Args:
        networks: name -> device, as given by the user.
        there: names of the devices of the nodes.
    """
    return {
        name: f"{device}:1" if device_of(device) not in there and f"{device_of(device)}:1" in there else device
        for name, device in networks.items()
    }


def resolve_networks(networks: Mapping[str, str], devices: Mapping[str, Collection[str]]) -> dict[str, str]:
    """The networks as the nodes know them (see `with_ports`).

    Args:
        networks: name -> device, as the user says them.
        devices: node -> names of its interfaces and ports; a node without names is assumed to have every device.

    Raises:
        UsageError: no node has such a device.
        UnfitEnvironmentError: some have it and others do not.
    """
    reported = {node: names for node, names in devices.items() if names}
    found = with_ports(networks, {name for names in reported.values() for name in names})
    for name, device in ((name, device_of(asked)) for name, asked in found.items()):
        lacking = [node for node, names in reported.items() if device not in names]
        if not lacking:
            continue
        everywhere = set.intersection(*map(set, reported.values())) - {_LOOPBACK}
        why = f"on {folded(reported)} there are: {', '.join(sorted(everywhere)) or 'none that all have'}"
        remedy = f"--network {name}={min(everywhere)}" if everywhere else "assay discover"
        if len(lacking) == len(reported):
            raise UsageError(f"no node has a network device '{device}'", why=why, remedy=remedy)
        raise UnfitEnvironmentError(f"{folded(lacking)} has no network device '{device}'", why=why, remedy=remedy)
    return found


def network_factor(networks: dict[str, str]) -> tuple[Factor, ...]:
    """The factor of several networks; empty for one or none."""
    if len(networks) <= 1:
        return ()
    return (Factor(NETWORK, tuple(networks), "network", devices=dict(networks)),)


_NEAR = "near-nic"
_NODE = re.compile(r"(?:(?P<network>[^=,]+)=)?(?P<node>\d{1,5})")
#: Network of a plan -> NUMA node of its card, given by the user; the empty name is for all others.
CardNodes = Mapping[str, int]


class Card(msgspec.Struct, frozen=True):
    """The card of a network, and its place if known.

    Attributes:
        network: its level of the factor `network`; empty if all networks of the plan have the same place.
        device: interface or port; empty for the machine's fastest.
        user_node: its NUMA node as given by the user; None if not given.
    """

    network: str = ""
    device: str = ""
    user_node: int | None = None

    def node(self, machine: Machine) -> int | None:
        """Its NUMA node on a machine; None if unknown."""
        if self.user_node is not None:
            return self.user_node
        if self.device:
            found = machine.network_device(self.device)
            return _numa_node(found) if found else None
        known = [(_speed(device), node) for device in machine.devices if (node := _numa_node(device)) is not None]
        return max(known)[1] if known else None


def parse_nodes(text: str) -> dict[str, int]:
    """Network -> NUMA node of its card, from `1` (for all networks) or `ib=1,gbe=0`.

    Raises:
        UsageError: a part is not a node number, or names a network twice.
    """
    found: dict[str, int] = {}
    for part in text.split(","):
        match = _NODE.fullmatch(part.strip())
        name = (match["network"] or "") if match else ""
        if not match or name in found:
            raise UsageError(
                f"'{text}' is not a NUMA node of a network card",
                why="it is one number, or NETWORK=NUMBER for each network, parted by commas",
                remedy="--nic-node 1   # or --nic-node ib=1,gbe=0",
            )
        found[name] = int(match["node"])
    return found


def network_cards(networks: Mapping[str, str], nodes: CardNodes, machines: Sequence[Machine]) -> tuple[Card, ...]:
    """The cards of a plan's networks: a single one if all have the same place.

    Args:
        networks: name -> device; empty if the MPI chooses.
        nodes: places given by the user.
        machines: machines of the plan.

    Raises:
        UsageError: the user names a network that the plan does not have, or a node that no machine has.
    """
    there = sorted({each.index for machine in machines for each in machine.topology.numa_nodes})
    for name, node in nodes.items():
        if node not in there:
            raise UsageError(
                f"--nic-node names NUMA node {node}",
                why=f"nodes of this machine: {', '.join(map(str, there))}",
                remedy=f"--nic-node {there[0]}",
            )
        if name and name not in networks:
            raise UsageError(
                f"--nic-node speaks of a network '{name}'",
                why=f"networks of this plan: {', '.join(networks) or 'none is named'}",
                remedy="--network ib=mlx5_0:1,gbe=eth0 --nic-node ib=1,gbe=0",
            )
    found = [Card(name, device, nodes.get(name, nodes.get(""))) for name, device in networks.items()]
    found = found or [Card(user_node=nodes.get(""))]
    if len({tuple(card.node(machine) for machine in machines) for card in found}) == 1:
        return (msgspec.structs.replace(found[0], network=""),)
    return tuple(found)


def resolve(word: str, machine: Machine, card: Card) -> str:
    """The word with `near-nic` and `far-nic` replaced by the NUMA node; other words unchanged.

    Args:
        word: placement word without `@`.
        machine: machine with the network card.
        card: card of the measured network.

    Raises:
        AbsentPlacementError: the place of the card is unknown, or there is no other node.
    """
    if word == OTHER_NODE:
        usable = {core.numa for core in allowed_cores(machine.topology)}
        near = card.node(machine)
        return f"one-core:numa:{near}" if near in usable and len(usable) > 1 else "one-core"
    asked = parsed(word)
    if asked.form != "card":
        return word
    near = card.node(machine)
    if near is None:
        name = f" {card.device}" if card.device else ""
        why = f"nobody knows which NUMA node the network card{name} belongs to (see --nic-node)"
        raise AbsentPlacementError(word, why)
    return f"{asked.share}:numa:{near if asked.group == _NEAR else _farthest_node(word, near, machine)}"


def _numa_node(device: Device) -> int | None:
    if device.kind not in {"network", "infiniband"}:
        return None
    node = device.value("NUMA node")
    return node if isinstance(node, int) and node >= 0 else None


def _speed(device: Device) -> tuple[bool, float]:
    """A sorting key: InfiniBand before others, then by rate."""
    is_port = device.kind == "infiniband"
    return is_port, device.number("rate" if is_port else "speed") or 0.0


def _farthest_node(word: str, near: int, machine: Machine) -> int:
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
