"""What the simulated programs do: the work of one iteration, and how long it takes by the machine's law.

The `simulate.py` of a topic holds `programs`: the name of each of its programs, and what a case does there.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

from assay.model import benchmarks, topics
from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.rates import Workload
from assay.simulation.request import CaseRequest, Request

#: What a case of a request does on a machine with this topology that obeys this law.
Program = Callable[[Topology, Law, Request, CaseRequest], Workload]


def workload(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """The case of a request on a machine with `topology` that obeys `law`; KeyError for an unknown program.

    Axes that the request does not name have their usual value; where that follows from the machine, the first one.
    """
    usual = {
        axis.name: next(iter(axis.values), 0) if axis.default is None else axis.default
        for axis in benchmarks.get(request.program).axes
    }
    return _programs()[request.program](topology, law, request, replace(case, params=usual | case.params))


@cache
def _programs() -> Mapping[str, Program]:
    return {name: each for module in topics.each("simulate") for name, each in module.programs.items()}
