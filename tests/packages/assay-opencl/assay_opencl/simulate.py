"""A simulated OpenCL device: it computes on the cores of its rank, at the rate of their memory."""

from assay.catalogue.declaration_files import declaration
from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.rates import Workload, mean, memory_rate, page_shares
from assay.simulation.request import CaseRequest, Request

_DECLARED = declaration("opencl_memory")


def opencl_memory(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Each kernel moves its bytes at the rate of memory."""
    elements = int(case.params["elements"])
    shares = page_shares(topology, request, serial=True)
    rate = memory_rate(topology, law, request.cpus, shares)
    work = {kernel: _DECLARED.work_of(kernel, elements) for kernel in _DECLARED.kernels}
    seconds = {kernel: amounts["bytes"] / rate for kernel, amounts in work.items()}
    return Workload(case.params, work, seconds, 16 * elements, mean(shares))


programs = {"opencl_memory": opencl_memory}
