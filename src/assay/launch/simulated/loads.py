"""Simulated programs whose figure is a time: dependent loads, loads beside bandwidth, hand-overs between cores."""

from assay.launch.simulated.law import Law
from assay.launch.simulated.rates import (
    PAGE_BYTES,
    Workload,
    mean,
    memory_rate,
    nearest_nodes,
    page_shares,
    params_of,
)
from assay.launch.simulated.request import CaseRequest, Request
from assay.model.machine import Topology

_MEMORY_BYTES = 2**28
_LOAD_BYTES = 2.0**26
#: Turns of delay that halve what streams draw.
_DELAY = 30


def latency(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """A random walk: answered by the smallest cache that holds the working set, else by memory.

    Small pages need a walk of the page table beyond the reach of the TLB.
    """
    params = params_of(case, {"bytes": _MEMORY_BYTES, "pages": "small", "line": 64, "seed": 1})
    size = int(params["bytes"])
    shares = page_shares(topology, request, serial=True)
    seconds = _load_s(topology, law, request.cpus[0], size, shares[0])
    if params["pages"] == "small" and size > law.tlb_bytes:
        seconds += law.tlb_s
    seconds /= law.slow_cores.get(request.cpus[0], 1.0)
    return Workload(params, {"chase": {"loads": 1.0}}, {"chase": seconds}, size, mean(shares))


def loaded_latency(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """One core walks through memory, the others draw what their delay leaves; waiting grows with its square."""
    params = params_of(case, {"delay": 0, "pages": "huge", "bytes": _MEMORY_BYTES, "line": 64})
    drawn = 1 / (1 + float(params["delay"]) / _DELAY)
    shares = page_shares(topology, request, serial=False)
    idle = _load_s(topology, law, request.cpus[0], _MEMORY_BYTES, shares[0])
    others, theirs = request.cpus[1:], shares[1:]
    rate = drawn * memory_rate(topology, law, others, theirs) if others else 1.0
    return Workload(
        params,
        {"chase": {"loads": 1.0}, "load": {"bytes": _LOAD_BYTES}},
        {"chase": idle * (1 + (law.load_queue - 1) * drawn**2), "load": _LOAD_BYTES / rate},
        _MEMORY_BYTES,
        mean(shares),
    )


def core_to_core(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """A hand-over takes longer the less two cores share."""
    params = params_of(case, {"lines": 1})
    pair = request.cpus[:2]
    far = law.handover_far.get(apart(topology, pair), 1.0)
    handover = law.handover[next(iter(law.handover))] * far * law.slow_pairs.get((pair[0], pair[-1]), 1.0)
    return Workload(
        params,
        {"handover": {"handovers": 2.0}},
        {"handover": 2 * handover},
        PAGE_BYTES,
        mean(page_shares(topology, request, serial=True)),
    )


def apart(topology: Topology, pair: tuple[int, ...]) -> str:
    """The largest thing that two cpus do not share: `core`, `l3`, `numa`, `package`; empty for one core."""
    cores = [core for cpu in pair for core in topology.cores if cpu in core.cpus]
    parts = {"core": "index", "l3": "l3", "numa": "numa", "package": "package"}
    apart = [name for name, part in parts.items() if len({getattr(core, part) for core in cores}) > 1]
    return apart[-1] if apart else ""


def _load_s(topology: Topology, law: Law, cpu: int, size: int, nodes: dict[int, float]) -> float:
    """Time of a load of one cpu from a working set of `size` bytes that lies on `nodes`."""
    own = [cache for cache in topology.caches if cache.kind != "instruction" and cpu in cache.cpus]
    for cache in sorted(own, key=lambda cache: cache.level):
        if size <= cache.size_bytes:
            return law.load_s[cache.level]
    near = nearest_nodes(topology).get(cpu)
    return law.memory_load_s * sum(
        share * (1.0 if node == near else law.remote_load) for node, share in nodes.items()
    )
