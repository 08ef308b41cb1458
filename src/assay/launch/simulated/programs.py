"""What the simulated programs do: the work of one iteration and how long it takes by the machine's law."""

from collections.abc import Callable
from dataclasses import dataclass

from assay.launch.simulated.law import Law
from assay.launch.simulated.request import CaseRequest, Request
from assay.model.benchmark import ParamValue
from assay.model.machine import Topology
from assay.model.units import parse_cpu_list

_DOUBLE_BYTES = 8
#: kernel -> (doubles read, doubles written) for one element, as STREAM counts them.
_STREAM = {"copy": (1, 1), "scale": (1, 1), "add": (2, 1), "triad": (2, 1)}
_PAGE_BYTES = 4096


@dataclass(frozen=True)
class Workload:
    """A case on a machine.

    Attributes:
        params: every axis with its value.
        work: kernel -> quantity -> amount in one iteration.
        seconds: kernel -> duration of one iteration, without noise.
        memory_bytes: touched before the first sample.
        page_nodes: memory node -> share of the pages on it.
    """

    params: dict[str, ParamValue]
    work: dict[str, dict[str, float]]
    seconds: dict[str, float]
    memory_bytes: int
    page_nodes: dict[int, float]

    def pages(self) -> dict[str, int]:
        """Pages by node, as the header of a case reports them."""
        total = max(1, self.memory_bytes // _PAGE_BYTES)
        return {str(node): round(share * total) for node, share in sorted(self.page_nodes.items()) if share}


def workload(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """The case of a request on a machine with `topology` that obeys `law`; KeyError for an unknown program."""
    return _PROGRAMS[request.program](topology, law, request, case)


def _stream(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    params: dict[str, ParamValue] = {"stores": "ordinary", "touch": "parallel", "elements": 10_000_000}
    params |= case.params
    elements = int(params["elements"])
    allocate = params["stores"] == "ordinary"
    shares = _page_shares(topology, request, serial=params["touch"] == "serial")
    working_set = 3 * _DOUBLE_BYTES * elements
    rate = _cached_rate(topology, law, request.cpus, working_set) or _memory_rate(
        topology, law, request.cpus, shares
    )
    work = {
        kernel: {
            "bytes": float(_DOUBLE_BYTES * (read + written) * elements),
            "traffic_bytes": float(_DOUBLE_BYTES * (read + written + (written if allocate else 0)) * elements),
        }
        for kernel, (read, written) in _STREAM.items()
    }
    seconds = {
        kernel: amounts["traffic_bytes"] / (rate * law.kernels.get(kernel, 1.0))
        for kernel, amounts in work.items()
    }
    return Workload(params, work, seconds, working_set, _mean(shares))


def _memcpy(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    params: dict[str, ParamValue] = {"bytes": 2**20, "buffers": "hot", "offset": 0, "pool": 2**28}
    params |= case.params
    size = max(1, int(params["bytes"]) + int(params["offset"]))
    cold = params["buffers"] == "cold"
    memory_bytes = 2 * (max(size, int(params["pool"])) if cold else size)
    rate = _cached_rate(topology, law, request.cpus[:1], memory_bytes) or law.copy_rate
    shares = _page_shares(topology, request, serial=True)
    work = {"memcpy": {"bytes": float(size)}}
    slow = law.slow_cores.get(request.cpus[0], 1.0)
    return Workload(params, work, {"memcpy": law.call_s + size / (rate * slow)}, memory_bytes, _mean(shares))


def _core_to_core(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    params: dict[str, ParamValue] = {"lines": 1} | case.params
    first_state = next(iter(law.handover))
    return Workload(
        params,
        {"handover": {"handovers": 2.0}},
        {"handover": 2 * law.handover[first_state]},
        _PAGE_BYTES,
        _mean(_page_shares(topology, request, serial=True)),
    )


_PROGRAMS: dict[str, Callable[[Topology, Law, Request, CaseRequest], Workload]] = {
    "stream": _stream,
    "memcpy": _memcpy,
    "core_to_core": _core_to_core,
}


def _page_shares(topology: Topology, request: Request, *, serial: bool) -> list[dict[int, float]]:
    """For each thread: memory node -> share of its pages there."""
    policy, _, listed = request.memory.partition(":")
    nodes = parse_cpu_list(listed) if listed else ()
    if policy in {"bind", "interleave"}:
        wanted = nodes or topology.allowed_nodes
        return [{node: 1 / len(wanted) for node in wanted}] * len(request.cpus)
    near = _nearest_nodes(topology)
    homes = [near.get(cpu, 0) for cpu in request.cpus]
    return [{(homes[0] if serial else home): 1.0} for home in homes]


def _memory_rate(topology: Topology, law: Law, cpus: tuple[int, ...], shares: list[dict[int, float]]) -> float:
    """Traffic of all threads together: equal parts of the work, so that the slowest thread or node decides."""
    near = _nearest_nodes(topology)
    node_load: dict[int, float] = {}
    thread_rates: list[float] = []
    for cpu, nodes in zip(cpus, shares, strict=True):
        costs = {node: part / (1.0 if node == near.get(cpu) else law.remote) for node, part in nodes.items()}
        thread_rates.append(law.core_traffic * law.slow_cores.get(cpu, 1.0) / sum(costs.values()))
        for node, cost in costs.items():
            node_load[node] = node_load.get(node, 0.0) + cost
    capacities = {node: law.node_traffic * _uncontended(topology, law, node, cpus) for node in node_load}
    node_rates = [capacities[node] / load for node, load in node_load.items()]
    return len(cpus) * min(*thread_rates, *node_rates)


def _uncontended(topology: Topology, law: Law, node: int, cpus: tuple[int, ...]) -> float:
    """Share of a node's rate that is left while the cores of `cpus` near it draw at once."""
    cores = [core for core in topology.cores if core.numa == node]
    drawing = sum(1 for core in cores if set(core.cpus) & set(cpus))
    return 1 - law.contention * max(0, drawing - 1) / max(1, len(cores) - 1)


def _cached_rate(topology: Topology, law: Law, cpus: tuple[int, ...], working_set: int) -> float | None:
    """Rate while everything lies in a cache of the cpus, None where it does not."""
    for level in sorted({cache.level for cache in topology.caches if cache.kind != "instruction"}):
        used = [
            c for c in topology.caches if c.level == level and c.kind != "instruction" and set(c.cpus) & set(cpus)
        ]
        if working_set <= sum(cache.size_bytes for cache in used):
            slowest = min(law.slow_cores.get(cpu, 1.0) for cpu in cpus)
            return law.cache_rates[level] * len(cpus) * slowest
    return None


def _nearest_nodes(topology: Topology) -> dict[int, int]:
    return {cpu: core.numa for core in topology.cores for cpu in core.cpus}


def _mean(shares: list[dict[int, float]]) -> dict[int, float]:
    mean: dict[int, float] = {}
    for share in shares:
        for node, part in share.items():
            mean[node] = mean.get(node, 0.0) + part / len(shares)
    return mean
