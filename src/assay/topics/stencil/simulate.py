"""A simulated stencil."""

from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.rates import Workload, mean, memory_rate, page_shares, params_of
from assay.simulation.request import CaseRequest, Request

_POINTS = {"XS": 55_800, "S": 484_344, "M": 4_032_504, "L": 32_903_160, "XL": 265_822_200}
#: Of one point.
_FLOPS, _BYTES, _TRAFFIC = 34, 64, 72


def himeno(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """A stencil that memory decides: `stencil_bytes` for each of its points."""
    params = params_of(case, {"size": "M", "touch": "parallel"})
    points = _POINTS[str(params["size"])]
    shares = page_shares(topology, request, serial=params["touch"] == "serial")
    work = {
        "flops": float(_FLOPS * points),
        "bytes": float(_BYTES * points),
        "traffic_bytes": float(_TRAFFIC * points),
    }
    seconds = law.stencil_bytes * points / memory_rate(topology, law, request.cpus, shares)
    return Workload(params, {"jacobi": work}, {"jacobi": seconds}, 14 * 4 * points, mean(shares))


programs = {"himeno": himeno}
