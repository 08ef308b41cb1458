"""What the simulated programs do: the work of one iteration, and how long it takes by the machine's law.

The `simulate.py` of a topic holds `programs`: the name of each of its programs, and what a case does there.
"""

from collections.abc import Callable, Mapping
from functools import cache

from assay.model import topics
from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.rates import Workload
from assay.simulation.request import CaseRequest, Request

#: What a case of a request does on a machine with this topology that obeys this law.
Program = Callable[[Topology, Law, Request, CaseRequest], Workload]


def workload(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """The case of a request on a machine with `topology` that obeys `law`; KeyError for an unknown program."""
    return _programs()[request.program](topology, law, request, case)


@cache
def _programs() -> Mapping[str, Program]:
    return {name: each for module in topics.each("simulate") for name, each in module.programs.items()}
