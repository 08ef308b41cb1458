"""Facts of a machine: this one, one saved as hwloc's XML, or one that is only described."""

import os
from dataclasses import replace
from pathlib import Path

from assay.machine import allowance, hwloc, hwloc_xml, kernel
from assay.machine.topology import Cpus, Parts, assemble
from assay.model.facts import Fact, unavailable
from assay.model.machine import MACHINE_SCHEMA, Machine, Topology

__all__ = ["discover", "load_xml", "synthetic"]


def discover() -> tuple[Machine, str]:
    """This machine and its hwloc XML, which is empty where libhwloc is missing."""
    root = Path("/")
    document = hwloc.live() or ""
    exported = hwloc_xml.parse(document, "hwloc") if document else None
    parts = exported.parts if exported else kernel.parts(root)
    machine = Machine(
        schema=MACHINE_SCHEMA,
        host=os.uname().nodename,
        origin="live",
        topology=assemble(_as_allowed(parts, root)),
        memory=allowance.memory(root, address_space=allowance.address_space()),
        facts={},
        devices=(),
    )
    return machine, document


def load_xml(path: str | Path) -> Machine:
    """A machine that was saved with `lstopo --of xml`; UsageError where the file is none."""
    exported = hwloc_xml.parse(hwloc_xml.read(Path(path)), str(path))
    topology = assemble(exported.parts)
    return Machine(MACHINE_SCHEMA, str(path), "file", topology, _memory(topology, str(path)), {}, ())


def synthetic(description: str) -> Machine:
    """A machine from hwloc's short form, e.g. `pack:2 numa:4 l3:2 core:4 pu:1`; UsageError where it is wrong."""
    topology = assemble(hwloc_xml.parse(hwloc.synthetic(description), description).parts)
    source = "the description" if "memory=" in description.lower() else "assumed: hwloc gives each node 1 GiB"
    return Machine(MACHINE_SCHEMA, description, "synthetic", topology, _memory(topology, source), {}, ())


def _as_allowed(parts: Parts, root: Path) -> Parts:
    """The parts with what this very process may use: under taskset or numactl less than its cgroup allows."""
    return replace(
        parts,
        distances=parts.distances or kernel.distances(root),
        allowed_cpus=kernel.allowed_cpus(root) or Cpus(os.sched_getaffinity(0)),
        allowed_nodes=kernel.allowed_nodes(root) or parts.allowed_nodes,
    )


def _memory(topology: Topology, source: str) -> Fact:
    total = sum(node.memory_bytes for node in topology.numa_nodes)
    return Fact(total, "B", source) if total else unavailable("the topology gives no memory sizes")
