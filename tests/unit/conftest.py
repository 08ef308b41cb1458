"""Machines made by hand: no test of planning depends on the machine it runs on or on hwloc."""

import os
from collections.abc import Callable, Generator

import pytest
from tests.undrawn import undrawn_charts

from assay.model.facts import Fact
from assay.model.machine import MACHINE_SCHEMA, Cache, Core, Machine, NumaNode, Topology

MakeMachine = Callable[..., Machine]


@pytest.fixture(scope="session", autouse=True)
def without_a_disk() -> Generator[None]:
    """Launches of simulated runs do not wait for the disk: nothing here has to survive a crash."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _file: None)
        yield


def _undrawn() -> Generator[None]:
    with undrawn_charts():
        yield


#: For tests that read the words of pages.
undrawn = pytest.fixture(scope="module")(_undrawn)
#: The same for a single test.
undrawn_here = pytest.fixture(_undrawn)


@pytest.fixture(scope="session")
def make_machine() -> MakeMachine:
    """`make_machine(sockets, nodes, groups, cores, threads)`: each is a count inside the previous one."""
    return _machine


def _machine(sockets: int = 1, nodes: int = 1, groups: int = 1, cores: int = 1, threads: int = 1) -> Machine:
    all_cores: list[Core] = []
    for group in range(sockets * nodes * groups):
        node = group // groups
        for _ in range(cores):
            index = len(all_cores)
            cpus = tuple(range(index * threads, (index + 1) * threads))
            all_cores.append(Core(index, cpus, package=node // nodes, numa=node, l3=group))

    def cpus_of(kind: str, index: int) -> tuple[int, ...]:
        return tuple(cpu for core in all_cores if getattr(core, kind) == index for cpu in core.cpus)

    topology = Topology(
        packages=tuple(cpus_of("package", index) for index in range(sockets)),
        numa_nodes=tuple(
            NumaNode(index, 32 * 2**30, cpus_of("numa", index), index // nodes) for index in range(sockets * nodes)
        ),
        cores=tuple(all_cores),
        caches=tuple(
            Cache(3, "unified", 8 * 2**20, 64, cpus_of("l3", index)) for index in range(sockets * nodes * groups)
        ),
        distances=(),
        allowed_cpus=tuple(cpu for core in all_cores for cpu in core.cpus),
        allowed_nodes=tuple(range(sockets * nodes)),
    )
    memory = Fact(value=sockets * nodes * 30 * 2**30, unit="B")
    return Machine(MACHINE_SCHEMA, "hand-made", "synthetic", topology, memory, {}, ())
