"""Networks that a run goes over: `gbe=eth0,ib=mlx5_0:1`, one of them for all, or several as a factor."""

import re

from assay.model.errors import UsageError
from assay.model.plan import Factor

NETWORK = "network"
#: What an interface, or a port of a card, may be called: no option and nothing that a shell would see in it.
_DEVICE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@-]*")
_HELP = "--network gbe=eth0,ib=mlx5_0:1"


def parse_networks(text: str) -> dict[str, str]:
    """Name -> device, an interface or a port of an InfiniBand card; a device alone is its own name.

    Raises:
        UsageError: a part is empty, said twice, or no name of a device.
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        name, named, device = part.strip().partition("=")
        device = device if named else name
        if not _DEVICE.fullmatch(name) or not _DEVICE.fullmatch(device):
            why = "a network is a name and a device, NAME=DEVICE"
            raise UsageError(f"'{part.strip()}' is no network", why=why, remedy=_HELP)
        if name in found:
            raise UsageError(f"network '{name}' is given twice", remedy=_HELP)
        found[name] = device
    return found


def of_networks(networks: dict[str, str]) -> tuple[Factor, ...]:
    """The factor that several networks are; nothing for one or none."""
    if len(networks) <= 1:
        return ()
    return (Factor(NETWORK, tuple(networks), "network", devices=dict(networks)),)
