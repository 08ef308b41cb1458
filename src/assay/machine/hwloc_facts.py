"""Facts and devices of another machine, from its hwloc XML or description."""

from collections.abc import Mapping

from assay.machine import processor
from assay.machine.hwloc_xml import Device as HwlocDevice
from assay.machine.hwloc_xml import Exported
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
#: Infos that are left out: hardware addresses are not needed.
_LEFT_OUT = {"Address", "NodeGUID", "SysImageGUID"}


def facts(exported: Exported, topology: Topology, memory: Fact, source: str) -> dict[str, dict[str, Fact]]:
    """The sections of a live machine, as far as `source` (name of a file or description) has the facts."""
    silent = unavailable(f"{source} does not tell")
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


def _named(infos: Mapping[str, str], names: Mapping[str, str], source: str) -> dict[str, Fact]:
    return {
        name: Fact(infos[info], source=f"{source} ({info})")
        if infos.get(info)
        else unavailable(f"{source} does not tell")
        for name, info in names.items()
    }


def _highest(exported: Exported, info: str, source: str) -> Fact:
    """The highest value over all kinds of cpu."""
    values = [int(kind[info]) for kind in exported.kinds if kind.get(info, "").isdecimal()]
    return (
        Fact(max(values) * 10**6, "Hz", f"{source} ({info})") if values else unavailable(f"{source} does not tell")
    )


def devices(exported: Exported, topology: Topology, source: str) -> tuple[Device, ...]:
    """Network interfaces, InfiniBand ports and accelerators that the XML holds.

    An accelerator has several names (`card0`, `renderD128`, `cuda0`): the first one is used.
    """
    models = {device.pci: device.infos for device in exported.devices if device.kind == "pci"}
    found: dict[str, Device] = {}
    for device in exported.devices:
        if device.kind != "pci":
            key = device.pci if device.kind == "accelerator" and device.pci else device.name
            found.setdefault(key, _device(device, models.get(device.pci, {}), topology, source))
    return tuple(found.values())


def _device(device: HwlocDevice, model: Mapping[str, str], topology: Topology, source: str) -> Device:
    infos = {name: Fact(value, source=source) for name, value in device.infos.items() if name not in _LEFT_OUT}
    words = " ".join(model[name] for name in ("PCIVendor", "PCIDevice") if name in model)
    return Device(
        device.name,
        "network" if device.kind == "network" else "infiniband" if device.kind == "infiniband" else "accelerator",
        {
            "model": Fact(words, source=source) if words else unavailable(f"{source} does not tell"),
            **infos,
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
