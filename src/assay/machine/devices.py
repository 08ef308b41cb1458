"""Network interfaces and InfiniBand ports, each with its memory node.

What /sys does not tell of an interface: its firmware, by an ioctl of ethtool; and the traffic shapers that limit
its rate below that of the wire, by `tc`.
"""

import fcntl
import json
import os
import re
import shutil
import socket
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.machine import files, pci
from assay.model import other_programs
from assay.model.facts import Fact, unavailable
from assay.model.machine import INFINIBAND, SLINGSHOT, Device

#: Type of an interface with IP over InfiniBand (linux/if_arp.h).
_ARPHRD_INFINIBAND = 32


def read(
    root: Path,
    shaped: Mapping[str, Mapping[str, Fact]] | None = None,
    firmware: Mapping[str, Fact] | None = None,
) -> tuple[Device, ...]:
    """Network interfaces and InfiniBand ports.

    Args:
        root: `/`, or a test folder.
        shaped: interface -> facts of its traffic shaper.
        firmware: interface -> version of its card's firmware.
    """
    return (*_network(root, shaped or {}, firmware or {}), *_infiniband(root), *_slingshot(root))


def _network(
    root: Path, shaped: Mapping[str, Mapping[str, Fact]], firmware: Mapping[str, Fact]
) -> Iterator[Device]:
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
                **shaped.get(path.name, {}),
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


_SIOCETHTOOL, _GDRVINFO = 0x8946, 3
#: struct ethtool_drvinfo of linux/ethtool.h: cmd, driver, version, firmware, and further fields.
_DRVINFO = struct.Struct("I32s32s32s96x")
#: struct ifreq of linux/if.h: the name of an interface, and a pointer.
_IFREQ = struct.Struct("16sP16x")


def firmware_versions(root: Path) -> dict[str, Fact]:
    """Interface -> version of its card's firmware, if the driver reports one."""
    found: dict[str, Fact] = {}
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
            for path in files.entries(root / "sys/class/net"):
                if version := _reported_firmware(connection, path.name):
                    found[path.name] = Fact(version, source="ETHTOOL_GDRVINFO")
    except OSError:
        pass
    return found


def _reported_firmware(connection: socket.socket, interface: str) -> str:
    from ctypes import addressof, create_string_buffer  # noqa: PLC0415 (2 ms, seldom needed)

    buffer = create_string_buffer(_DRVINFO.pack(_GDRVINFO, b"", b"", b""), _DRVINFO.size)
    try:
        fcntl.ioctl(connection, _SIOCETHTOOL, _IFREQ.pack(interface.encode(), addressof(buffer)))
    except OSError:
        return ""
    text: str = _DRVINFO.unpack(buffer.raw)[3].split(b"\0")[0].decode(errors="replace").strip()
    return "" if text.upper() in {"", "N/A"} else text


#: Folders of system programs that a user's PATH may lack.
_ELSEWHERE = ("/usr/sbin", "/sbin")
_PATIENCE_S = 5.0
_BITS = 8
#: Queueing disciplines that limit the sending rate -> option with the rate, in B/s.
_RATES = {"tbf": "rate", "netem": "rate", "cake": "bandwidth"}


def shapers() -> dict[str, dict[str, Fact]]:
    """Interface -> facts of its traffic shaper; empty if there is no shaper, or `tc` is missing."""
    program = shutil.which("tc", path=os.pathsep.join([os.environ.get("PATH", ""), *_ELSEWHERE]))
    if program is None:
        return {}
    return parse_shapers(other_programs.output((program, "-j", "qdisc", "show"), _PATIENCE_S))


def parse_shapers(shown: str) -> dict[str, dict[str, Fact]]:
    """The same from the output of `tc -j qdisc show`; empty if that cannot be parsed."""
    try:
        disciplines = json.loads(shown)
    except ValueError:
        return {}
    return dict(_shaped(disciplines)) if isinstance(disciplines, list) else {}


def _shaped(disciplines: list[Any]) -> Iterator[tuple[str, dict[str, Fact]]]:
    """The limits of root disciplines only: others may limit a part of the traffic.

    `shaped burst`: bytes that a bucket of tokens (`tbf`) lets pass at once. `netem` and `cake` have no bucket:
    they send packet by packet at their rate.
    """
    for each in disciplines:
        if not isinstance(each, dict) or not each.get("root"):
            continue
        kind, name, options = each.get("kind"), each.get("dev"), each.get("options")
        options = options if isinstance(options, Mapping) else {}
        rate = options.get(_RATES.get(str(kind), ""))
        rate = rate.get("rate") if isinstance(rate, Mapping) else rate  # netem nests it one level deeper
        if isinstance(name, str) and isinstance(rate, int) and rate > 0:
            source = f"tc qdisc show dev {name} ({kind})"
            burst = options.get("burst") if kind == "tbf" else 0
            held = {"shaped burst": Fact(burst, "B", source)} if isinstance(burst, int) else {}
            yield name, {"shaped rate": Fact(rate * _BITS, "bit/s", source), **held}
