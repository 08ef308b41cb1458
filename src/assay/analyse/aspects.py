"""What is taken of a figure besides its value, or of the machine: its nominal peak, pages, distances of memory."""

from collections.abc import Callable, Mapping

from assay.analyse.memory_nodes import OTHER_SOCKET, SAME_NODE, SAME_SOCKET, Nodes
from assay.analyse.parts import part
from assay.analyse.peak import nominal
from assay.model.core_rate import units
from assay.model.derivation import Operand
from assay.model.machine import Machine, NumaNode
from assay.model.quantity import Quantity, exact
from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.text import text

#: A quantity, or the reason why there is none.
Found = Quantity | str
#: A memory node by its role, as the coordinate `node` of an operand.
MOST_DATA, LEAST_DATA = "node with most of the data", "node with least of the data"
_DOUBLE_BITS = 64
_FLOPS = 2
_ONE_HOP = "one hop"


def coordinate(estimate: Estimate, axis: str) -> float:
    """Return the value on an axis, or the number of nodes or processors."""
    if axis == "nodes":
        return len(estimate.placement.hosts)
    if axis == "processors":
        return _count(estimate)
    value = estimate.params.get(axis, 0)
    return float(value) if isinstance(value, int | float) else 0.0


def is_where(operand: Operand, estimate: Estimate, run: Run) -> bool:
    """Whether the memory of a figure is as far from its cores as an operand says."""
    if not operand.where:
        return True
    machine, policy = _machine(estimate, run), estimate.placement.policy
    if machine is None or policy.policy != "bind":
        return False
    cores = part(estimate, machine.topology).cores
    near = {machine.topology.cores[core].numa for core in cores}
    nodes = Nodes(machine.topology)
    return any(_is_kind(operand.where, nodes.kind(here, there)) for here in near for there in policy.nodes)


def processors(operand: Operand, estimate: Estimate, run: Run) -> int:
    """Return the number of cpus of a figure: as measured, else as its source states."""
    if operand.per == "node":
        return len(estimate.placement.hosts) or 1
    stated = estimate.params.get("processors", operand.at.get("processors"))
    return int(stated) if run.imported and stated else _count(estimate)


def _count(estimate: Estimate) -> int:
    counted = sum(map(len, estimate.placement.cpus))
    layout = estimate.measurand.layout
    if not counted and isinstance(layout.ranks, int) and isinstance(layout.threads_per_rank, int):
        counted = layout.ranks * layout.threads_per_rank
    return counted or 1


def of_machine(operand: Operand, run: Run) -> Found:
    """Return a quantity of the machine of a run."""
    machine = next(iter(run.machines.values()), None)
    if machine is None:
        return text("its source does not state it")
    return OF_MACHINES[operand.aspect](operand, machine)


def of_estimate(operand: Operand, estimate: Estimate, run: Run) -> Found:
    """Return a quantity that belongs to a figure."""
    return _OF_ESTIMATES[operand.aspect](operand, estimate, run)


def _machine(estimate: Estimate, run: Run) -> Machine | None:
    found = (run.machines[host] for host in estimate.placement.hosts if host in run.machines)
    return next(found, None) or next(iter(run.machines.values()), None)


def _clock(_operand: Operand, machine: Machine) -> Found:
    clock = nominal(machine)
    if clock:
        return exact(clock[0], "Hz")
    why = machine.fact("processor", "nominal frequency").unavailable
    return text("the nominal clock of this processor is not known ({reason})", reason=why or "")


def _node_memory(operand: Operand, machine: Machine) -> Found:
    node = operand.at["node"]
    found = next((each for each in machine.topology.numa_nodes if each.index == node), None)
    return exact(found.memory_bytes, "B") if found else _no_node(machine, node)


def _no_node(machine: Machine, node: object) -> str:
    count = len(machine.topology.numa_nodes)
    return text(
        "node {node}: this machine has {count} memory node|node {node}: this machine has {count} memory nodes",
        count=count,
        node=str(node),
    )


def _distance(operand: Operand, machine: Machine) -> Found:
    """Firmware's distance between two nodes, or of the first pair of a kind."""
    if not machine.topology.distances:
        return text("firmware states no distances of memory nodes")
    nodes = Nodes(machine.topology)
    indices = [each.index for each in machine.topology.numa_nodes]
    if operand.where:
        pairs = ((here, there) for here in indices for there in indices)
        found = next((pair for pair in pairs if _is_kind(operand.where, nodes.kind(*pair))), None)
        if found is None:
            return text("no two memory nodes of this machine are at the distance '{where}'", where=operand.where)
    else:
        found = int(operand.at["node"]), int(operand.at["to"])
        if absent := [node for node in found if node not in indices]:
            return _no_node(machine, absent[0])
    return exact(nodes.distance(*found) or 0)


def _is_kind(wanted: str, kind: str) -> bool:
    """Whether a distance is of a kind; all beyond the socket are `other socket`, and one hop if all are equal."""
    beyond = kind not in {SAME_NODE, SAME_SOCKET, ""}
    return kind == wanted or (beyond and (wanted == OTHER_SOCKET or (kind == OTHER_SOCKET and wanted == _ONE_HOP)))


def _peak(operand: Operand, estimate: Estimate, run: Run) -> Found:
    """Cores x units x lanes x 2 x nominal clock; of a printed figure the limit that its source states."""
    if run.imported:
        limit = estimate.limit
        return exact(limit.value, estimate.unit) if limit else text("its source does not state it")
    machine = _machine(estimate, run)
    if machine is None:
        return text("its machine is not known")
    clock, core = _clock(operand, machine), units(machine)
    if isinstance(clock, str):
        return clock
    flops = _count(estimate) * core.of_core * core.bits / _DOUBLE_BITS * _FLOPS
    return clock.scaled(flops, "flop/s")


def _share_of_pages(operand: Operand, estimate: Estimate, run: Run) -> Found:
    """Share of the pages of a case on the node that has the most, or the least, of them."""
    found = _pages_by_role(operand, estimate, run)
    return found if isinstance(found, str) else exact(found[0])


def _free_memory(operand: Operand, estimate: Estimate, run: Run) -> Found:
    """Memory of that node without the pages of the case; what the system itself uses is not known."""
    found = _pages_by_role(operand, estimate, run)
    return (
        found if isinstance(found, str) else exact(found[1].memory_bytes - found[0] * estimate.memory_bytes, "B")
    )


def _pages_by_role(operand: Operand, estimate: Estimate, run: Run) -> tuple[float, NumaNode] | str:
    """A node by what it holds, not by its number: which node has the data differs from system to system."""
    proof, machine = estimate.placement.proven, _machine(estimate, run)
    if not proof or not proof.page_nodes or not estimate.memory_bytes or machine is None:
        return text("the memory nodes of its pages were not recorded")
    shares = [(proof.page_nodes.get(str(each.index), 0.0), each) for each in machine.topology.numa_nodes]
    extreme = {MOST_DATA: max, LEAST_DATA: min}[str(operand.at["node"])]
    return extreme(shares, key=lambda each: each[0])


def _slowest(_operand: Operand, estimate: Estimate, _run: Run) -> Found:
    """Time of the slowest thread over the mean of all."""
    if not estimate.threads:
        return text("its threads are not timed")
    return exact(max(estimate.threads) * len(estimate.threads) / sum(estimate.threads))


OF_MACHINES: Mapping[str, Callable[[Operand, Machine], Found]] = {
    "nominal clock": _clock,
    "node memory": _node_memory,
    "node distance": _distance,
}
#: Aspects of figures that no launch changes: numbers of the machine, and pages that the kernel counts.
EXACT = frozenset(("nominal peak", "share of pages", "free memory"))
_OF_ESTIMATES: Mapping[str, Callable[[Operand, Estimate, Run], Found]] = {
    "nominal peak": _peak,
    "share of pages": _share_of_pages,
    "free memory": _free_memory,
    "slowest thread": _slowest,
}
