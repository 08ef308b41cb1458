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


def setting(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Setting:
    """Return a case of a request on a machine with `topology` and `law`; KeyError for an unknown program.

    Axes that the request does not name have their default; their first value where the default follows from the
    machine.
    """
    usual = {
        axis.name: next(iter(axis.values), 0) if axis.default is None else axis.default
        for axis in benchmarks.get(request.program).axes
    }
    return Setting(topology, law, request, usual | case.params)


def workload(on: Setting) -> Workload:
    """Simulate a case."""
    return _programs()[on.request.program](on)


def pages(on: Setting, load: Workload) -> dict[str, int]:
    """Return the touched pages of each rank by memory node, as the header of a case reports them."""
    total = max(1, memory_bytes(on) // _PAGE_BYTES)
    shares = mean(on.page_shares(serial=load.serial))
    return {str(node): round(share * total) for node, share in sorted(shares.items()) if share}


def memory_bytes(on: Setting) -> int:
    """Return the memory that each rank touches before its first sample, as plans count it."""
    return benchmarks.get(on.request.program).memory_bytes(on.params, on.request.placement)


@cache
def _programs() -> Mapping[str, Program]:
    return {name: each for module in topics.each("simulate") for name, each in module.programs.items()}
