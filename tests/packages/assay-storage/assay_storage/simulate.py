"""Files on a simulated machine: as fast as its memory, and a fixed time to make them durable."""

from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.rates import Workload, mean, page_shares
from assay.simulation.request import CaseRequest, Request

_FSYNC_S, _CLOSE_S = 0.005, 1e-5


def storage(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Write and read at half of the rate of memory for one core."""
    size = int(case.params["bytes"])
    passed_s = 2 * size / law.core_traffic
    phases = {"write": passed_s, "fsync": _FSYNC_S, "close": _CLOSE_S}
    stored_s = sum(phases.values())
    work: dict[str, dict[str, float]] = {"stored": {"bytes": 1.0}, **{name: {} for name in phases}}
    work["read"] = {"bytes": float(size)}
    seconds = {"stored": stored_s, **phases, "read": passed_s}
    shares = page_shares(topology, request, serial=True)
    return Workload(case.params, work, seconds, 2 * size, mean(shares), figure=float(size))


programs = {"storage": storage}
