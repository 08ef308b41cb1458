"""Facts of memory: its size, its pages, and what the kernel does with them."""

import re
from pathlib import Path

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

    def parse(content: str) -> int | None:
        words = files.fields(content).get(name, "").split()
        return int(words[0]) * 1024 if words else None

    found = files.fact(root, _MEMINFO, parse, "B")
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
