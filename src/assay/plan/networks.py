"""The networks of a run: `gbe=eth0,ib=mlx5_0:1`; one for all cases, or several as a factor."""

import re
from collections.abc import Collection, Mapping

from assay.launch.networks import PROVIDERS
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.machine import device_of
from assay.model.node_sets import folded
from assay.model.plan import Factor

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
