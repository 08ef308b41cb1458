"""Memory modules, from the firmware's table (SMBIOS) or the kernel's error detection (EDAC)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.machine import files
from assay.model.facts import Fact, unavailable
from assay.model.units import format_size

_TABLE = "sys/firmware/dmi/tables/DMI"
_EDAC = "sys/devices/system/edac/mc"
_MEMORY_DEVICE = 17
_HEADER_BYTES = 4
#: Types of modules in servers, from table 78 of the SMBIOS specification 3.7 (DSP0134).
_TYPES = {
    0x18: "DDR3", 0x1A: "DDR4", 0x1E: "LPDDR4", 0x1F: "non-volatile", 0x20: "HBM", 0x21: "HBM2",
    0x22: "DDR5", 0x23: "LPDDR5", 0x24: "HBM3",
}  # fmt: skip


@dataclass(frozen=True)
class Module:
    """One memory slot.

    Attributes:
        size_bytes: 0 for an empty slot.
        locator: as printed on the board.
        bank: the firmware's second name of the slot.
        kind: `DDR4`; empty if unknown.
        transfers_per_s: configured rate, else the maximum; 0 if unknown.
    """

    size_bytes: int
    locator: str
    bank: str
    kind: str
    transfers_per_s: float


def modules(table: bytes) -> tuple[Module, ...]:
    """Every memory slot of an SMBIOS table; of a truncated table the slots before the end."""
    return tuple(_module(area, strings) for kind, area, strings in _structures(table) if kind == _MEMORY_DEVICE)


def _structures(table: bytes) -> Iterator[tuple[int, bytes, list[str]]]:
    """Type, formatted area and strings of each structure (DSP0134, 6.1)."""
    at = 0
    while at + _HEADER_BYTES <= len(table):
        kind, length = table[at], table[at + 1]
        end = table.find(b"\0\0", at + length)
        if length < _HEADER_BYTES or end < 0:
            return
        strings = table[at + length : end].split(b"\0")
        yield kind, table[at : at + length], [word.decode("latin-1").strip() for word in strings]
        at = end + 2


def _module(area: bytes, strings: list[str]) -> Module:
    """A slot; offsets as in DSP0134, 7.18. In the shorter area of older firmware, missing fields are zero."""

    def number(offset: int, width: int) -> int:
        return int.from_bytes(area[offset : offset + width], "little") if offset + width <= len(area) else 0

    def string(offset: int) -> str:
        index = number(offset, 1)
        return strings[index - 1] if 0 < index <= len(strings) else ""

    size = number(0x0C, 2)
    if size == 0x7FFF:  # noqa: PLR2004 (the specification's mark for "see the extended size")
        size_bytes = (number(0x1C, 4) & 0x7FFFFFFF) * 2**20
    else:
        size_bytes = 0 if size == 0xFFFF else (size & 0x7FFF) * (2**10 if size & 0x8000 else 2**20)  # noqa: PLR2004
    speeds = (number(0x20, 2), number(0x58, 4)), (number(0x15, 2), number(0x54, 4))
    rates = [large if small == 0xFFFF else small for small, large in speeds]  # noqa: PLR2004
    return Module(
        size_bytes=size_bytes,
        locator=string(0x10),
        bank=string(0x11),
        kind=_TYPES.get(number(0x12, 1), ""),
        transfers_per_s=float(rates[0] or rates[1]) * 1e6,
    )


def facts(root: Path) -> dict[str, Fact]:
    """Facts of the memory modules, from SMBIOS, else from EDAC, else why they are unknown."""
    try:
        table = (root / _TABLE).read_bytes()
    except PermissionError:
        reason = f"/{_TABLE} needs root"
    except OSError:
        reason = f"the firmware gives no DMI table (no /{_TABLE})"
    else:
        slots = modules(table)
        if any(slot.size_bytes for slot in slots):
            return _from_smbios(slots)
        reason = f"/{_TABLE} names no memory module"
    return _from_edac(root, reason)


def _from_smbios(slots: tuple[Module, ...]) -> dict[str, Fact]:
    filled = [slot for slot in slots if slot.size_bytes]
    rates = {slot.transfers_per_s for slot in filled}
    source = f"/{_TABLE}"
    slowest = min(rates)
    return {
        "modules": Fact(_summary(filled), source=source),
        "module slots": Fact([f"{len(filled)} of {len(slots)} filled"], source=source),
        "transfer rate": Fact(slowest, "T/s", source)
        if slowest
        else unavailable(f"{source} gives no speed of a module"),
        "populated channels": _channels(filled),
    }


def _summary(filled: list[Module]) -> list[str]:
    words = [
        " ".join(
            filter(
                None,
                (
                    format_size(slot.size_bytes),
                    slot.kind,
                    f"at {slot.transfers_per_s / 1e6:.0f} MT/s" if slot.transfers_per_s else "",
                ),
            )
        )
        for slot in filled
    ]
    return [f"{words.count(word)} x {word}" for word in dict.fromkeys(words)]


def _channels(filled: list[Module]) -> Fact:
    """Number of channels, from the names of the modules: SMBIOS has no field for it.

    `DIMM_A1` and `DIMM_A2` share channel A; `P0 CHANNEL A` names it. The trailing number counts modules.
    """
    named = {
        (slot.bank if "channel" in slot.bank.lower() else "", _channel(slot.locator, slot.bank)) for slot in filled
    }
    if any(not slot.locator for slot in filled):
        return unavailable(f"/{_TABLE} does not name the modules' places")
    return Fact(len(named), source=f"the modules' names in /{_TABLE}", guessed=True)


def _channel(locator: str, bank: str) -> str:
    if "channel" in bank.lower():
        return re.sub(r"[\s_-]*(DIMM|slot)?[\s_-]*\d*$", "", locator, flags=re.IGNORECASE)
    lettered = re.fullmatch(r"(.*[A-Z])\d", locator)
    return lettered[1] if lettered else f"{bank} {locator}"


def _from_edac(root: Path, reason: str) -> dict[str, Fact]:
    """Slots from the memory controllers, which report channels but not speeds."""
    folders = [
        folder
        for controller in files.entries(root / _EDAC, "mc[0-9]*")
        for folder in (*files.entries(controller, "dimm[0-9]*"), *files.entries(controller, "rank[0-9]*"))
        if files.number(folder / "size")
    ]
    if not folders:
        return dict.fromkeys(
            ("modules", "transfer rate", "populated channels"), unavailable(f"{reason}, and EDAC none")
        )
    source = f"/{_EDAC}"
    slots = [
        Module(
            size_bytes=(files.number(folder / "size") or 0) * 2**20,
            locator=folder.name,
            bank=folder.parent.name,
            kind=(files.text(folder / "dimm_mem_type") or "")
            .removeprefix("Unbuffered-")
            .removeprefix("Registered-"),
            transfers_per_s=0.0,
        )
        for folder in folders
    ]
    places = [re.search(r"channel (\d+)", files.text(folder / "dimm_location") or "") for folder in folders]
    channels = {(slot.bank, place[1]) for slot, place in zip(slots, places, strict=True) if place}
    return {
        "modules": Fact(_summary(slots), source=source),
        "transfer rate": unavailable(f"{reason}; EDAC does not tell it"),
        "populated channels": Fact(len(channels), source=source)
        if all(places)
        else unavailable(f"{source} does not name the channels"),
    }
