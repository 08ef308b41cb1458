"""Cases on more nodes than a run has, of the same kind: to predict them, not to measure them."""

from collections.abc import Mapping

import msgspec

from assay.catalogue import benchmarks
from assay.model.benchmark import Resources
from assay.model.machine import Machine
from assay.model.placement import parsed
from assay.model.plan import Case, Plan
from assay.plan.points import expand
from assay.plan.spots import memory_available


def on_nodes(plan: Plan, machines: Mapping[str, Machine], nodes: int) -> tuple[tuple[Case, Case], ...]:
    """Pairs of cases of MPI programs: the measured one on the most nodes, and the same on `nodes` nodes.

    Args:
        plan: plan of the run.
        machines: machines of its nodes; further nodes are assumed to equal the first.
        nodes: number of nodes.
    """
    machine = next(iter(machines.values()))
    most: dict[object, Case] = {}
    for case in plan.studied:
        if benchmarks.get(case.benchmark).launcher != "mpi" or benchmarks.get(case.benchmark).between_two:
            continue
        if len(case.placement.hosts) >= nodes or case.placement.by_host:
            continue
        problem = benchmarks.get(case.benchmark).problem(case.params)
        key = case.benchmark, tuple(problem.items()), case.placement.ranks, tuple(case.factors.items())
        if key not in most or len(most[key].placement.hosts) < len(case.placement.hosts):
            most[key] = case
    return tuple((case, _larger(case, machine, nodes)) for case in most.values())


def _larger(case: Case, machine: Machine, nodes: int) -> Case:
    benchmark, placement = benchmarks.get(case.benchmark), case.placement
    fresh = tuple(f"further node {number}" for number in range(len(placement.hosts), nodes))
    label = f"{parsed(placement.label).plain}@{nodes}"
    there = msgspec.structs.replace(placement, label=label, hosts=(*placement.hosts, *fresh))
    resources = Resources(there, machine.topology, memory_available(machine))
    (point, *_) = expand(benchmark, resources, benchmark.problem(case.params))
    return msgspec.structs.replace(case, id=f"{case.id} on {nodes} nodes", params=point.params, placement=there)
