"""Simulated programs that cores limit: arithmetic and its clock, cache-line transfers between two cores."""

from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.rates import (
    PAGE_BYTES,
    Workload,
    clock_of,
    lanes_per_s,
    mean,
    page_shares,
    separation,
)
from assay.simulation.request import CaseRequest, Request
from assay.topics.cores.benchmarks.flops import OF_OWN_UNIT

#: One iteration of the programs: dependent adds; operations on a lane; flops of plain loops on a cpu.
_CYCLES = 2.0**18
_OPERATIONS = 2.0**20
_PLAIN_FLOPS = 15 * 2.0**14
#: Time of a division or a root, in other operations.
_DIVISION = 10


def flops(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Cores x clock x units x lanes x flops of an operation; a vector wider than the unit takes two turns."""
    params = case.params
    clock = clock_of(topology, law, request)
    bits = 0 if params["width"] == "scalar" else int(params["width"])
    each = 2 if params["mix"] == "fma" else 1
    lanes_rate = lanes_per_s(topology, law, request, str(params["format"]), bits)
    turns = _DIVISION if params["mix"] in OF_OWN_UNIT else 1
    seconds = {
        "clock": _CYCLES / law.clock_hz,
        "loaded-clock": _CYCLES / clock,
        "arithmetic": turns * _OPERATIONS / (clock * law.fma_units),
    }
    work = {
        "clock": {"cycles": _CYCLES},
        "loaded-clock": {"cycles": _CYCLES},
        "arithmetic": {"flops": each * lanes_rate * seconds["arithmetic"] / turns},
    }
    return Workload(params, work, seconds, PAGE_BYTES, mean(page_shares(topology, request, serial=True)))


def flops_plain(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Do scalar operations: compilers may not change the order of the sums."""
    params = case.params
    rate = lanes_per_s(topology, law, request, "fp64", 0)
    flops = _PLAIN_FLOPS * len(request.cpus)
    return Workload(
        params,
        {"sum": {"flops": flops}},
        {"sum": flops / rate},
        PAGE_BYTES,
        mean(page_shares(topology, request, serial=True)),
    )


def core_to_core(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Transfer a cache line: the less two cores share, the longer it takes."""
    params = case.params
    pair = request.cpus[:2]
    far = law.handover_far.get(separation(topology, pair), 1.0)
    first = next(iter(law.handover.values()))
    handover = first * far * law.slow_pairs.get((pair[0], pair[-1]), 1.0)
    return Workload(
        params,
        {"handover": {"handovers": 2.0}},
        {"handover": 2 * handover},
        PAGE_BYTES,
        mean(page_shares(topology, request, serial=True)),
        in_state={name: seconds / first for name, seconds in law.handover.items()},
    )


programs = {"flops": flops, "flops_plain": flops_plain, "core_to_core": core_to_core}
