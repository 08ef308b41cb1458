"""Simulated programs that memory limits: bandwidth, copies, dependent loads, loads under load."""

from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.rates import Workload, cached_rate, mean, memory_rate, nearest_nodes, page_shares
from assay.simulation.request import CaseRequest, Request
from assay.topics.memory.benchmarks.stream import benchmark

_DOUBLE_BYTES = 8
#: Elements of an array, where the request names none.
_ELEMENTS = 10_000_000
_MEMORY_BYTES = 2**28
_LOAD_BYTES = 2.0**26
#: Turns of delay that halve the load.
_DELAY = 30


def stream(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Read the arrays from the smallest caches that hold all three, else from memory."""
    params = case.params
    elements = int(params["elements"]) or _ELEMENTS
    shares = page_shares(topology, request, serial=params["touch"] == "serial")
    working_set = 3 * _DOUBLE_BYTES * elements
    rate = cached_rate(topology, law, request.cpus, working_set) or memory_rate(
        topology, law, request.cpus, shares
    )
    work = {kernel: benchmark.work_of(kernel, elements) for kernel in benchmark.kernels}
    if params["stores"] != "ordinary":  # the lines of the target are not read
        work = {kernel: amounts | {"traffic_bytes": amounts["bytes"]} for kernel, amounts in work.items()}
    seconds = {
        kernel: amounts["traffic_bytes"] / (rate * law.kernels.get(kernel, 1.0))
        for kernel, amounts in work.items()
    }
    return Workload(params, work, seconds, working_set, mean(shares))


def memcpy(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Copy one block again and again, or many blocks of a pool."""
    params = case.params
    size = max(1, int(params["bytes"]) + int(params["offset"]))
    cold = params["buffers"] == "cold"
    memory_bytes = 2 * (max(size, int(params["pool"])) if cold else size)
    in_memory = law.copy_rate * law.slow_cores.get(request.cpus[0], 1.0)
    rate = cached_rate(topology, law, request.cpus[:1], memory_bytes) or in_memory
    shares = page_shares(topology, request, serial=True)
    work = {"memcpy": {"bytes": float(size)}}
    return Workload(params, work, {"memcpy": law.call_s + size / rate}, memory_bytes, mean(shares))


def latency(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Walk at random: the smallest cache that holds the working set answers, else memory.

    Small pages need a walk of the page table beyond the reach of the TLB.
    """
    params = case.params
    size = int(params["bytes"])
    shares = page_shares(topology, request, serial=True)
    seconds = _load_s(topology, law, request.cpus[0], size, shares[0])
    if params["pages"] == "small" and size > law.tlb_bytes:
        seconds += law.tlb_s
    seconds /= law.slow_cores.get(request.cpus[0], 1.0)
    return Workload(params, {"chase": {"loads": 1.0}}, {"chase": seconds}, size, mean(shares))


def loaded_latency(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Walk through memory while other cores draw what their delay leaves; waiting grows with the square of it."""
    params = case.params
    drawn = 1 / (1 + float(params["delay"]) / _DELAY)
    shares = page_shares(topology, request, serial=False)
    idle = _load_s(topology, law, request.cpus[0], _MEMORY_BYTES, shares[0])
    if params["pages"] == "small":
        idle += law.tlb_s
    others, theirs = request.cpus[1:], shares[1:]
    rate = drawn * memory_rate(topology, law, others, theirs) if others else 1.0
    return Workload(
        params,
        {"chase": {"loads": 1.0}, "load": {"bytes": _LOAD_BYTES}},
        {"chase": idle * (1 + (law.load_queue - 1) * drawn**2), "load": _LOAD_BYTES / rate},
        _MEMORY_BYTES,
        mean(shares),
    )


def _load_s(topology: Topology, law: Law, cpu: int, size: int, nodes: dict[int, float]) -> float:
    """Time of a load of one cpu from a working set of `size` bytes that lies on `nodes`."""
    own = [cache for cache in topology.caches if cache.kind != "instruction" and cpu in cache.cpus]
    for cache in sorted(own, key=lambda cache: cache.level):
        if size <= law.held.get(cache.level, cache.size_bytes):
            return law.load_s[cache.level]
    near = nearest_nodes(topology).get(cpu)
    return law.memory_load_s * sum(
        share * (1.0 if node == near else law.remote_load) for node, share in nodes.items()
    )


programs = {"stream": stream, "memcpy": memcpy, "latency": latency, "loaded_latency": loaded_latency}
