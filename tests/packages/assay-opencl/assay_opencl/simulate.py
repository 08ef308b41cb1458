"""A simulated OpenCL device: it computes on the cores of its rank, at the rate of their memory."""

from assay.catalogue.declaration_files import declaration
from assay.simulation.rates import Setting, Workload

_DECLARED = declaration("opencl_memory")


def opencl_memory(setting: Setting) -> Workload:
    """Each kernel moves its bytes at the rate of memory."""
    rate = setting.memory_rate(setting.page_shares(serial=True))
    work = {kernel: _DECLARED.work_of(kernel, int(setting.params["elements"])) for kernel in _DECLARED.kernels}
    seconds = {kernel: amounts["bytes"] / rate for kernel, amounts in work.items()}
    return Workload(work, seconds, serial=True)


programs = {"opencl_memory": opencl_memory}
