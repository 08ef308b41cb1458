"""A simulated stencil, on one node and over ranks."""

import math

from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.links import exchanged
from assay.simulation.rates import Workload, lanes_per_s, mean, memory_rate, page_shares, phased
from assay.simulation.request import CaseRequest, Request
from assay.topics.stencil.benchmarks import himeno_mpi as himeno_over_mpi
from assay.topics.stencil.benchmarks import weather as air
from assay.topics.stencil.benchmarks.himeno import GRIDS
from assay.topics.stencil.benchmarks.himeno import benchmark as stencil

#: Share of the peak of fused multiply-adds that tendencies reach, and share of their time for the rest.
_PEAK_SHARE, _OTHER = 0.4, 0.02
#: Share of the rate of memory that a sweep reaches.
_REACHED = 72 / 74
_KERNEL = "jacobi"


def _points(size: str) -> int:
    """Return the points of the grid without its boundaries."""
    return math.prod(points - 2 for points in GRIDS[size])


def _traffic_s(law: Law, points: int, rate: float) -> float:
    """Return the seconds in which memory moves the bytes of a sweep."""
    moved = stencil.work_of(_KERNEL, points)["traffic_bytes"]
    return moved / (_REACHED * law.kernels.get(_KERNEL, 1.0) * rate)


def himeno(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Run a stencil that memory limits: its traffic is the declared one."""
    params = case.params
    points = _points(str(params["size"]))
    shares = page_shares(topology, request, serial=params["touch"] == "serial")
    seconds = _traffic_s(law, points, memory_rate(topology, law, request.cpus, shares))
    return Workload(
        params, {_KERNEL: stencil.work_of(_KERNEL, points)}, {_KERNEL: seconds}, 14 * 4 * points, mean(shares)
    )


def himeno_mpi(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Run the same on each host for its part, then exchange the faces of blocks between ranks."""
    params = case.params
    size, ranks, hosts = str(params["size"]), request.rank_count, request.host_count
    points = _points(size) * (1 if params["coupling"] == "sharing" else ranks)
    shares = page_shares(topology, request, serial=False)
    seconds = _traffic_s(law, points, hosts * memory_rate(topology, law, request.cpus, shares))
    exchange = himeno_over_mpi.benchmark.growth.exchange(params, request.placement)
    passing, payload = exchanged(topology, law, request, exchange)
    return Workload(
        params,
        {_KERNEL: stencil.work_of(_KERNEL, points)},
        {_KERNEL: seconds + passing},
        14 * 4 * points // ranks,
        mean(shares),
        (1.0,) * ranks,
        payload,
    )


def weather(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Take the longer of memory and arithmetic, and two messages to the neighbours in each stage along x."""
    params = case.params
    columns, steps = int(params["nx"]), int(params["time-steps"])
    ranks, hosts = request.rank_count, request.host_count
    sharing = ranks if params["coupling"] == "sharing" else 1
    cells = air.cells(columns) * ranks // sharing
    shares = page_shares(topology, request, serial=False)
    peak = hosts * 2 * lanes_per_s(topology, law, request, "fp64", law.vector_bits)
    traffic = hosts * memory_rate(topology, law, request.cpus, shares)
    update = air.benchmark.work_of("rate")
    seconds = {
        "tendencies": cells
        * steps
        * max(update["traffic_bytes"] / traffic, update["flops"] / (_PEAK_SHARE * peak)),
    }
    exchange = air.benchmark.growth.exchange(params, request.placement)
    passing, payload = exchanged(topology, law, request, exchange)
    seconds["halo"] = steps * passing
    seconds["other"] = _OTHER * seconds["tendencies"]
    return Workload(
        params,
        *phased({**update, "steps": 1 / cells}, seconds),
        air.CELL_BYTES * cells // ranks,
        mean(shares),
        (1.0,) * ranks,
        steps * payload,
        figure=float(cells * steps),
    )


programs = {"himeno": himeno, "himeno_mpi": himeno_mpi, "weather": weather}
