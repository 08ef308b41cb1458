"""The machine as nested boxes: packages, memory nodes, last-level cache groups, cores."""

from collections.abc import Collection, Iterator
from typing import Literal, NamedTuple

import msgspec

from assay.model.grouping import grouped
from assay.model.machine import Core, Machine, Topology
from assay.model.text import joined, text
from assay.model.units import format_size
from assay.report import formatting

#: With more cores, one of several equal packages is drawn.
_DRAWN_CORES = 160


class Cell(NamedTuple):
    """A core: the numbers of its cpus, their state, and both in words."""

    cpus: str
    state: Literal["measured", "allowed", "barred"]
    words: str


class Box(msgspec.Struct, frozen=True):
    """A titled part of the machine with its content.

    Attributes:
        kind: `package`, `node` (of memory) or `group` (of a cache).
        title: above its content.
        boxes: in it.
        cells: its cores; only a group has them.
        columns: cores in a row.
    """

    kind: str
    title: str
    boxes: tuple["Box", ...] = ()
    cells: tuple[Cell, ...] = ()
    columns: int = 1


def boxes(machine: Machine, measured: Collection[int]) -> Iterator[Box]:
    """Yield the packages of a machine with the measured cpus marked; see `described` for the same in words."""
    topology = machine.topology
    packages = grouped(topology.cores, lambda core: core.package)
    shapes: dict[int, object] = {index: index for index in packages}
    if len(topology.cores) > _DRAWN_CORES:
        shapes = {index: _shape(cores) for index, cores in packages.items()}
    for first, *others in grouped(packages, lambda index: shapes[index]).values():
        title = text("Package {number}", number=first)
        if others:
            title = text(
                "Package {number} — {times} identical packages, drawn once", number=first, times=1 + len(others)
            )
        nodes = grouped(packages[first], lambda core: core.numa)
        yield Box("package", title, tuple(_node(topology, at, cores, measured) for at, cores in nodes.items()))


def described(machine: Machine, measured: Collection[int]) -> str:
    """Return the drawing in words."""
    topology, used = machine.topology, set(measured)
    sizes = {
        (cache.level, cache.kind): cache.size_bytes for cache in topology.caches if cache.kind != "instruction"
    }
    caches = formatting.listed(f"L{level} {format_size(size)}" for (level, _), size in sorted(sizes.items()))
    parts = [
        formatting.count(len(topology.packages), "package", "packages"),
        formatting.count(len(topology.numa_nodes), "memory node", "memory nodes"),
        formatting.count(
            len({core.l3 for core in topology.cores}), "last-level cache group", "last-level cache groups"
        ),
        formatting.count(len(topology.cores), "core", "cores"),
        formatting.count(sum(len(core.cpus) for core in topology.cores), "hardware thread", "hardware threads"),
    ]
    return text(
        "{parts}; caches {caches}. This process may use {cpus}; {used} of them were measured.",
        parts=formatting.listed(parts),
        caches=caches or text("unknown"),
        cpus=formatting.count(len(topology.allowed_cpus), "cpu", "cpus"),
        used=len(used),
    )


def _shape(cores: tuple[Core, ...]) -> object:
    """The shape of a package, which equal packages share: cores of each last-level cache group."""
    return tuple(map(len, grouped(cores, lambda core: core.l3).values()))


def _node(topology: Topology, index: int, cores: tuple[Core, ...], measured: Collection[int]) -> Box:
    size = next((node.memory_bytes for node in topology.numa_nodes if node.index == index), 0)
    title = joined(" · ", (text("Memory node {number}", number=index), format_size(size) if size else ""))
    groups = grouped(cores, lambda core: core.l3).values()
    return Box("node", title, tuple(_cache_group(topology, of, measured) for of in groups))


def _cache_group(topology: Topology, cores: tuple[Core, ...], measured: Collection[int]) -> Box:
    """Cores under the largest cache that they use: `L3 8 MiB`."""
    seen = {cache.level: cache.size_bytes for cache in topology.data_caches(cores[0].cpus[:1])}
    title = f"L{max(seen)} {format_size(seen[max(seen)])}" if seen else text("caches unknown")
    cells = tuple(_cell(core, measured, topology.allowed_cpus) for core in cores)
    return Box("group", title, cells=cells, columns=min(len(cells), max(4, round((1.6 * len(cells)) ** 0.5))))


def _cell(core: Core, measured: Collection[int], allowed: Collection[int]) -> Cell:
    cpus = "/".join(map(str, core.cpus))
    if not set(core.cpus).isdisjoint(measured):
        return Cell(cpus, "measured", text("core {core}, cpu {cpus}: measured", core=core.index, cpus=cpus))
    if not set(core.cpus).isdisjoint(allowed):
        return Cell(cpus, "allowed", text("core {core}, cpu {cpus}: usable", core=core.index, cpus=cpus))
    return Cell(cpus, "barred", text("core {core}, cpu {cpus}: not usable", core=core.index, cpus=cpus))
