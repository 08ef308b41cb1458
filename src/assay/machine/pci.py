"""PCI devices: address, memory node, link and driver, from /sys; classes of those that compute."""

import re
from pathlib import Path

from assay.machine import files
from assay.model.facts import Fact, unavailable

_ADDRESS = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
#: PCI base class and subclass -> kind of accelerator.
ACCELERATORS = {
    "0300": "display controller",
    "0302": "3D controller",
    "0380": "display controller",
    "1200": "processing accelerator",
}
#: The kernel's value for an unknown width of a link.
_UNKNOWN_LANES = 255


def driver(path: Path, *, own: bool = False) -> Fact:
    """The driver of a PCI device (`own`), or of the device of an interface."""
    link = (path if own else path / "device") / "driver"
    if link.exists():
        return Fact(link.resolve().name, source="the link 'driver' in /sys")
    return unavailable("no driver is bound")


def locality(device: Path) -> dict[str, Fact]:
    """PCI address and memory node of the device, or of its PCI parent (virtio)."""
    real = device.resolve()
    for path in (real, *real.parents):
        if device.exists() and _ADDRESS.fullmatch(path.name):
            node = files.number(path / "numa_node")
            return {
                "PCI address": Fact(path.name, source="/sys/bus/pci"),
                "NUMA node": unavailable("the firmware assigns none to the device")
                if node is None or node < 0
                else Fact(node, source=f"/sys/bus/pci/devices/{path.name}/numa_node"),
                **_link(path),
            }
    return dict.fromkeys(("PCI address", "NUMA node"), unavailable("it is not a PCI device"))


def _link(path: Path) -> dict[str, Fact]:
    """Current and maximum speed and width of the link of a PCI Express card; empty for others."""
    found = {}
    for name, file, unit, factor in (
        ("PCIe transfer rate", "current_link_speed", "1/s", 1e9),
        ("PCIe lanes", "current_link_width", "", 1),
        ("PCIe transfer rate possible", "max_link_speed", "1/s", 1e9),
        ("PCIe lanes possible", "max_link_width", "", 1),
    ):
        match = re.match(r"[\d.]+", files.text(path / file) or "")
        value = float(match[0]) * factor if match else 0.0
        if 0 < value != _UNKNOWN_LANES:
            source = f"/sys/bus/pci/devices/{path.name}/{file}"
            found[name] = Fact(value if unit else int(value), unit, source)
    return found
