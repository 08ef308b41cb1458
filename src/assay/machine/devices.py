"""Network interfaces and InfiniBand ports, each with its memory node."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.machine import files, pci
from assay.model.facts import Fact, unavailable
from assay.model.machine import INFINIBAND, SLINGSHOT, Device

#: Type of an interface with IP over InfiniBand (linux/if_arp.h).
_ARPHRD_INFINIBAND = 32


def read(
    root: Path,
    shaped: Mapping[str, Fact] | None = None,
    firmware: Mapping[str, Fact] | None = None,
) -> tuple[Device, ...]:
    """Network interfaces and InfiniBand ports.

    Args:
        root: `/`, or a test folder.
        shaped: interface -> rate of its traffic shaper.
        firmware: interface -> version of its card's firmware.
    """
    return (*_network(root, shaped or {}, firmware or {}), *_infiniband(root), *_slingshot(root))


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
                **pci.locality(path / "device"),
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
                    **pci.locality(adapter / "device"),
                },
            )


def _slingshot(root: Path) -> Iterator[Device]:
    """Cards of HPE's fabric; the kernel also has an Ethernet interface (`hsn0`) for each."""
    for card in files.entries(root / "sys/class/cxi"):
        facts = {**_versions(root, card), "link layer": Fact(SLINGSHOT, source="/sys/class/cxi")}
        yield Device(card.name, "infiniband", {**facts, **pci.locality(card / "device")})


def _rate(content: str) -> float | None:
    """Bit/s from `100 Gb/sec (4X EDR)`."""
    match = re.match(r"([\d.]+)\s*Gb/sec", content)
    return float(match[1]) * 1e9 if match else None


def _infiniband_width(content: str) -> str | None:
    match = re.search(r"\((.*)\)", content)
    return match[1] if match else None


def _versions(root: Path, path: Path) -> dict[str, Fact]:
    """The driver, and its version if it differs from the kernel's."""
    driver = pci.driver(path)
    version = files.fact(root, f"sys/module/{driver.value}/version", str)
    return {"driver": driver, **({"driver version": version} if driver.known and version.known else {})}


def _firmware(root: Path, adapter: str) -> dict[str, Fact]:
    found = files.fact(root, f"sys/class/infiniband/{adapter}/fw_ver", str)
    return {"firmware": found} if found.known else {}
