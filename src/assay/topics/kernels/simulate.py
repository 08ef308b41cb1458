"""Simulated kernels, limited by memory, arithmetic units and messages."""

import math

from assay.simulation.links import first_link
from assay.simulation.rates import Setting, Workload, phased
from assay.topics.kernels.benchmarks.hpcg import LEVELS, benchmark, counts
from assay.topics.kernels.sizes import demand

#: Share of the peak of fused multiply-adds that such codes reach.
_PEAK_SHARE = 0.1
#: Share of the memory rate that products and sweeps over a sparse matrix reach.
_SPARSE_SHARE = 0.85


def nas(setting: Setting) -> Workload:
    """Take the longer of arithmetic and memory, and the messages."""
    ranks, hosts = setting.request.rank_count, setting.request.host_count
    problems = ranks // setting.sharing
    need = demand(str(setting.params["npb"]), str(setting.params["npb-class"]))
    from_memory = problems * need.traffic_bytes / (hosts * setting.memory_rate())
    # Without a count of floating-point operations, one instruction per operation.
    operations = problems * (need.flops_per_operation or 1) * need.operations
    arithmetic = operations / (_PEAK_SHARE * hosts * 2 * setting.lanes_per_s())
    seconds = {"computation": max(arithmetic, from_memory), "messages": 0.0}
    if setting.sharing > 1:
        link = first_link(setting)
        seconds["messages"] = need.message_bytes / ranks / link.rate + link.latency_s * math.ceil(math.log2(ranks))
    work = {
        "operations": 1.0,
        "flops": need.flops_per_operation,
        "traffic_bytes": need.traffic_bytes / need.operations,
    }
    payload = need.message_bytes * (setting.sharing > 1)
    return Workload(*phased(work, seconds), payload=payload, figure=problems * need.operations)


def hpcg(setting: Setting) -> Workload:
    """Take the bytes at the memory rate, and a step of messages for each sum and each exchange of neighbours."""
    edge, iterations = int(setting.params["n"]), int(setting.params["cg-iterations"])
    ranks = setting.request.rank_count
    rate = _SPARSE_SHARE * setting.request.host_count * setting.memory_rate()
    counted = counts(ranks, edge, iterations)
    seconds = {part: each.bytes / rate for part, each in counted.items()}
    payload = 0.0
    if ranks > 1:
        link = first_link(setting)
        seconds["ddot"] += (3 * iterations + 1) * 2 * link.latency_s
        times = 3 * LEVELS - 1  # of an iteration, on one grid or another
        payload = 8.0 * edge**2 * 3 * iterations * ranks
        seconds["exchange"] = times * iterations * link.latency_s + payload / ranks / link.rate
    flops, moved = (sum(each) for each in zip(*counted.values(), strict=True))
    phases = {part: seconds[part] for part in benchmark.kernels if part in seconds}
    return Workload(*phased({"solution": 1.0, "bytes": moved / flops}, phases), payload=payload, figure=flops)


programs = {"hpcg": hpcg, "nas": nas}
