"""Measurements that no machine of a run can make, so that no next step names them."""

import math
from collections.abc import Callable

from assay.model.machine import Topology
from assay.model.run import Run
from assay.model.text import text


def without_memory_nodes(run: Run) -> str:
    """Return why nothing can be measured between memory nodes; empty if it can."""
    why = text("No machine of this run has two usable memory nodes")
    return why if _none(run, lambda topology: _memory_nodes(topology) > 1) else ""


def without_threads(run: Run) -> str:
    """Return why nothing can be measured with a second hardware thread; empty if it can."""
    why = text("No machine of this run has two usable hardware threads per core")
    return why if _none(run, lambda topology: max(_threads(topology), default=0) > 1) else ""


def without_pairs(run: Run, fewest: int) -> str:
    """Return why so many pairs of cores cannot be measured; empty if they can."""
    why = text("No machine of this run has {pairs} usable pairs of cores", pairs=fewest)
    return why if _none(run, lambda topology: math.comb(len(_threads(topology)), 2) >= fewest) else ""


def _none(run: Run, can: Callable[[Topology], bool]) -> bool:
    """Whether no known machine can; False for a run without machines."""
    return bool(run.machines) and not any(can(machine.topology) for machine in run.machines.values())


def _memory_nodes(topology: Topology) -> int:
    return sum(node.memory_bytes > 0 and node.index in topology.allowed_nodes for node in topology.numa_nodes)


def _threads(topology: Topology) -> list[int]:
    """The number of allowed hardware threads of each core that has any."""
    allowed = set(topology.allowed_cpus)
    found = (len(allowed.intersection(core.cpus)) for core in topology.cores)
    return [threads for threads in found if threads]
