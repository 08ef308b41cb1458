"""Accelerators: cards on PCI, their MIG partitions, OpenCL devices on no bus, and which of them may be used."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from assay.machine import files, opencl, pci
from assay.machine.hwloc_xml import Device as HwlocDevice
from assay.model import other_programs
from assay.model.facts import Fact, unavailable
from assay.model.machine import Device

#: Driver -> variables that hide its devices from programs.
_HIDING = {"nvidia": ("CUDA_VISIBLE_DEVICES",), "amdgpu": ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")}
_NVIDIA = "proc/driver/nvidia"
_PATIENCE_S = 20.0
_CARD = re.compile(r"GPU \d+: .*\(UUID: (GPU-[^)]+)\)")
_PARTITION = re.compile(r"\s+MIG (\S+)\s+Device\s+\d+: \(UUID: (MIG-[^)]+)\)")


def read(
    root: Path,
    seen: Sequence[HwlocDevice] = (),
    environment: Mapping[str, str] = os.environ,
    found_by_opencl: Sequence[opencl.OpenClDevice] = (),
    listed: str = "",
) -> tuple[Device, ...]:
    """Every accelerator, in the order of the PCI addresses; partitions follow their card, others come last.

    Args:
        root: `/`, or a test folder.
        seen: hwloc's devices, for names.
        environment: variables that hide devices.
        found_by_opencl: devices that OpenCL finds.
        listed: output of `nvidia-smi -L`, for MIG partitions.
    """
    cards = {card.name: card for card in _cards(root, seen)}
    visible = _visible(tuple(cards.values()), environment)
    partitions = _partitions(listed)
    on_bus = {device.address for device in found_by_opencl if device.address}
    found: list[Device] = []
    for card in cards.values():
        parts = partitions.get(str(card.facts["UUID"].value), {}) if "UUID" in card.facts else {}
        facts = card.facts | _allowed(root, card, visible.get(card.name), bool(parts))
        facts |= {"computes with": Fact(opencl.NAME, source=opencl.SOURCE)} if card.name in on_bus else {}
        found.append(Device(card.name, card.kind, facts))
        found += (_partition(card, profile, uuid, environment) for uuid, profile in parts.items())
    return (*found, *(_on_no_bus(device) for device in found_by_opencl if not device.address))


def list_partitions(root: Path) -> str:
    """The output of `nvidia-smi -L` if a card is divided, since it takes a second; else empty."""
    if not any((root / _NVIDIA / "capabilities").glob("gpu*/mig/gi*")):
        return ""
    command = ["nvidia-smi", "-L"]  # of the driver, wherever it is installed
    done = other_programs.outcome(command, _PATIENCE_S)
    return done.stdout if done else ""


def _cards(root: Path, seen: Sequence[HwlocDevice]) -> Iterator[Device]:
    models = {device.pci: _model(device.infos) for device in seen if device.kind == "pci"}
    for path in files.entries(root / "sys/bus/pci/devices"):
        kind = pci.ACCELERATORS.get((files.text(path / "class") or "").removeprefix("0x")[:4])
        if kind is None:
            continue
        at = f"/sys/bus/pci/devices/{path.name}"
        numbers = [(files.text(path / name) or "").removeprefix("0x") for name in ("vendor", "device")]
        model = models.get(path.name, "")
        facts = {
            "class": Fact(kind, source=f"{at}/class"),
            "model": Fact(model, source="hwloc")
            if model
            else unavailable("no name of the PCI device is known here (hwloc has none)"),
            "PCI id": Fact(":".join(numbers), source=at),
            "driver": pci.driver(path, own=True),
        }
        yield Device(path.name, "accelerator", facts | _identity(root, path) | pci.locality(path))


def _model(infos: Mapping[str, str]) -> str:
    return " ".join(infos[name] for name in ("PCIVendor", "PCIDevice") if name in infos)


def _identity(root: Path, path: Path) -> dict[str, Fact]:
    """The UUID that the driver gives a card; empty if it gives none."""
    name = f"{_NVIDIA}/gpus/{path.name}/information"
    information = files.fields(files.text(root / name))
    if (uuid := information.get("GPU UUID", "")).startswith("GPU-") and "?" not in uuid:
        return {"UUID": Fact(uuid, source=f"/{name}")}
    if number := files.text(path / "unique_id"):
        return {"UUID": Fact(f"GPU-{number}", source=f"/sys/bus/pci/devices/{path.name}/unique_id")}
    return {}


def _visible(cards: Sequence[Device], environment: Mapping[str, str]) -> dict[str, tuple[bool, str]]:
    """Card -> whether the variable of its driver shows it to programs, and the variable; only where one is set."""
    found: dict[str, tuple[bool, str]] = {}
    for driver, variables in _HIDING.items():
        own = [card for card in cards if card.facts["driver"].value == driver]
        in_order = environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID" or _is_alike(own)
        left = own  # the second variable counts among those that the first one leaves
        for variable in (name for name in variables if name in environment):
            words = _words(environment[variable])
            if not in_order and any(word.isdecimal() for word in words):
                break
            shown = _shown(left, words)
            for card in left:
                found[card.name] = card in shown, f"{variable}={environment[variable]}"
            left = shown
    return found


def _words(value: str) -> list[str]:
    return [word.strip() for word in value.split(",") if word.strip()]


def _shown(cards: Sequence[Device], words: Sequence[str]) -> list[Device]:
    """The cards that words name, numbers in their order; as CUDA does, a word that names none ends the list."""
    shown: list[Device] = []
    for word in words:
        named = [
            card
            for index, card in enumerate(cards)
            if word == str(index) or ("UUID" in card.facts and str(card.facts["UUID"].value).startswith(word))
        ]
        if not named:
            break
        shown += named[:1]
    return shown


def _is_alike(cards: Sequence[Device]) -> bool:
    """Whether their numbers follow the bus: of unlike cards, CUDA counts the fastest first."""
    return len({card.facts["PCI id"].value for card in cards}) <= 1


def _allowed(root: Path, card: Device, visible: tuple[bool, str] | None, divided: bool) -> dict[str, Fact]:  # noqa: FBT001 (a fact)
    """Whether this process may use a card: not divided, not hidden, its file can be opened; empty if unknown."""
    if divided:
        return {"may be used": Fact(value=False, source="it is divided by MIG; its partitions may be used")}
    if visible and not visible[0]:
        return {"may be used": Fact(value=False, source=f"{visible[1]} hides it")}
    file = _file(root, card)
    if file is not None and not os.access(file, os.R_OK | os.W_OK):
        name = f"/{file.relative_to(root)}"
        why = f"{name} is not there: it was not given to this container or job"
        if file.exists():
            why = f"this user may not open {name} (its group, or the cgroup of this job)"
        return {"may be used": Fact(value=False, source=why)}
    if visible:
        return {"may be used": Fact(value=True, source=visible[1])}
    return {"may be used": Fact(value=True, source=f"/{file.relative_to(root)}")} if file else {}


def _file(root: Path, card: Device) -> Path | None:
    """The file through which a card is opened; None if its driver is not known."""
    if card.facts["driver"].value == "nvidia":
        information = files.text(root / f"{_NVIDIA}/gpus/{card.name}/information")
        minor = files.fields(information).get("Device Minor", "")
        return root / f"dev/nvidia{minor}" if minor.isdecimal() else None
    nodes = files.entries(root / f"sys/bus/pci/devices/{card.name}/drm", "render*")
    return root / "dev/dri" / nodes[0].name if nodes else None


def _partitions(listed: str) -> dict[str, dict[str, str]]:
    """UUID of a card -> UUID of each of its MIG partitions -> profile."""
    found: dict[str, dict[str, str]] = {}
    card = ""
    for line in listed.splitlines():
        if match := _CARD.match(line):
            card = match[1]
        elif match := _PARTITION.match(line):
            found.setdefault(card, {})[match[2]] = match[1]
    return found


def _partition(card: Device, profile: str, uuid: str, environment: Mapping[str, str]) -> Device:
    source = "nvidia-smi -L"
    kept = ("class", "model", "PCI id", "driver", "PCI address", "NUMA node")
    facts = {name: card.facts[name] for name in kept} | {
        "UUID": Fact(uuid, source=source),
        "MIG profile": Fact(profile, source=source),
    }
    chosen = environment.get("CUDA_VISIBLE_DEVICES")
    # A number shows the first partition of a card, as long as CUDA counts the cards as the bus does: not judged.
    if chosen is not None and not any(word.isdecimal() for word in _words(chosen)):
        named = any(uuid.startswith(word) for word in _words(chosen))
        why = f"CUDA_VISIBLE_DEVICES={chosen}{'' if named else ' hides it'}"
        facts["may be used"] = Fact(named, source=why)
    return Device(f"{card.name}/{uuid}", "accelerator", facts)


def _on_no_bus(device: opencl.OpenClDevice) -> Device:
    facts = {
        "model": Fact(device.name, source=opencl.SOURCE),
        "computes with": Fact(opencl.NAME, source=opencl.SOURCE),
        "platform": Fact(device.platform, source=opencl.SOURCE),
        "driver version": Fact(device.driver, source=opencl.SOURCE),
        **({"UUID": Fact(device.uuid, source=opencl.SOURCE)} if device.uuid else {}),
        **dict.fromkeys(("PCI address", "NUMA node"), unavailable("it is not a PCI device")),
    }
    return Device(device.word, "accelerator", facts)
