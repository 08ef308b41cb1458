"""The drawing of a machine as SVG: packages, memory nodes, last-level cache groups, cores."""

from collections.abc import Callable, Iterable

import msgspec
from markupsafe import Markup, escape

from assay.model.machine import Core, Machine, NumaNode, Topology
from assay.model.text import Text, joined, text
from assay.model.units import format_size
from assay.report import words

WIDE, NARROW = 860, 346
_CORE_W, _CORE_H, _GAP, _PAD, _TITLE = 30, 24, 4, 8, 20
_SMT_W = 46
#: More cores than this are folded: like packages (then like memory nodes) are drawn once.
_DRAWN_CORES = 160
#: A small machine is drawn larger.
_GROWN, _FEW_CORES = 1.35, 8

#: Index of a package, its cores, and how many packages are like it.
_Group = tuple[int, tuple[Core, ...], int]


class _Box(msgspec.Struct, frozen=True):
    """A drawn part: its size and how to write it at a place."""

    width: float
    height: float
    at: Callable[[float, float], str]


class _Marks(msgspec.Struct, frozen=True):
    """Which cpus were measured and which may be used; what gives a text its number in the page."""

    measured: frozenset[int]
    allowed: frozenset[int]
    number: Callable[[Text], int]


def draw(machine: Machine, measured: Iterable[int], number: Callable[[Text], int], width: int = WIDE) -> Markup:
    """SVG of `machine`, at most `width` px wide, with the `measured` cpus marked. Its words are in `described`.

    `number` gives a text its number in the page.
    """
    topology = machine.topology
    marks = _Marks(frozenset(measured), frozenset(topology.allowed_cpus), number)
    packages = [_cores_of_package(topology, index) for index in range(len(topology.packages))] or [topology.cores]
    shown = [group for group in _folded(topology, packages) if group[1]]
    if not shown:
        return Markup()
    inner = width - 2
    halves = (inner - _PAD) / 2
    boxes = [_package(topology, group, marks, halves) for group in shown]
    if len(shown) == 1 or any(box.width > halves for box in boxes):
        boxes = [_package(topology, group, marks, inner) for group in shown]
    body = _flow(boxes, inner)
    across, down = body.width + 2, body.height + 2
    grown = max(1.0, min(_GROWN, width / across)) if len(topology.cores) <= _FEW_CORES else 1.0
    return Markup(  # noqa: S704 (every text inside went through escape)
        f'<svg xmlns="http://www.w3.org/2000/svg" class="machine" viewBox="0 0 {across:.0f} {down:.0f}" '
        f'width="{grown * across:.0f}" height="{grown * down:.0f}" aria-hidden="true" '
        f'focusable="false">{body.at(1, 1)}</svg>'
    )


def described(machine: Machine, measured: Iterable[int]) -> str:
    """The drawing in words."""
    topology, used = machine.topology, set(measured)
    sizes = {
        (cache.level, cache.kind): cache.size_bytes for cache in topology.caches if cache.kind != "instruction"
    }
    caches = words.listed(f"L{level} {format_size(size)}" for (level, _), size in sorted(sizes.items()))
    parts = [
        words.count(len(topology.packages), "package", "packages"),
        words.count(len(topology.numa_nodes), "memory node", "memory nodes"),
        words.count(
            len({core.l3 for core in topology.cores}), "last-level cache group", "last-level cache groups"
        ),
        words.count(len(topology.cores), "core", "cores"),
        words.count(sum(len(core.cpus) for core in topology.cores), "hardware thread", "hardware threads"),
    ]
    return text(
        "{parts}; caches {caches}. This process may use {cpus}; {used} of them were measured.",
        parts=words.listed(parts),
        caches=caches or text("unknown"),
        cpus=words.count(len(topology.allowed_cpus), "cpu", "cpus"),
        used=len(used),
    )


def _cores_of_package(topology: Topology, index: int) -> tuple[Core, ...]:
    return tuple(core for core in topology.cores if core.package == index)


def _folded(topology: Topology, packages: list[tuple[Core, ...]]) -> list[_Group]:
    """Packages to draw: (index, cores, how many are like it). All of them while they stay readable."""
    if len(topology.cores) <= _DRAWN_CORES or len(packages) == 1:
        return [(index, cores, 1) for index, cores in enumerate(packages)]
    shapes = [_shape(cores) for cores in packages]
    return [
        (index, cores, shapes.count(shapes[index]))
        for index, cores in enumerate(packages)
        if shapes.index(shapes[index]) == index
    ]


def _shape(cores: tuple[Core, ...]) -> tuple[int, ...]:
    """What makes two groups alike: cores of each last-level cache group."""
    groups: dict[int, int] = {}
    for core in cores:
        groups[core.l3] = groups.get(core.l3, 0) + 1
    return tuple(groups.values())


def _package(topology: Topology, group: _Group, marks: _Marks, width: float) -> _Box:
    index, cores, times = group
    title = (
        text("Package {number} — {times} identical packages, drawn once", number=index, times=times)
        if times > 1
        else text("Package {number}", number=index)
    )
    nodes = dict.fromkeys(core.numa for core in cores)
    boxes = [
        _node(topology, node, tuple(core for core in cores if core.numa == node), marks, width - 2 * _PAD)
        for node in nodes
    ]
    return _frame(title, _flow(boxes, width - 2 * _PAD), "package", marks.number)


def _node(topology: Topology, index: int, cores: tuple[Core, ...], marks: _Marks, width: float) -> _Box:
    found: NumaNode | None = next((node for node in topology.numa_nodes if node.index == index), None)
    memory = format_size(found.memory_bytes) if found and found.memory_bytes else ""
    title = joined(" · ", (text("Memory node {number}", number=index), memory))
    groups = dict.fromkeys(core.l3 for core in cores)
    boxes = [
        _cache_group(topology, tuple(core for core in cores if core.l3 == group), marks, width - 2 * _PAD)
        for group in groups
    ]
    return _frame(title, _flow(boxes, width - 2 * _PAD), "node", marks.number)


def _cache_group(topology: Topology, cores: tuple[Core, ...], marks: _Marks, width: float) -> _Box:
    boxes = [_core(core, marks) for core in cores]
    columns = len(boxes) if len(boxes) < 4 else max(4, round((1.6 * len(boxes)) ** 0.5))  # noqa: PLR2004
    cell = boxes[0].width + _GAP
    label = _cache_label(topology, cores[0])
    body = _flow(boxes, min(width - 2 * _PAD, columns * cell), gap=_GAP)
    return _frame(label, body, "group", marks.number)


def _cache_label(topology: Topology, core: Core) -> str:
    """The largest cache that the core has a part in: `L3 8 MiB`."""
    seen = {
        cache.level: cache.size_bytes
        for cache in topology.caches
        if cache.kind != "instruction" and core.cpus[0] in cache.cpus
    }
    return f"L{max(seen)} {format_size(seen[max(seen)])}" if seen else text("caches unknown")


def _core(core: Core, marks: _Marks) -> _Box:
    used, allowed = marks.measured & set(core.cpus), marks.allowed & set(core.cpus)
    kind = "measured" if used else "allowed" if allowed else "barred"
    cpus = "/".join(map(str, core.cpus))
    width = _CORE_W if len(cpus) < 4 else _SMT_W if len(cpus) < 8 else _SMT_W + 14  # noqa: PLR2004
    told = {
        "measured": text("core {core}, cpu {cpus}: measured", core=core.index, cpus=cpus),
        "allowed": text("core {core}, cpu {cpus}: usable", core=core.index, cpus=cpus),
        "barred": text("core {core}, cpu {cpus}: not usable", core=core.index, cpus=cpus),
    }[kind]

    def at(x: float, y: float) -> str:
        return (
            f'<g class="core {kind}"><title data-text="{marks.number(told)}">{escape(told)}</title>'
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width}" height="{_CORE_H}" rx="3"/>'
            f'<text x="{x + width / 2:.1f}" y="{y + _CORE_H / 2 + 4:.1f}" text-anchor="middle">'
            f"{escape(cpus)}</text></g>"
        )

    return _Box(width, _CORE_H, at)


def _flow(boxes: list[_Box], width: float, gap: float = _PAD) -> _Box:
    """Boxes side by side, broken into rows of at most `width`."""
    placed: list[tuple[_Box, float, float]] = []
    x = y = row = right = 0.0
    for box in boxes:
        if x and x + box.width > width:
            x, y, row = 0.0, y + row + gap, 0.0
        placed.append((box, x, y))
        right, row = max(right, x + box.width), max(row, box.height)
        x += box.width + gap

    def at(left: float, top: float) -> str:
        return "".join(box.at(left + dx, top + dy) for box, dx, dy in placed)

    return _Box(right, y + row, at)


def _frame(title: str, body: _Box, kind: str, number: Callable[[Text], int]) -> _Box:
    """A titled frame around a body; as wide as the longer of the two."""
    said = f' data-text="{number(title)}"' if isinstance(title, Text) else ""
    width = max(body.width, 6.3 * len(title)) + 2 * _PAD
    height = body.height + _TITLE + 2 * _PAD - 4

    def at(x: float, y: float) -> str:
        return (
            f'<g class="{kind}"><rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5"/>'
            f'<text x="{x + _PAD:.1f}" y="{y + _TITLE - 4:.1f}"{said}>{escape(title)}</text>'
            f"{body.at(x + _PAD, y + _TITLE + _PAD - 4)}</g>"
        )

    return _Box(width, height, at)
