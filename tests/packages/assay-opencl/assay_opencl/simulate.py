"""A simulated OpenCL device: it computes on the cores of its rank, at the rate of their memory."""

from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.rates import Workload, mean, memory_rate, page_shares
from assay.simulation.request import CaseRequest, Request

#: Bytes of one number in all vectors of a kernel, and its operations.
_BYTES, _FLOPS = {"copy": 8, "triad": 12}, {"triad": 2}


def opencl_memory(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Each kernel moves its bytes at the rate of memory."""
    elements = int(case.params["elements"])
    shares = page_shares(topology, request, serial=True)
    rate = memory_rate(topology, law, request.cpus, shares)
    work = {
        kernel: {"bytes": float(elements * count)}
        | ({"flops": float(elements * _FLOPS[kernel])} if kernel in _FLOPS else {})
        for kernel, count in _BYTES.items()
    }
    seconds = {kernel: elements * count / rate for kernel, count in _BYTES.items()}
    return Workload(case.params, work, seconds, 16 * elements, mean(shares))


programs = {"opencl_memory": opencl_memory}
