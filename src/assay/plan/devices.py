"""The devices of a machine that ranks may be given, and the cores nearest to each."""

from collections.abc import Mapping

from assay.model.machine import Core, Device, Machine, allowed_cores
from assay.model.resource import GivenDevice
from assay.plan.cores import grouped
from assay.plan.placement import AbsentPlacementError, plural

#: Drivers of display controllers that can compute; the others are for the console of a server.
_GPU_DRIVERS = frozenset(("nvidia", "amdgpu", "i915", "xe"))
_COMPUTING = frozenset(("3D controller", "processing accelerator"))
#: Kind of device in a placement word -> its name in messages.
NAMES = {"gpu": "GPU", "device": "device"}


def usable(word: str, kind: str, machine: Machine) -> tuple[GivenDevice, ...]:
    """The devices of a kind that this user may open, in the order of the machine's facts.

    Args:
        word: placement word, for messages.
        kind: `gpu`: cards that compute; `device`: everything that computes, as an OpenCL device on the cpus.
        machine: its facts.

    Raises:
        AbsentPlacementError: there is none, or none may be used.
    """
    known = [device for device in machine.devices if _is(device, kind)]
    if not known:
        raise AbsentPlacementError(word, f"no {NAMES[kind]} is known on this machine")
    allowed = tuple(_given(device) for device in known if device.value("may be used") is not False)
    if not allowed:
        fact = known[0].facts["may be used"]
        raise AbsentPlacementError(word, f"no {NAMES[kind]} may be used: {known[0].name}: {fact.source}")
    return allowed


def cores_near(
    word: str, devices: tuple[GivenDevice, ...], machine: Machine
) -> Mapping[GivenDevice, tuple[Core, ...]]:
    """The cores of each device: those of its memory node, shared evenly by the devices of one node.

    Raises:
        AbsentPlacementError: the node of some devices is unknown, or it has fewer cores than devices.
    """
    cores = allowed_cores(machine.topology)
    of_node = grouped(cores, "numa")
    near: dict[int | None, list[GivenDevice]] = {}
    for device in devices:
        near.setdefault(device.near if device.near in of_node else None, []).append(device)
    if None in near and len(near) > 1:
        raise AbsentPlacementError(word, f"it is not known which cores are nearest to {near[None][0].name}")
    found: dict[GivenDevice, tuple[Core, ...]] = {}
    for node, sharing in near.items():
        around = cores if node is None else of_node[node]
        share = len(around) // len(sharing)
        if not share:
            kind = "GPUs" if all(device.address for device in sharing) else "devices"
            raise AbsentPlacementError(word, f"{len(sharing)} {kind} share {plural(len(around), 'core')}")
        found |= {device: around[at * share : (at + 1) * share] for at, device in enumerate(sharing)}
    return {device: found[device] for device in devices}


def _is(device: Device, kind: str) -> bool:
    if device.kind != "accelerator":
        return False
    computes = device.value("class") in _COMPUTING or device.value("driver") in _GPU_DRIVERS
    card = computes or bool(device.value("computes with") and device.value("PCI address"))
    return card if kind == "gpu" else card or bool(device.value("computes with"))


def _given(device: Device) -> GivenDevice:
    node = device.value("NUMA node")
    allowed = device.facts.get("may be used")
    return GivenDevice(
        device.name,
        address=str(device.value("PCI address") or ""),
        uuid=str(device.value("UUID") or ""),
        near=node if isinstance(node, int) else None,
        partition=str(device.value("MIG profile") or ""),
        allowed=allowed.source if allowed and allowed.known else "",
    )
