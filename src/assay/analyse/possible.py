"""What no machine of a run can show: a next step that cannot be made is none."""

import math
from collections.abc import Callable

from assay.model.machine import Topology
from assay.model.run import Run
from assay.model.text import text


def without_memory_nodes(run: Run) -> str:
    """Why nothing between memory nodes can be measured; empty where it can."""
    why = text("No machine of this run has two usable memory nodes")
    return why if _none(run, lambda topology: _memory_nodes(topology) > 1) else ""


def without_threads(run: Run) -> str:
    """Why nothing of a second hardware thread can be measured; empty where it can."""
    why = text("No machine of this run has two usable hardware threads per core")
    return why if _none(run, lambda topology: max(_threads(topology), default=0) > 1) else ""


def without_pairs(run: Run, fewest: int) -> str:
    """Why so many pairs of cores cannot be measured; empty where they can."""
    why = text("No machine of this run has {pairs} usable pairs of cores", pairs=fewest)
    return why if _none(run, lambda topology: math.comb(len(_threads(topology)), 2) >= fewest) else ""


def _none(run: Run, can: Callable[[Topology], bool]) -> bool:
    """Whether no machine can, of those that are known; a run without any says nothing."""
    return bool(run.machines) and not any(can(machine.topology) for machine in run.machines.values())


def _memory_nodes(topology: Topology) -> int:
    return sum(node.memory_bytes > 0 and node.index in topology.allowed_nodes for node in topology.numa_nodes)


def _threads(topology: Topology) -> list[int]:
    """Hardware threads that may be used of each core that has any."""
    allowed = set(topology.allowed_cpus)
    found = (len(allowed.intersection(core.cpus)) for core in topology.cores)
    return [threads for threads in found if threads]
