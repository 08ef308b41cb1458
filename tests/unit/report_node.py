"""An invented node of two sockets, with one measurement of everything that the report of a node draws."""

from pathlib import Path

import msgspec
from tests.simulation import simulated_run
from tests.unit.report_example import Example

from assay import analyse, plan, store
from assay.model.machine import Machine
from assay.model.plan import Factor, Measure, Study
from assay.simulation import Law

DUAL = "pack:2 numa:1(memory=64GB) l3:1(size=16MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
LAW = Law(tlb_bytes=4 * 2**20, tlb_s=9e-9)
DISTANCES = ((10, 21), (21, 10))
_ALL = ("all",)

STUDY = Study(
    title="A node",
    question="What can it do?",
    launches=6,
    measure=(
        Measure("stream", ("all", "one-core"), axes={"stores": ("ordinary", "non-temporal")}),
        Measure("stream", ("cores:*", "spread:*")),
        Measure("stream", _ALL, ("first-touch", "interleave"), {"touch": ("parallel", "serial")}),
        Measure("stream", ("all:numa:*",), ("bind:*",)),
        Measure("latency", ("one-core:numa:*",), ("bind:*",), {"bytes": 2**26}),
        Measure("latency", ("one-core",), axes={"bytes": "4K:256M/4", "pages": ("small", "huge")}),
        Measure("loaded_latency", _ALL, axes={"delay": (0, 30, 300)}),
        Measure("core_to_core", ("pair:*",)),
        Measure("flops", (*_ALL, "one-core"), axes={"mix": ("fma", "add"), "width": ("128", "256")}),
        Measure("himeno", _ALL, ("first-touch", "interleave"), {"size": "L", "touch": "serial"}),
        Measure("himeno", _ALL, axes={"size": "L"}),
        Measure("memcpy", ("one-core",), axes={"bytes": "64:64M", "buffers": "hot"}),
    ),
)
VARIED = Study(
    title="Two policies",
    question="Which one?",
    measure=(Measure("stream", _ALL), Measure("latency", ("one-core",), axes={"bytes": (2**20, 2**26)})),
)
MEMORY = Factor("memory", ("first-touch", "interleave"), "memory")


def node(folder: Path, study: Study = STUDY, *factors: Factor) -> Example:
    """The run and its analysis, with distances as reported by firmware."""
    options = plan.Options(launches=6, factors=factors)
    run = store.load(simulated_run(folder, LAW, description=DUAL, study=study, options=options))
    run = msgspec.structs.replace(run, machines={host: _far(machine) for host, machine in run.machines.items()})
    return Example(run, analyse.analyse(run))


def _far(machine: Machine) -> Machine:
    topology = msgspec.structs.replace(machine.topology, distances=DISTANCES)
    return msgspec.structs.replace(machine, topology=topology)
