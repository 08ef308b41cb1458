"""Network interfaces, InfiniBand ports and accelerators, each with its memory node."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.machine import files
from assay.machine.hwloc_xml import Device as HwlocDevice
from assay.model.facts import Fact, unavailable
from assay.model.machine import INFINIBAND, SLINGSHOT, Device

_PCI_ADDRESS = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
#: PCI base class and subclass -> kind of device.
_ACCELERATORS = {"0300": "display controller", "0302": "3D controller", "1200": "processing accelerator"}

#: Type of an interface with IP over InfiniBand (linux/if_arp.h).
_ARPHRD_INFINIBAND = 32
#: The kernel's value for an unknown width of a link.
_UNKNOWN_LANES = 255


def read(
    root: Path,
    seen: tuple[HwlocDevice, ...] = (),
    shaped: Mapping[str, Fact] | None = None,
    firmware: Mapping[str, Fact] | None = None,
) -> tuple[Device, ...]:
    """Every device of the three kinds.

    Args:
        root: `/`, or a test folder.
        seen: hwloc's devices, for the names of PCI devices.
        shaped: interface -> rate of its traffic shaper.
        firmware: interface -> version of its card's firmware.
    """
    cards = (*_infiniband(root), *_slingshot(root))
    return (*_network(root, shaped or {}, firmware or {}), *cards, *_accelerators(root, seen))


def _network(root: Path, shaped: Mapping[str, Fact], firmware: Mapping[str, Fact]) -> Iterator[Device]:
    for path in files.entries(root / "sys/class/net"):
        if not path.is_dir():  # bonding_masters is a file
            continue
        at = f"sys/class/net/{path.name}"
        virtual = "/devices/virtual/" in str(path.resolve())
        yield Device(
            path.name,
            "network",
            {
                "virtual": Fact(virtual, source=f"/{at}"),
                **_versions(root, path),
                **({"firmware": firmware[path.name]} if path.name in firmware else {}),
                "speed": _speed(root, at, virtual=virtual),
                **_link_layer(root, at),
                "mtu": files.fact(root, f"{at}/mtu", int, "B"),
                "state": files.fact(root, f"{at}/operstate", str),
                **({"shaped rate": shaped[path.name]} if path.name in shaped else {}),
                **_locality(path / "device"),
            },
        )


def _link_layer(root: Path, at: str) -> dict[str, Fact]:
    """The link layer of an interface, if it is not Ethernet."""
    source = f"{at}/type"
    is_infiniband = files.number(root / source) == _ARPHRD_INFINIBAND
    return {"link layer": Fact(INFINIBAND, source=f"/{source}")} if is_infiniband else {}


def _speed(root: Path, at: str, *, virtual: bool) -> Fact:
    found = files.fact(
        root, f"{at}/speed", lambda content: int(content) * 10**6 if int(content) > 0 else None, "bit/s"
    )
    if found.known:
        return found
    if virtual:
        return unavailable("a virtual interface has no wire")
    state = files.text(root / at / "operstate")
    return unavailable("the link is down" if state == "down" else "the driver gives none")


def _infiniband(root: Path) -> Iterator[Device]:
    for adapter in files.entries(root / "sys/class/infiniband"):
        for port in files.entries(adapter / "ports"):
            at = f"sys/class/infiniband/{adapter.name}/ports/{port.name}"
            yield Device(
                f"{adapter.name}:{port.name}",
                "infiniband",
                {
                    **_versions(root, adapter),
                    **_firmware(root, adapter.name),
                    "rate": files.fact(root, f"{at}/rate", _rate, "bit/s"),
                    "lanes": files.fact(root, f"{at}/rate", _infiniband_width),
                    "state": files.fact(root, f"{at}/state", lambda content: content.partition(": ")[2]),
                    "link layer": files.fact(root, f"{at}/link_layer", str),
                    "lid": files.fact(root, f"{at}/lid", lambda content: int(content, 16)),
                    **_locality(adapter / "device"),
                },
            )


def _slingshot(root: Path) -> Iterator[Device]:
    """Cards of HPE's fabric; the kernel also has an Ethernet interface (`hsn0`) for each."""
    for card in files.entries(root / "sys/class/cxi"):
        facts = {**_versions(root, card), "link layer": Fact(SLINGSHOT, source="/sys/class/cxi")}
        yield Device(card.name, "infiniband", {**facts, **_locality(card / "device")})


def _rate(content: str) -> float | None:
    """Bit/s from `100 Gb/sec (4X EDR)`."""
    match = re.match(r"([\d.]+)\s*Gb/sec", content)
    return float(match[1]) * 1e9 if match else None


def _infiniband_width(content: str) -> str | None:
    match = re.search(r"\((.*)\)", content)
    return match[1] if match else None


def _accelerators(root: Path, seen: tuple[HwlocDevice, ...]) -> Iterator[Device]:
    for path in files.entries(root / "sys/bus/pci/devices"):
        kind = _ACCELERATORS.get((files.text(path / "class") or "").removeprefix("0x")[:4])
        if kind is None:
            continue
        numbers = [(files.text(path / name) or "").removeprefix("0x") for name in ("vendor", "device")]
        yield Device(
            path.name,
            "accelerator",
            {
                "class": Fact(kind, source=f"/sys/bus/pci/devices/{path.name}/class"),
                "model": _model(path.name, seen),
                "PCI id": Fact(":".join(numbers), source=f"/sys/bus/pci/devices/{path.name}"),
                "driver": _driver(path, own=True),
                **_locality(path),
            },
        )


def _model(address: str, seen: tuple[HwlocDevice, ...]) -> Fact:
    for device in seen:
        names = [device.infos[name] for name in ("PCIVendor", "PCIDevice") if name in device.infos]
        if device.kind == "pci" and names and device.pci == address:
            return Fact(" ".join(names), source="hwloc")
    return unavailable("no name of the PCI device is known here (hwloc has none)")


def _driver(path: Path, *, own: bool = False) -> Fact:
    link = (path if own else path / "device") / "driver"
    if link.exists():
        return Fact(link.resolve().name, source="the link 'driver' in /sys")
    return unavailable("no driver is bound")


def _versions(root: Path, path: Path) -> dict[str, Fact]:
    """The driver, and its version if it differs from the kernel's."""
    driver = _driver(path)
    version = files.fact(root, f"sys/module/{driver.value}/version", str)
    return {"driver": driver, **({"driver version": version} if driver.known and version.known else {})}


def _firmware(root: Path, adapter: str) -> dict[str, Fact]:
    found = files.fact(root, f"sys/class/infiniband/{adapter}/fw_ver", str)
    return {"firmware": found} if found.known else {}


def _locality(device: Path) -> dict[str, Fact]:
    """PCI address and memory node of the device, or of its PCI parent (virtio)."""
    real = device.resolve()
    for path in (real, *real.parents):
        if device.exists() and _PCI_ADDRESS.fullmatch(path.name):
            node = files.number(path / "numa_node")
            return {
                "PCI address": Fact(path.name, source="/sys/bus/pci"),
                "NUMA node": unavailable("the firmware assigns none to the device")
                if node is None or node < 0
                else Fact(node, source=f"/sys/bus/pci/devices/{path.name}/numa_node"),
                **_pcie_link(path),
            }
    return dict.fromkeys(("PCI address", "NUMA node"), unavailable("it is not a PCI device"))


def _pcie_link(path: Path) -> dict[str, Fact]:
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
