"""Simulated kernels, limited by memory, arithmetic units and messages."""

import math

from assay.model.declarations import works_together
from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.links import first_link
from assay.simulation.rates import Workload, lanes_per_s, mean, memory_rate, page_shares, phased
from assay.simulation.request import CaseRequest, Request
from assay.topics.kernels.benchmarks.hpcg import LEVELS, benchmark, box_bytes, counts
from assay.topics.kernels.sizes import demand

#: Share of the peak of fused multiply-adds that such codes reach.
_PEAK_SHARE = 0.1
#: Share of the memory rate that products and sweeps over a sparse matrix reach.
_SPARSE_SHARE = 0.85


def nas(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Take the longer of arithmetic and memory, and the messages."""
    params = case.params
    ranks, hosts = request.rank_count, request.host_count
    problems = 1 if works_together(params) else ranks
    shares = page_shares(topology, request, serial=False)
    peak = hosts * 2 * lanes_per_s(topology, law, request, "fp64", law.vector_bits)
    need = demand(str(params["npb"]), str(params["npb-class"]))
    from_memory = problems * need.traffic_bytes / (hosts * memory_rate(topology, law, request.cpus, shares))
    # Without a count of floating-point operations, one instruction per operation.
    arithmetic = problems * (need.flops or 1) * need.operations / (_PEAK_SHARE * peak)
    seconds = {"computation": max(arithmetic, from_memory), "messages": 0.0}
    sharing = ranks // problems
    if sharing > 1:
        link = first_link(topology, law, request)
        seconds["messages"] = need.message_bytes / ranks / link.rate + link.latency_s * math.ceil(math.log2(ranks))
    work = {
        "operations": 1.0,
        "flops": need.flops,
        "traffic_bytes": need.traffic_bytes / need.operations,
    }
    return Workload(
        params,
        *phased(work, seconds),
        need.memory_bytes(sharing),
        mean(shares),
        (1.0,) * ranks,
        need.message_bytes * (sharing > 1),
        figure=problems * need.operations,
    )


def hpcg(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Take the bytes at the memory rate, and a step of messages for each sum and each exchange of neighbours."""
    params = case.params
    edge, iterations = int(params["n"]), int(params["cg-iterations"])
    ranks, hosts = request.rank_count, request.host_count
    shares = page_shares(topology, request, serial=False)
    rate = _SPARSE_SHARE * hosts * memory_rate(topology, law, request.cpus, shares)
    counted = counts(ranks, edge, iterations)
    seconds = {part: each.bytes / rate for part, each in counted.items()}
    payload = 0.0
    if ranks > 1:
        link = first_link(topology, law, request)
        seconds["ddot"] += (3 * iterations + 1) * 2 * link.latency_s
        times = 3 * LEVELS - 1  # of an iteration, on one grid or another
        payload = 8.0 * edge**2 * 3 * iterations * ranks
        seconds["exchange"] = times * iterations * link.latency_s + payload / ranks / link.rate
    flops, moved = (sum(each) for each in zip(*counted.values(), strict=True))
    phases = {part: seconds[part] for part in benchmark.kernels if part in seconds}
    work = {"solution": 1.0, "bytes": moved / flops}
    page_nodes, paces = mean(shares), (1.0,) * ranks
    return Workload(params, *phased(work, phases), box_bytes(edge), page_nodes, paces, payload, figure=flops)


programs = {"hpcg": hpcg, "nas": nas}
