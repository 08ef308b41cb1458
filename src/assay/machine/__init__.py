"""Facts of a machine: this one, one saved as hwloc XML, or a described one."""

# Modules are imported when they are needed: `assay doctor` watches other processes meanwhile.
# ruff: noqa: PLC0415
from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from concurrent.futures import Future

    from assay.machine import hwloc_xml
    from assay.machine.opencl import OpenClDevice
    from assay.machine.topology import Parts
    from assay.model.facts import Fact
    from assay.model.machine import Machine

__all__ = ["discover", "load_xml", "synthetic"]


def discover() -> tuple[Machine, str]:
    """This machine and its hwloc XML, which is empty if libhwloc is missing.

    Programs of others are asked meanwhile: a driver for OpenCL takes as long as all else.
    """
    from concurrent.futures import ThreadPoolExecutor

    from assay.machine import devices, opencl

    with ThreadPoolExecutor(2) as pool:
        return _discovered(pool.submit(opencl.found), pool.submit(devices.shapers))


def _discovered(
    opencl_devices: Future[tuple[OpenClDevice, ...]], shapers: Future[dict[str, dict[str, Fact]]]
) -> tuple[Machine, str]:
    from assay.machine import (
        accelerators,
        devices,
        hwloc,
        hwloc_xml,
        kernel,
        memory,
        processor,
        system,
    )
    from assay.machine.topology import assemble
    from assay.model.machine import MACHINE_SCHEMA, Machine

    root = Path("/")
    document = hwloc.live() or ""
    exported = hwloc_xml.parse(document, "hwloc") if document else None
    parts = _limited_to_process(exported.parts if exported else kernel.parts(root), root)
    topology = memory.counted(root, assemble(parts))
    allowed = memory.available_memory(root, address_space=memory.address_space())
    host = os.uname()
    machine = Machine(
        schema=MACHINE_SCHEMA,
        host=host.nodename,
        origin="live",
        topology=topology,
        memory=allowed,
        facts={
            "processor": processor.facts(root, topology, host.machine, processor.guess()),
            "frequency": processor.scaling_facts(root),
            "memory": memory.facts(root, topology, allowed),
            "system": system.facts(root)
            | system.installed(root)
            | {"hwloc": hwloc.version(exported.system.get("hwlocVersion", "2") if exported else "")},
            "mitigations": system.mitigations(root),
        },
        devices=(
            *devices.read(root, shapers.result(), devices.firmware_versions(root)),
            *accelerators.read(
                root,
                exported.devices if exported else (),
                os.environ,
                opencl_devices.result(),
                accelerators.list_partitions(root),
            ),
        ),
    )
    return machine, document


def load_xml(path: str | Path) -> Machine:
    """A machine saved with `lstopo --of xml`; UsageError if the file is invalid."""
    from assay.machine import hwloc_xml

    exported = hwloc_xml.parse(hwloc_xml.read(Path(path)), str(path))
    return _from_export(exported, "file", str(path), "the file")


def synthetic(description: str) -> Machine:
    """A machine from hwloc's short form, e.g. `pack:2 numa:4 l3:2 core:4 pu:1`; UsageError if it is wrong."""
    from assay.machine import hwloc, hwloc_xml

    exported = hwloc_xml.parse(hwloc.synthetic(description), description)
    # hwloc gives 1 GiB to each node without a size.
    return _from_export(
        exported, "synthetic", description, "the description", guessed="memory=" not in description.lower()
    )


def _from_export(
    exported: hwloc_xml.Exported,
    origin: Literal["file", "synthetic"],
    name: str,
    source: str,
    *,
    guessed: bool = False,
) -> Machine:
    from assay.machine import hwloc_facts
    from assay.machine.topology import assemble
    from assay.model.facts import Fact, unavailable
    from assay.model.machine import MACHINE_SCHEMA, Machine

    topology = assemble(exported.parts)
    # The maximum that a process may use there; the free memory is unknown.
    total = sum(node.memory_bytes for node in topology.numa_nodes if node.index in topology.allowed_nodes)
    of_memory = "hwloc gives each node 1 GiB where none is named" if guessed else source
    memory_there = (
        Fact(total, "B", of_memory, guessed=guessed)
        if total
        else unavailable(f"{source} gives no sizes of memory")
    )
    return Machine(
        schema=MACHINE_SCHEMA,
        host=name,
        origin=origin,
        topology=topology,
        memory=memory_there,
        facts=hwloc_facts.facts(exported, topology, memory_there, source),
        devices=hwloc_facts.devices(exported, topology, source),
    )


def _limited_to_process(parts: Parts, root: Path) -> Parts:
    """The parts with what this process may use: taskset or numactl may allow less than its cgroup."""
    from dataclasses import replace

    from assay.machine import kernel
    from assay.machine.topology import Cpus

    return replace(
        parts,
        distances=parts.distances or kernel.distances(root),
        allowed_cpus=kernel.allowed_cpus(root) or Cpus(os.sched_getaffinity(0)),
        allowed_nodes=kernel.allowed_nodes(root) or parts.allowed_nodes,
    )
