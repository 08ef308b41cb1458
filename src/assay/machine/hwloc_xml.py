"""Read hwloc's XML without hwloc: topology, facts of processor and system, and devices."""

import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from assay.machine.topology import Cpus, Node, Parts
from assay.model.errors import UsageError
from assay.model.machine import Cache
from assay.model.units import format_size

_LARGEST_FILE = 64 * 2**20
#: Maximum depth. Real trees have about twenty levels; broken or malicious files must not take minutes.
_DEEPEST = 500
#: Maximum cpus, more than any kernel supports.
_MOST_CPUS = 2**16
#: Maximum size in bytes, larger than any machine's memory.
_LARGEST = 2**60
_CONVERT = "write it again on that machine with hwloc 2: lstopo --of xml machine.xml"
_LATENCY = 4
_KINDS: dict[str, Literal["unified", "data", "instruction"]] = {"0": "unified", "1": "data", "2": "instruction"}
#: Types of OS devices by hwloc's major version: numbers in version 2, bits in version 3.
_OS_DEVICES: dict[str, dict[int, Literal["network", "infiniband", "accelerator"]]] = {
    "2": {1: "accelerator", 2: "network", 3: "infiniband", 5: "accelerator"},
    "3": {4: "accelerator", 8: "accelerator", 12: "accelerator", 16: "network", 32: "infiniband"},
}
#: Types of OS devices that compute, in either version.
_COMPUTING = {5, 8, 12}
_ADDED_MEMORY = {"HBM", "MCDRAM", "CXL", "CXL-DRAM", "NVM", "CXL-NVM", "SPM", "GPUMemory"}
_ADDED_INFOS = {"CXLDevice", "DAXDevice"}
#: A core below this share of the largest core's capacity counts as an efficiency core. It is an assumption:
#: kernels also lower the capacity of equal cores a little if their highest frequency differs.
_EFFICIENCY_SHARE = 0.8


@dataclass(frozen=True)
class Device:
    """A PCI or operating system device.

    Attributes:
        name: name of an operating system device, else the PCI address.
        kind: kind of an operating system device, else `pci`.
        infos: name -> value.
        near: cpus of its parent object.
        pci: address of its PCI device; empty if it is not on PCI.
        pci_type: class, vendor and device of a PCI device, `0302 [10de:2335]`; empty for others.
        computes: whether programs compute with it: CUDA, OpenCL, ROCm or Level Zero found it.
    """

    name: str
    kind: Literal["pci", "network", "infiniband", "accelerator"]
    infos: dict[str, str]
    near: Cpus
    pci: str
    pci_type: str = ""
    computes: bool = False


@dataclass(frozen=True)
class Exported:
    """The content of an XML file.

    Attributes:
        parts: input of `topology.assemble`.
        processor: infos of the first package.
        system: infos of the machine.
        kinds: infos of each kind of cpu.
        devices: in document order.
    """

    parts: Parts
    processor: dict[str, str]
    system: dict[str, str]
    kinds: tuple[dict[str, str], ...]
    devices: tuple[Device, ...]


def read(path: Path) -> str:
    """Read a file; UsageError if it cannot be read, is not text, or is far too large for a topology."""
    try:
        if path.exists() and not path.is_file():  # a pipe or a device may never end
            raise OSError(errno.EINVAL, "it is not a regular file")  # noqa: TRY301 (handled like a failed open)
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
        if len(content) > _LARGEST_FILE:
            raise _refusal(str(path), f"it is larger than {format_size(_LARGEST_FILE)}")
        return content.decode()
    except OSError as error:
        raise UsageError(
            f"cannot read '{path}'", why=error.strerror or str(error), remedy="check the path, e.g. with ls -l"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"'{path}' is not XML of hwloc", why="it is not text in UTF-8", remedy=_CONVERT
        ) from error


def parse(document: str, name: str) -> Exported:
    """Parse a document.

    Args:
        document: XML of hwloc 2 or later.
        name: name of the file, for messages.

    Raises:
        UsageError: it is not XML, declares entities, is not from hwloc, or is from hwloc 1.
    """
    root = _tree(document, name)
    if root.tag != "topology":
        raise _refusal(name, f"its root is <{root.tag}>, not <topology>")
    version = root.get("version", "1")
    if not re.fullmatch(r"[23]\.\d+", version):
        raise _refusal(name, "it was written by hwloc 1, whose form is another" if version[0] == "1" else
                       f"its version '{version}' is not known (2 and 3 are)")  # fmt: skip
    try:
        exported = _exported(root)
    except (ValueError, KeyError) as error:
        raise _refusal(name, f"an attribute is missing or wrong: {error}") from error
    if not exported.parts.cpus:
        raise _refusal(name, "it holds no processing unit")
    return exported


def _refusal(name: str, why: str) -> UsageError:
    return UsageError(f"'{name}' is not a topology that can be used", why=why, remedy=_CONVERT)


def _tree(document: str, name: str) -> Element:
    """The root element. hwloc's XML never declares entities, so a document with entities is refused."""
    builder = TreeBuilder()
    parser = expat.ParserCreate("UTF-8")  # whatever encoding the document names: it is decoded already
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise _refusal(name, f"it nests more than {_DEEPEST} objects, which no machine does")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def refuse(entity: str, *_: object) -> None:
        raise _refusal(name, f"it declares the entity '{entity}', which hwloc never does")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(document.encode(), True)  # noqa: FBT003 (expat takes no keyword)
    except expat.ExpatError as error:
        raise _refusal(name, f"it is not XML, or broken off: {error}") from error
    return builder.close()


def bitmap(text: str) -> int:
    """A set of hwloc as an integer with one bit per member; an infinite set is a negative integer.

    Groups of 32 bits, highest first: `0x3`, `0x1,,0x0` (an empty group is zero), `0xf...f,0x0`.
    """
    groups = text.split(",")
    if len(groups) > _MOST_CPUS // 32:
        raise ValueError(f"a set of more than {_MOST_CPUS} members")
    infinite = groups[0] == "0xf...f"
    digits = [group.removeprefix("0x").zfill(8) for group in groups[infinite:]]
    if any(len(each) > 8 for each in digits):  # noqa: PLR2004 (of 32 bits)
        raise ValueError(f"a group of more than 32 members: {max(digits, key=len)[:20]}")
    return int("".join(digits) or "0", 16) | -infinite << 32 * len(digits)


def _members(text: str | None, within: int) -> Cpus:
    bits = bitmap(text or "0x0") & within
    first = max(0, (bits & -bits).bit_length() - 1)  # most sets have few members, far from 0
    return Cpus(at for at, bit in enumerate(reversed(f"{bits >> first:b}"), first) if bit == "1")


def _index(element: Element) -> int:
    index = int(element.attrib["os_index"])
    if not 0 <= index < _MOST_CPUS:
        raise ValueError(f"os_index {index} of a {element.get('type')}")
    return index


def _size(text: str) -> int:
    size = int(text)
    if not 0 <= size < _LARGEST:
        raise ValueError(f"a size of {text[:20]}")
    return size


def _infos(element: Element) -> dict[str, str]:
    return {info.get("name", ""): info.get("value", "") for info in element.findall("info")}


def _objects(root: Element) -> Iterator[tuple[Element, tuple[Element, ...]]]:
    """Every object with its ancestors, outermost first, in document order."""
    pending: list[tuple[Element, tuple[Element, ...]]] = [(root, ())]
    while pending:
        element, around = pending.pop()
        if element.tag == "object":
            yield element, around
            around = (*around, element)
        pending.extend((child, around) for child in reversed(element.findall("object")))


def _exported(root: Element) -> Exported:
    objects = list(_objects(root))
    by_type: dict[str, list[Element]] = {}
    for element, _ in objects:
        by_type.setdefault(element.get("type", ""), []).append(element)
    machine = by_type.get("Machine", [Element("object")])[0]
    every = sum({1 << _index(pu) for pu in by_type.get("PU", [])})
    nodes = tuple(_node(element, every) for element in by_type.get("NUMANode", []))
    kinds = root.findall("cpukind")
    parts = Parts(
        cpus=_members("0xf...f", every),
        cores=tuple(_members(core.attrib["cpuset"], every) for core in by_type.get("Core", [])),
        packages=tuple(_members(package.attrib["cpuset"], every) for package in by_type.get("Package", [])),
        nodes=nodes,
        caches=tuple(_caches(by_type, every)),
        distances=_distances(root),
        kinds=_efficiency([(_members(kind.get("cpuset"), every), kind.attrib, _infos(kind)) for kind in kinds]),
        allowed_cpus=_members(machine.get("allowed_cpuset", "0xf...f"), every),
        allowed_nodes=_members(
            machine.get("allowed_nodeset", "0xf...f"), sum({1 << node.index for node in nodes})
        ),
    )
    return Exported(
        parts=parts,
        processor=_infos(by_type.get("Package", [machine])[0]) | _processor_of(machine),
        system=_infos(root) | _infos(machine),
        kinds=tuple(_infos(kind) for kind in kinds),
        devices=tuple(_devices(objects, every, _OS_DEVICES[root.get("version", "")[0]])),
    )


def _processor_of(machine: Element) -> dict[str, str]:
    """Infos of the processor at the machine object, where newer hwloc puts them if all packages are equal."""
    return {name: value for name, value in _infos(machine).items() if name.startswith("CPU")}


def _node(element: Element, every: int) -> Node:
    added = element.get("subtype", "") in _ADDED_MEMORY or bool(_ADDED_INFOS & _infos(element).keys())
    return Node(
        index=_index(element),
        memory_bytes=_size(element.get("local_memory", "0")),
        near=_members(element.get("cpuset"), every),
        added=added,
    )


def _caches(by_type: dict[str, list[Element]], every: int) -> Iterator[Cache]:
    for name, elements in by_type.items():
        if re.fullmatch(r"L\di?Cache", name):
            for cache in (cache for cache in elements if cache.get("subtype") != "MemorySideCache"):
                yield Cache(
                    level=int(cache.attrib["depth"]),
                    kind=_KINDS[cache.attrib["cache_type"]],
                    size_bytes=_size(cache.attrib["cache_size"]),
                    line_bytes=_size(cache.get("cache_linesize", "0")),
                    cpus=tuple(sorted(_members(cache.attrib["cpuset"], every))),
                )


def _distances(root: Element) -> dict[tuple[int, int], int]:
    """The firmware's latencies between nodes; empty if there are none."""
    for matrix in root.findall("distances2"):
        if matrix.get("type") != "NUMANode" or not int(matrix.get("kind", "0")) & _LATENCY:
            continue
        indices = [int(word) for part in matrix.findall("indexes") for word in (part.text or "").split()]
        values = [_size(word) for part in matrix.findall("u64values") for word in (part.text or "").split()]
        pairs = [(a, b) for a in indices for b in indices]
        if len(values) != len(pairs):
            raise ValueError(f"{len(values)} distances between {len(indices)} nodes")
        return dict(zip(pairs, values, strict=True))
    return {}


def _efficiency(kinds: list[tuple[Cpus, dict[str, str], dict[str, str]]]) -> dict[int, str]:
    """By cpu, `performance` or `efficiency` if the kinds of cpus differ in speed; else empty."""
    types = {cpu: infos.get("CoreType", "") for cpus, _, infos in kinds for cpu in cpus}
    if "IntelCore" in types.values() and set(types.values()) - {"IntelCore", ""}:  # IntelAtom, IntelLowPower
        return {cpu: "performance" if kind == "IntelCore" else "efficiency" for cpu, kind in types.items()}
    capacities = {
        cpu: int(infos["LinuxCapacity"]) for cpus, _, infos in kinds if "LinuxCapacity" in infos for cpu in cpus
    }
    return by_capacity(capacities)


def by_capacity(capacities: dict[int, int]) -> dict[int, str]:
    """By cpu, `performance` or `efficiency` from the kernel's capacities of cpus; empty if they are equal."""
    largest = max(capacities.values(), default=0)
    small = {cpu for cpu, capacity in capacities.items() if capacity < _EFFICIENCY_SHARE * largest}
    return {cpu: "efficiency" if cpu in small else "performance" for cpu in capacities} if small else {}


def _devices(
    objects: list[tuple[Element, tuple[Element, ...]]],
    every: int,
    kinds: dict[int, Literal["network", "infiniband", "accelerator"]],
) -> Iterator[Device]:
    for element, around in objects:
        address = next(
            (outer.get("pci_busid", "") for outer in (element, *reversed(around)) if _is_pci(outer)), ""
        )
        kind = kinds.get(int(element.get("osdev_type", "-1"))) if element.get("type") == "OSDev" else None
        if kind is None and not _is_pci(element):
            continue
        near = next((outer.attrib["cpuset"] for outer in reversed(around) if "cpuset" in outer.attrib), None)
        yield Device(
            name=element.get("name", address),
            kind=kind or "pci",
            infos=_infos(element),
            near=_members(near, every),
            pci=address,
            pci_type=element.get("pci_type", "") if kind is None else "",
            computes=int(element.get("osdev_type", "-1")) in _COMPUTING,
        )


def _is_pci(element: Element) -> bool:
    return element.get("type") == "PCIDev"
