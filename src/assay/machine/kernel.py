"""The topology from /sys, used if libhwloc is missing."""

from itertools import chain
from pathlib import Path
from typing import Literal

from assay.machine import files
from assay.machine.hwloc_xml import by_capacity
from assay.machine.topology import Cpus, Node, Parts
from assay.model.machine import Cache
from assay.model.units import parse_cpu_list

_KINDS: dict[str, Literal["unified", "data", "instruction"]] = {
    "Unified": "unified",
    "Data": "data",
    "Instruction": "instruction",
}


def parts(root: Path) -> Parts:
    """The input of `topology.assemble`, from files below `root`."""
    cpus = online(root)
    folders = [root / f"sys/devices/system/cpu/cpu{cpu}" for cpu in sorted(cpus)]
    return Parts(
        cpus=cpus,
        cores=_siblings(folders, "core_cpus_list", "thread_siblings_list"),
        packages=_siblings(folders, "package_cpus_list", "core_siblings_list"),
        nodes=_nodes(root, cpus),
        caches=tuple(cache for folder in folders for cache in _caches(folder)),
        distances=distances(root),
        kinds=_kinds(root, folders),
        allowed_cpus=allowed_cpus(root),
        allowed_nodes=allowed_nodes(root),
    )


def online(root: Path) -> Cpus:
    """OS indices of the cpus that are online."""
    listed = _list(root / "sys/devices/system/cpu/online")
    if listed:
        return listed
    lines = (files.text(root / "proc/cpuinfo") or "").splitlines()
    numbers = [line.partition(":")[2].strip() for line in lines if line.startswith("processor")]
    return Cpus(int(number) for number in numbers if number.isdecimal()) or Cpus({0})


def allowed_cpus(root: Path) -> Cpus | None:
    """OS indices that this process may run on, by its affinity and its cpuset; None if unknown."""
    return _allowed(root, "Cpus_allowed_list")


def allowed_nodes(root: Path) -> Cpus | None:
    """OS indices of memory nodes that this process may allocate from; None if unknown."""
    return _allowed(root, "Mems_allowed_list")


def _allowed(root: Path, name: str) -> Cpus | None:
    listed = files.fields(files.text(root / "proc/self/status")).get(name, "")
    return Cpus(parse_cpu_list(listed)) or None


def distances(root: Path) -> dict[tuple[int, int], int]:
    """The firmware's relative distances by pair of OS indices of nodes."""
    folders = files.entries(root / "sys/devices/system/node", "node[0-9]*")
    indices = [int(folder.name.removeprefix("node")) for folder in folders]
    return {
        (here, there): int(value)
        for here, folder in zip(indices, folders, strict=True)
        for there, value in zip(indices, (files.text(folder / "distance") or "").split(), strict=False)
    }


def _list(path: Path) -> Cpus:
    try:
        return Cpus(parse_cpu_list(files.text(path) or ""))
    except ValueError:
        return Cpus()


def _siblings(folders: list[Path], name: str, older_name: str) -> tuple[Cpus, ...]:
    """Distinct sets in the topology of each cpu; `older_name` is for kernels before 5.3."""
    found = (_list(folder / "topology" / name) or _list(folder / "topology" / older_name) for folder in folders)
    return tuple({group: None for group in found if group})


def _caches(cpu: Path) -> list[Cache]:
    found = []
    for index in files.entries(cpu / "cache", "index*"):
        level, kind, size = files.number(index / "level"), files.text(index / "type"), files.text(index / "size")
        if level is None or kind not in _KINDS or not size or not size.removesuffix("K").isdecimal():
            continue
        found.append(
            Cache(
                level=level,
                kind=_KINDS[kind],
                size_bytes=int(size.removesuffix("K")) * 1024,
                line_bytes=files.number(index / "coherency_line_size") or 0,
                cpus=tuple(sorted(_list(index / "shared_cpu_list") or {int(cpu.name.removeprefix("cpu"))})),
            )
        )
    return found


def _nodes(root: Path, cpus: Cpus) -> tuple[Node, ...]:
    nodes = []
    for folder in files.entries(root / "sys/devices/system/node", "node[0-9]*"):
        own = _list(folder / "cpulist") & cpus
        initiators = [
            _list(folder.parent / path.name / "cpulist")
            for path in files.entries(folder / "access0/initiators", "node[0-9]*")
        ]
        nodes.append(
            Node(
                index=int(folder.name.removeprefix("node")),
                memory_bytes=files.amounts(files.text(folder / "meminfo")).get("MemTotal", 0),
                near=own or Cpus().union(*initiators),
                added=not own,
            )
        )
    total = files.amounts(files.text(root / "proc/meminfo")).get("MemTotal", 0)
    return tuple(nodes) or (Node(0, total, cpus),)


def _kinds(root: Path, folders: list[Path]) -> dict[int, str]:
    fast, *small = (_list(root / f"sys/devices/{name}/cpus") for name in ("cpu_core", "cpu_atom", "cpu_lowpower"))
    if fast and any(small):
        return dict.fromkeys(chain(*small), "efficiency") | dict.fromkeys(fast, "performance")
    capacities = {
        int(folder.name.removeprefix("cpu")): files.number(folder / "cpu_capacity") for folder in folders
    }
    return by_capacity({cpu: capacity for cpu, capacity in capacities.items() if capacity is not None})
