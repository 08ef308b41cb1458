"""What the simulated programs do: the work of one iteration and how long it takes by the machine's law."""

from collections.abc import Callable

from assay.launch.simulated.compute import flops, himeno
from assay.launch.simulated.law import Law
from assay.launch.simulated.loads import core_to_core, latency, loaded_latency
from assay.launch.simulated.messages import onesided, pt2pt, tcp
from assay.launch.simulated.operations import collective, overlap
from assay.launch.simulated.rates import Workload, cached_rate, mean, memory_rate, page_shares, params_of
from assay.launch.simulated.request import CaseRequest, Request
from assay.launch.simulated.tournament import tournament
from assay.model.machine import Topology

_DOUBLE_BYTES = 8
#: kernel -> (doubles read, doubles written) for one element, as STREAM counts them.
_STREAM = {"copy": (1, 1), "scale": (1, 1), "add": (2, 1), "triad": (2, 1)}


def workload(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """The case of a request on a machine with `topology` that obeys `law`; KeyError for an unknown program."""
    return _PROGRAMS[request.program](topology, law, request, case)


def _stream(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    params = params_of(case, {"stores": "ordinary", "touch": "parallel", "elements": 10_000_000})
    elements = int(params["elements"])
    allocate = params["stores"] == "ordinary"
    shares = page_shares(topology, request, serial=params["touch"] == "serial")
    working_set = 3 * _DOUBLE_BYTES * elements
    rate = cached_rate(topology, law, request.cpus, working_set) or memory_rate(
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
    return Workload(params, work, seconds, working_set, mean(shares))


def _memcpy(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    params = params_of(case, {"bytes": 2**20, "buffers": "hot", "offset": 0, "pool": 2**28})
    size = max(1, int(params["bytes"]) + int(params["offset"]))
    cold = params["buffers"] == "cold"
    memory_bytes = 2 * (max(size, int(params["pool"])) if cold else size)
    rate = cached_rate(topology, law, request.cpus[:1], memory_bytes) or law.copy_rate
    shares = page_shares(topology, request, serial=True)
    work = {"memcpy": {"bytes": float(size)}}
    slow = law.slow_cores.get(request.cpus[0], 1.0)
    return Workload(params, work, {"memcpy": law.call_s + size / (rate * slow)}, memory_bytes, mean(shares))


_PROGRAMS: dict[str, Callable[[Topology, Law, Request, CaseRequest], Workload]] = {
    "stream": _stream,
    "memcpy": _memcpy,
    "core_to_core": core_to_core,
    "latency": latency,
    "loaded_latency": loaded_latency,
    "flops": flops,
    "himeno": himeno,
    "pt2pt": pt2pt,
    "tcp": tcp,
    "onesided": onesided,
    "pairs": tournament,
    "collective": collective,
    "overlap": overlap,
}
