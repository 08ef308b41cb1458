"""Facts of memory: its size, its pages, and what the kernel does with them."""

import re
import resource
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from assay.machine import dmi, files
from assay.model.facts import Fact, unavailable
from assay.model.machine import Topology
from assay.model.units import format_size

_MEMINFO = "proc/meminfo"
_HUGE = "sys/kernel/mm/hugepages"
_TRANSPARENT = "sys/kernel/mm/transparent_hugepage"


def facts(root: Path, topology: Topology, allowed: Fact) -> dict[str, Fact]:
    """The section `memory`; `allowed` is the memory that this process may use now."""
    return {
        "total": _amount(root, "MemTotal"),
        "of the memory nodes": _of_nodes(topology),
        "may be used now": allowed,
        "swap": _amount(root, "SwapTotal"),
        "transparent huge pages": files.fact(root, f"{_TRANSPARENT}/enabled", _chosen),
        "defragmentation for them": files.fact(root, f"{_TRANSPARENT}/defrag", _chosen),
        **_huge_pages(root),
        "NUMA balancing": files.fact(root, "proc/sys/kernel/numa_balancing", lambda content: int(content) != 0),
        "zone reclaim": files.fact(root, "proc/sys/vm/zone_reclaim_mode", lambda content: int(content) != 0),
        **dmi.facts(root),
    }


def counted(root: Path, topology: Topology) -> Topology:
    """The topology; a single node gets all memory, because it may lack memory that was added later."""
    total, nodes = _amount(root, "MemTotal").value, topology.numa_nodes
    if len(nodes) != 1 or not isinstance(total, int):
        return topology
    return msgspec.structs.replace(topology, numa_nodes=(msgspec.structs.replace(nodes[0], memory_bytes=total),))


def _of_nodes(topology: Topology) -> Fact:
    """The memory of all nodes; it may differ from the total of the kernel."""
    total = sum(node.memory_bytes for node in topology.numa_nodes)
    return Fact(total, "B", "topology") if total else unavailable("no memory node tells its size")


def _amount(root: Path, name: str) -> Fact:
    """A line of /proc/meminfo in bytes."""
    found = files.fact(root, _MEMINFO, lambda content: files.amounts(content).get(name), "B")
    return Fact(found.value, "B", f"/{_MEMINFO} ({name})") if found.known else found


def _chosen(content: str) -> str | None:
    """The word in brackets of `always [madvise] never`."""
    match = re.search(r"\[([\w+]+)\]", content)
    return match[1] if match else None


def _huge_pages(root: Path) -> dict[str, Fact]:
    """Reserved huge pages by size."""
    found: dict[str, Fact] = {}
    for folder in files.entries(root / _HUGE, "hugepages-*kB"):
        size = int(folder.name.removeprefix("hugepages-").removesuffix("kB")) * 1024
        name = f"{_HUGE}/{folder.name}/nr_hugepages"
        found[f"reserved pages of {format_size(size)}"] = files.fact(root, name, int)
    return found or {"reserved huge pages": unavailable(f"/{_HUGE}: the kernel has no huge pages")}


#: cgroup version 1 writes "no limit" as the largest page-aligned number, above this.
_NO_LIMIT = 2**60


class Bound(NamedTuple):
    """An upper bound in bytes, and the file or limit that sets it."""

    size_bytes: int
    source: str


def available_memory(root: Path, *, address_space: Bound | None = None) -> Fact:
    """The smallest bound: available memory, the limit of each enclosing cgroup minus its usage, or ulimit.

    Args:
        root: `/`, or a test folder.
        address_space: the limit of `ulimit -v`, see `address_space`.
    """
    bounds = [*_available(root), *_cgroups(root), *([address_space] if address_space else [])]
    if not bounds:
        return unavailable(files.unreadable_reason(root / "proc/meminfo"))
    least = min(bounds)
    return Fact(max(0, least.size_bytes), "B", least.source)


def address_space() -> Bound | None:
    """The limit of the address space (RLIMIT_AS) of child processes; None if there is none."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else Bound(soft, "ulimit -v")


def _available(root: Path) -> list[Bound]:
    known = files.amounts(files.text(root / _MEMINFO))
    names = ("MemAvailable", "MemFree")  # kernels before 3.14, and some containers, only have MemFree
    return [Bound(known[name], f"/{_MEMINFO} ({name})") for name in names if name in known][:1]


def _cgroups(root: Path) -> Iterator[Bound]:
    """The memory that each enclosing cgroup allows now."""
    for folder in cgroup_folders(root, "memory"):
        for names in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
            limit, used = (files.number(folder / name) for name in names)
            if limit is not None and limit < _NO_LIMIT:
                yield Bound(limit - (used or 0), f"/{folder.relative_to(root) / names[0]}")


def cgroup_folders(root: Path, controller: str) -> Iterator[Path]:
    """The folders of the cgroups whose controller limits this process: its own first, then each parent."""
    for controllers, path in cgroup_memberships(root):
        if controllers == "":
            yield from _cgroups_upwards(root, _mount(root, "cgroup2", ""), path)
        elif controller in controllers.split(","):
            yield from _cgroups_upwards(root, _mount(root, "cgroup", controller), path)


def cgroup_memberships(root: Path) -> list[tuple[str, str]]:
    """Controllers and path of each cgroup hierarchy of this process; version 2 has no named controllers."""
    lines = (files.text(root / "proc/self/cgroup") or "").splitlines()
    parts = [line.split(":", 2) for line in lines if line.count(":") > 1]
    return [(controllers, path) for _, controllers, path in parts]


class _Mount(NamedTuple):
    point: str
    top: str


def _mount(root: Path, kind: str, controller: str) -> _Mount | None:
    """The mount point of a hierarchy, and the mounted part; fields as in proc(5)."""
    for line in (files.text(root / "proc/self/mountinfo") or "").splitlines():
        before, dash, after = line.partition(" - ")
        mounted, tail = before.split(), after.split()
        if not dash or len(mounted) < 5 or len(tail) < 3 or tail[0] != kind:  # noqa: PLR2004 (fields of proc(5))
            continue
        if not controller or controller in tail[2].split(","):
            return _Mount(point=mounted[4], top=mounted[3])
    return None


def _cgroups_upwards(root: Path, mount: _Mount | None, path: str) -> Iterator[Path]:
    """Each cgroup from that of the process up to the root of the mount."""
    if mount is None:
        return
    inside = PurePosixPath(path)
    try:
        inside = inside.relative_to(mount.top)
    except ValueError:  # a container sees the path of its host: the mount is its own cgroup
        inside = PurePosixPath()
    if ".." in inside.parts or inside.is_absolute():
        inside = PurePosixPath()
    for part in (inside, *inside.parents):
        yield root / mount.point.lstrip("/") / part
