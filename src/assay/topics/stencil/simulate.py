"""A simulated stencil, on one node and over ranks."""

import math

from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.links import first_link, one_way
from assay.simulation.rates import Workload, lanes_per_s, mean, memory_rate, page_shares, phased
from assay.simulation.request import CaseRequest, Request
from assay.topics.stencil.benchmarks import weather as air
from assay.topics.stencil.benchmarks.himeno import GRIDS
from assay.topics.stencil.benchmarks.himeno import benchmark as stencil
from assay.topics.stencil.shape import block_of, shape_of

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
    sharing = params["coupling"] == "sharing"
    grids = 1 if sharing else ranks
    points = _points(size) * grids
    shares = page_shares(topology, request, serial=False)
    seconds = _traffic_s(law, points, hosts * memory_rate(topology, law, request.cpus, shares))
    face, faces = 0, 0
    shape = shape_of(GRIDS[size], ranks) if sharing and ranks > 1 else None
    if shape:
        i, j, k = block_of(GRIDS[size], shape)
        areas = (j * k, i * k, i * j)
        crossed = [area * min(along - 1, 2) for area, along in zip(areas, shape, strict=True) if along > 1]
        face, faces = 4 * max(crossed), len(crossed)
        link = first_link(topology, law, request)
        steps_of_sum = math.ceil(math.log2(ranks))
        # Each axis in turn, then the sum over all ranks.
        seconds += faces * one_way(link, face, link.rate) + steps_of_sum * one_way(link, 8, link.rate)
    return Workload(
        params,
        {_KERNEL: stencil.work_of(_KERNEL, points)},
        {_KERNEL: seconds},
        14 * 4 * points // ranks,
        mean(shares),
        (1.0,) * ranks,
        float(ranks * faces * face),
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
        "halo": 0.0,
    }
    payload = 0.0
    if sharing > 1:
        link, message = first_link(topology, law, request), air.ROW_BYTES * (columns // 2)
        seconds["halo"] = steps * air.EXCHANGES * one_way(link, 2 * message, link.rate)
        payload = 2.0 * message * air.EXCHANGES * steps * ranks
    seconds["other"] = _OTHER * seconds["tendencies"]
    return Workload(
        params,
        *phased({**update, "steps": 1 / cells}, seconds),
        air.CELL_BYTES * cells // ranks,
        mean(shares),
        (1.0,) * ranks,
        payload,
        figure=float(cells * steps),
    )


programs = {"himeno": himeno, "himeno_mpi": himeno_mpi, "weather": weather}
