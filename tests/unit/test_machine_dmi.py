"""Memory modules, from tables built as the SMBIOS specification (DSP0134) lays them out."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.machine import dmi

DDR4, DDR5 = 0x1A, 0x22
END = bytes([127, 4, 0, 0]) + b"\0\0"


def structure(kind: int, body: bytes, *strings: str) -> bytes:
    """Header (type, length, handle), formatted area, strings and the double zero."""
    text = b"".join(word.encode() + b"\0" for word in strings) + b"\0" if strings else b"\0\0"
    return struct.pack("<BBH", kind, 4 + len(body), 0x1100) + body + text


def slot(
    locator: str, bank: str, size_mb: int, *, kind: int = DDR4, speeds: tuple[int, int] = (3200, 2933)
) -> bytes:
    """A memory device, type 17: sizes from 32 GiB on are extended; speeds possible and configured."""
    extended = size_mb >= 0x7FFF
    body = struct.pack(
        "<HHHHHBBBBBHHBBBBBIH",
        0x1000, 0xFFFE, 72, 64, 0x7FFF if extended else size_mb, 9, 0, 1, 2 if bank else 0, kind, 0x80, speeds[0],
        0, 0, 0, 0, 2, size_mb if extended else 0, speeds[1],
    )  # fmt: skip
    return structure(17, body, *filter(None, (locator, bank)))


def plant(root: Path, table: bytes) -> Path:
    path = root / "sys/firmware/dmi/tables/DMI"
    path.parent.mkdir(parents=True)
    path.write_bytes(table)
    return root


def test_modules_have_size_place_kind_and_the_speed_they_are_configured_to() -> None:
    table = structure(0, b"\1\2", "a BIOS") + slot("DIMM_A1", "BANK 0", 16384) + slot("DIMM_A2", "BANK 1", 0) + END
    assert dmi.modules(table) == (
        dmi.Module(16 * 2**30, "DIMM_A1", "BANK 0", "DDR4", 2933e6),
        dmi.Module(0, "DIMM_A2", "BANK 1", "DDR4", 2933e6),
    )


def test_a_module_of_64_gib_stands_in_the_extended_size() -> None:
    (module,) = dmi.modules(slot("A1", "", 65536, kind=DDR5, speeds=(5600, 0)) + END)
    assert (module.size_bytes, module.kind, module.transfers_per_s) == (64 * 2**30, "DDR5", 5600e6)


def test_a_table_of_old_firmware_has_shorter_structures() -> None:
    body = struct.pack("<HHHHHBBBBBH", 0x1000, 0xFFFE, 64, 64, 0x8000 | 512, 9, 0, 1, 2, 0x18, 0x80)
    (module,) = dmi.modules(structure(17, body, "DIMM0", "BANK0"))
    assert (module.size_bytes, module.kind, module.transfers_per_s) == (512 * 1024, "DDR3", 0.0)


@pytest.mark.parametrize(
    ("places", "channels"),
    [
        ([("DIMM_A1", "BANK 0"), ("DIMM_B1", "BANK 2"), ("DIMM_C1", "BANK 4")], 3),
        ([("DIMM_A1", "BANK 0"), ("DIMM_A2", "BANK 1"), ("DIMM_B1", "BANK 2"), ("DIMM_B2", "BANK 3")], 2),
        ([("DIMM 0", "P0 CHANNEL A"), ("DIMM 1", "P0 CHANNEL A"), ("DIMM 0", "P1 CHANNEL A")], 2),
        ([("CPU1_DIMM_A1", "NODE 1"), ("CPU2_DIMM_A1", "NODE 2")], 2),
    ],
)
def test_channels_are_guessed_from_the_names_of_the_places(
    tmp_path: Path, places: list[tuple[str, str]], channels: int
) -> None:
    table = b"".join(slot(locator, bank, 16384) for locator, bank in places) + slot("DIMM_Z9", "BANK 9", 0)
    facts = dmi.facts(plant(tmp_path, table + END))
    assert facts["populated channels"].value == channels
    assert facts["populated channels"].guessed
    assert facts["populated channels"].origin == "guess: the modules' names in /sys/firmware/dmi/tables/DMI"


def test_like_modules_are_counted_and_the_slowest_sets_the_transfer_rate(tmp_path: Path) -> None:
    table = (
        slot("A1", "", 16384)
        + slot("B1", "", 16384)
        + slot("C1", "", 8192, speeds=(3200, 2400))
        + slot("D1", "", 0)
    )
    facts = dmi.facts(plant(tmp_path, table + END))
    assert facts["modules"].value == ["2 x 16 GiB DDR4 at 2933 MT/s", "1 x 8 GiB DDR4 at 2400 MT/s"]
    assert facts["module slots"].value == ["3 of 4 filled"]
    assert (facts["transfer rate"].value, facts["transfer rate"].unit) == (2400e6, "T/s")


def test_without_a_table_the_kernels_error_detection_tells_modules_and_channels_but_no_speed(
    tmp_path: Path,
) -> None:
    for channel in (0, 1):
        folder = tmp_path / f"sys/devices/system/edac/mc/mc0/dimm{channel}"
        folder.mkdir(parents=True)
        tree = {"size": "16384", "dimm_location": f"channel {channel} slot 0", "dimm_mem_type": "Registered-DDR4"}
        for name, content in tree.items():
            (folder / name).write_text(content + "\n")
    facts = dmi.facts(tmp_path)
    assert facts["modules"].value == ["2 x 16 GiB DDR4"]
    assert facts["populated channels"].value == 2
    assert "EDAC does not tell" in facts["transfer rate"].unavailable


def test_a_firmware_without_table_is_the_reason(tmp_path: Path) -> None:
    facts = dmi.facts(tmp_path)
    assert set(facts) == {"modules", "transfer rate", "populated channels"}
    assert all("no DMI table" in fact.unavailable for fact in facts.values())


def test_a_table_that_breaks_off_yields_what_stands_before_the_break() -> None:
    whole = slot("A1", "", 16384) + slot("B1", "", 16384)
    assert [module.locator for module in dmi.modules(whole[:-3])] == ["A1"]


@given(st.binary(max_size=300))
def test_no_table_whatever_breaks_the_reader(noise: bytes) -> None:
    assert all(module.size_bytes >= 0 for module in dmi.modules(noise + slot("A1", "", 1024)[:9] + noise))
