"""What the simulated programs do: the work of one iteration, and its time by the law of the machine.

The `simulate.py` of a topic has `programs`: name of a program -> the function that simulates a case.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

from assay.catalogue import benchmarks, topics
from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.rates import Workload
from assay.simulation.request import CaseRequest, Request

#: Simulates a case of a request on a machine with this topology and law.
Program = Callable[[Topology, Law, Request, CaseRequest], Workload]


def workload(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Simulate a case of a request on a machine with `topology` and `law`; KeyError for an unknown program.

    Axes that the request does not name have their default; their first value where the default follows from the
    machine.
    """
    usual = {
        axis.name: next(iter(axis.values), 0) if axis.default is None else axis.default
        for axis in benchmarks.get(request.program).axes
    }
    return _programs()[request.program](topology, law, request, replace(case, params=usual | case.params))


@cache
def _programs() -> Mapping[str, Program]:
    return {name: each for module in topics.each("simulate") for name, each in module.programs.items()}
