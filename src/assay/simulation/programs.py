"""What the simulated programs do: the work of one iteration, and its time by the law of the machine.

The `simulate.py` of a topic has `programs`: name of a program -> the function that simulates a case.
"""

from collections.abc import Callable, Mapping
from functools import cache

from assay.catalogue import benchmarks, topics
from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.rates import Setting, Workload, mean
from assay.simulation.request import CaseRequest, Request

_PAGE_BYTES = 4096
#: Simulates a case on a machine.
Program = Callable[[Setting], Workload]


def setting_of(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Setting:
    """Return a case of a request on a machine with `topology` and `law`; KeyError for an unknown program.

    Axes that the request does not name have their default; their first value where the default follows from the
    machine.
    """
    usual = {
        axis.name: next(iter(axis.values), 0) if axis.default is None else axis.default
        for axis in benchmarks.get(request.program).axes
    }
    return Setting(topology, law, request, usual | case.params)


def workload(setting: Setting) -> Workload:
    """Simulate a case."""
    return _programs()[setting.request.program](setting)


def pages(setting: Setting, load: Workload) -> dict[str, int]:
    """Return the touched pages of each rank by memory node, as the header of a case reports them."""
    total = max(1, memory_bytes(setting) // _PAGE_BYTES)
    shares = mean(setting.page_shares(serial=load.serial))
    return {str(node): round(share * total) for node, share in sorted(shares.items()) if share}


def memory_bytes(setting: Setting) -> int:
    """Return the memory that each rank touches before its first sample, as plans count it."""
    return benchmarks.get(setting.request.program).memory_bytes(setting.params, setting.request.placement)


@cache
def _programs() -> Mapping[str, Program]:
    return {name: each for module in topics.each("simulate") for name, each in module.programs.items()}
