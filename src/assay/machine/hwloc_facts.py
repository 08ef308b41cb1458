"""Facts and devices of another machine, from its hwloc XML or description."""

from collections.abc import Mapping, Sequence

from assay.machine import processor
from assay.machine.hwloc_xml import Device as HwlocDevice
from assay.machine.hwloc_xml import Exported
from assay.machine.pci import ACCELERATORS
from assay.machine.topology import Cpus
from assay.model.facts import Fact, unavailable
from assay.model.machine import Device, Topology

_PROCESSOR = {
    "model": "CPUModel",
    "vendor": "CPUVendor",
    "family": "CPUFamilyNumber",
    "model number": "CPUModelNumber",
    "stepping": "CPUStepping",
}
_SYSTEM = {
    "host name": "HostName",
    "kernel": "OSRelease",
    "kernel version": "OSVersion",
    "product": "DMIProductName",
    "firmware": "DMIBIOSVersion",
    "cgroup": "LinuxCgroup",
}
_FREQUENCIES = {"nominal frequency": "FrequencyBaseMHz", "highest frequency": "FrequencyMaxMHz"}
#: Infos with the UUID of a card, by its driver.
_UUIDS = ("NVIDIAUUID", "AMDUUID", "LevelZeroUUID")
#: Infos that are left out: hardware addresses are not needed, names and UUIDs are facts of their own.
_LEFT_OUT = {"Address", "NodeGUID", "SysImageGUID", "PCIVendor", "PCIDevice", *_UUIDS}


def facts(exported: Exported, topology: Topology, memory: Fact, source: str) -> dict[str, dict[str, Fact]]:
    """The sections of a live machine, as far as `source` (name of a file or description) has the facts."""
    silent = _stated("", source)
    return {
        "processor": {
            **_named(exported.processor, _PROCESSOR, source),
            "architecture": _named(exported.system, {"": "Architecture"}, source)[""],
            **processor.counts(topology, source),
            **{name: _highest(exported, info, source) for name, info in _FREQUENCIES.items()},
        },
        "frequency": dict.fromkeys(("driver", "governor", "boost"), silent),
        "memory": {"may be used": memory, "transparent huge pages": silent, "modules": silent},
        "system": {**_named(exported.system, _SYSTEM, source), "virtualisation": silent},
        "mitigations": {"mitigations": silent},
    }


def _stated(word: str, source: str) -> Fact:
    """The word as a fact; empty ones are unavailable."""
    return Fact(word, source=source) if word else unavailable(f"{source} does not tell")


def _named(infos: Mapping[str, str], names: Mapping[str, str], source: str) -> dict[str, Fact]:
    return {
        name: _stated(infos[info], f"{source} ({info})") if infos.get(info) else _stated("", source)
        for name, info in names.items()
    }


def _highest(exported: Exported, info: str, source: str) -> Fact:
    """The highest value over all kinds of cpu."""
    values = [int(kind[info]) for kind in exported.kinds if kind.get(info, "").isdecimal()]
    return Fact(max(values) * 10**6, "Hz", f"{source} ({info})") if values else _stated("", source)


def devices(exported: Exported, topology: Topology, source: str) -> tuple[Device, ...]:
    """Network interfaces, InfiniBand ports and accelerators that the XML holds, with the names of a live machine.

    A card has several OS devices (`card0`, `renderD128`, `cuda0`): it is one accelerator, named by its address.
    """
    on_bus = {device.pci: device for device in exported.devices if device.kind == "pci"}
    networks = [device for device in exported.devices if device.kind in {"network", "infiniband"}]
    others = [device for device in exported.devices if device.kind == "accelerator"]
    cards = {at for at, device in on_bus.items() if device.pci_type[:4] in ACCELERATORS}
    cards |= {device.pci for device in others if device.pci}
    found = [_device(device, on_bus.get(device.pci), topology, source) for device in networks]
    for address in sorted(cards, key=lambda at: (len(at), at)):
        own = tuple(device for device in others if device.pci == address)
        found.append(_card(on_bus[address], own, topology, source))
    return (*found, *(_device(device, None, topology, source) for device in others if not device.pci))


def _card(card: HwlocDevice, own: Sequence[HwlocDevice], topology: Topology, source: str) -> Device:
    """An accelerator on PCI with its OS devices."""
    kind, _, numbers = card.pci_type.partition(" ")
    infos = {name: value for device in reversed(own) for name, value in device.infos.items()}
    uuid = next((infos[name] for name in _UUIDS if name in infos), "")
    computing = sorted(device.name for device in own if device.computes)
    stated = _device(card, card, topology, source)
    facts = {
        "class": _stated(ACCELERATORS.get(kind, ""), source),
        "model": stated.facts["model"],
        "PCI id": _stated(numbers.strip("[]"), source),
        "driver": _stated("", source),
        **({"UUID": Fact(uuid, source=source)} if uuid else {}),
        **({"computes with": Fact(", ".join(computing), source=source)} if computing else {}),
        **{name: Fact(value, source=source) for name, value in infos.items() if name not in _LEFT_OUT},
    }
    return Device(
        card.pci, "accelerator", facts | {name: stated.facts[name] for name in ("PCI address", "NUMA node")}
    )


def _device(device: HwlocDevice, card: HwlocDevice | None, topology: Topology, source: str) -> Device:
    infos = {name: Fact(value, source=source) for name, value in device.infos.items() if name not in _LEFT_OUT}
    model = card.infos if card else {}
    words = " ".join(model[name] for name in ("PCIVendor", "PCIDevice") if name in model)
    return Device(
        device.name,
        "network" if device.kind == "network" else "infiniband" if device.kind == "infiniband" else "accelerator",
        {
            "model": _stated(words, source),
            **infos,
            **({"computes with": Fact(device.name, source=source)} if device.computes else {}),
            "PCI address": Fact(device.pci, source=source)
            if device.pci
            else unavailable("it is not a PCI device"),
            "NUMA node": _node(device.near, topology, source),
        },
    )


def _node(near: Cpus, topology: Topology, source: str) -> Fact:
    """The node that has all cpus near the device; a device near several nodes belongs to none."""
    own = [node.index for node in topology.numa_nodes if near and near <= frozenset(node.cpus)]
    return Fact(own[0], source=source) if own else unavailable("it is near the cpus of several memory nodes")
