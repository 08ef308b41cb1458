"""Firmware versions of network cards, from their drivers, and the version of OFED if installed."""

import fcntl
import re
import socket
import struct
from pathlib import Path

from assay.machine import files
from assay.model.facts import Fact

_SIOCETHTOOL, _GDRVINFO = 0x8946, 3
#: struct ethtool_drvinfo of linux/ethtool.h: cmd, driver, version, firmware, and further fields.
_DRVINFO = struct.Struct("I32s32s32s96x")
#: struct ifreq of linux/if.h: the name of an interface, and a pointer.
_IFREQ = struct.Struct("16sP16x")
_OFED = "usr/bin/ofed_info"


def live(root: Path = Path("/")) -> dict[str, Fact]:
    """Interface -> version of its card's firmware, if the driver reports one."""
    found: dict[str, Fact] = {}
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
            for path in files.entries(root / "sys/class/net"):
                if version := _firmware(connection, path.name):
                    found[path.name] = Fact(version, source="ETHTOOL_GDRVINFO")
    except OSError:
        pass
    return found


def _firmware(connection: socket.socket, interface: str) -> str:
    from ctypes import addressof, create_string_buffer  # noqa: PLC0415 (2 ms, seldom needed)

    buffer = create_string_buffer(_DRVINFO.pack(_GDRVINFO, b"", b"", b""), _DRVINFO.size)
    try:
        fcntl.ioctl(connection, _SIOCETHTOOL, _IFREQ.pack(interface.encode(), addressof(buffer)))
    except OSError:
        return ""
    text: str = _DRVINFO.unpack(buffer.raw)[3].split(b"\0")[0].decode(errors="replace").strip()
    return "" if text.upper() in {"", "N/A"} else text


def ofed(root: Path) -> dict[str, Fact]:
    """`OFED` with its release, from its own program; empty if it is not installed."""
    content = files.text(root / _OFED) or ""
    match = re.search(r"(?:MLNX_)?OFED(?:_LINUX|_internal)?-\d[\w.-]*", content)
    return {"OFED": Fact(match[0].rstrip(".-"), source=f"/{_OFED}")} if match else {}
