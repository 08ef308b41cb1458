"""A simulated product of matrices by a library, and systems of equations solved with it."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from assay.catalogue import benchmarks
from assay.model.declaration import ParamValue
from assay.model.declarations import works_together
from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.links import link_between, one_way, share
from assay.simulation.rates import Workload, bytes_of, lanes_per_s, mean, memory_rate, page_shares, phased
from assay.simulation.request import CaseRequest, Request
from assay.topics.linear_algebra.benchmarks.hpl import operations
from assay.topics.linear_algebra.grid import grid_of
from assay.topics.linear_algebra.simulated_system import Channel, Ranks, solve

_NUMBER_BYTES = 8
#: Rate of panels, and of the substitution, over that of a product: memory limits it.
_PANEL_SHARE = 0.2
#: Size of the message by which links are compared, B.
_LARGE = 1_000_000


def dgemm(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Multiply at `blas_share` of the peak of fused multiply-adds of the cores."""
    params = case.params
    order, sets = float(params["n"]), len(request.cpus) if params["product"] == "own" else 1
    precision = str(params["format"])
    rate = law.blas_share * 2 * lanes_per_s(topology, law, request, precision, law.vector_bits)
    flops = sets * benchmarks.get("dgemm").amount("multiply", "flops", {"n": int(params["n"])})
    size = int(sets * 3 * order**2 * bytes_of(precision))
    work = {"flops": flops, "bytes": float(size)}
    shares = page_shares(topology, request, serial=False)
    return Workload(params, {"multiply": work}, {"multiply": flops / rate}, size, mean(shares))


def hpl(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Simulate LU step by step: a rank's products reach `blas_share` of its peak, and its host may be slow."""
    params = case.params
    n, ranks = int(params["n"]), max(1, request.expected)
    grid = _grid(topology, law, request, params)
    sharing = grid.rates.size
    solution = solve(n, int(params["nb"]), grid, look_ahead=params["look-ahead"] == "one")
    return Workload(
        params,
        {"rate": {"solution": 1.0, "flops": operations(n)}, **{phase: {} for phase in solution.phases}},
        {"rate": solution.seconds, **solution.phases},
        int(_NUMBER_BYTES * n**2 / sharing),
        mean(page_shares(topology, request, serial=False)),
        (1.0,) * ranks,
        _NUMBER_BYTES * n**2 / 2 * (sharing > 1),
        figure=ranks // sharing * operations(n),
        steps=solution.steps,
        of_hosts=True,
    )


def _grid(topology: Topology, law: Law, request: Request, params: Mapping[str, ParamValue]) -> Ranks:
    """Return the ranks that solve one system, placed row by row; of independent ranks the slowest."""
    places = [host for host, _ in request.every] if request.ranks else [0]
    of_host = law.blas_share * 2 * lanes_per_s(topology, law, request, "fp64", law.vector_bits)
    speeds = np.array([law.slow_hosts.get(request.hosts[place], 1.0) for place in places])
    rates = len(set(places)) * of_host / len(places) * speeds * (law.crowded if len(set(places)) > 1 else 1.0)
    rates = rates if works_together(params) else rates.min(keepdims=True)
    p, q = grid_of(rates.size, int(params["p"]), int(params["q"]))
    rows = [(rank, rank + 1) for rank in range(p * q) if (rank + 1) % q]
    columns = [(rank, rank + q) for rank in range((p - 1) * q)]
    along_row, along_column = (
        _slowest_channel(topology, law, request, pairs, at_once) for pairs, at_once in ((rows, p), (columns, q))
    )
    between = _between_hosts(request, rows)
    if params["broadcast"] == "shared" and not between:
        along_row = along_row._replace(rate=math.inf)  # ranks read panels where they are
    busy = (1 - law.overlapped[1]) / len(request.ranks[0]) if between else 0.0
    return Ranks(rates.reshape(p, q), _PANEL_SHARE, along_row, along_column, busy, law.jitter)


def _slowest_channel(
    topology: Topology, law: Law, request: Request, pairs: Sequence[tuple[int, int]], at_once: int
) -> Channel:
    """Return the slowest link of these pairs of ranks, of which `at_once` pass messages at the same time."""
    if not pairs:
        return Channel()
    links = [link_between(topology, law, request, *pair) for pair in pairs]
    worst = max(links, key=lambda link: one_way(link, _LARGE, link.rate))
    hosts = len(request.hosts) if _between_hosts(request, pairs) else 0
    return Channel(worst.latency_s, share(law, worst, at_once, hosts))


def _between_hosts(request: Request, pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether some of these pairs are on two hosts."""
    return any(request.host_of(one) != request.host_of(other) for one, other in pairs)


def linpack(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Solve with loops at a tenth of the core's peak, or with a library at half the rate of its product."""
    params = case.params
    n, leading = float(params["n"]), int(params["leading"])
    share = law.blas_share / 2 if params.get("method") == "lapack" else 0.1
    rate = share * 2 * lanes_per_s(topology, law, request, "fp64", law.vector_bits)
    flops = benchmarks.get("linpack").amount("solve", "flops", {"n": int(params["n"])})
    size = int(2 * _NUMBER_BYTES * n * leading)
    shares = page_shares(topology, request, serial=True)
    return Workload(params, {"solve": {"flops": flops}}, {"solve": flops / rate}, size, mean(shares))


def mxp(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Factor at the rate of products; conversion, a first solution and three refinements read the matrix."""
    params = case.params
    n, block = float(params["n"]), float(params["nb"])
    shares = page_shares(topology, request, serial=True)
    rate, of_update = (
        law.blas_share * 2 * lanes_per_s(topology, law, request, precision, law.vector_bits)
        for precision in ("fp32", str(params["format"]))
    )
    memory = memory_rate(topology, law, request.cpus, shares)
    matrix = (bytes_of("fp64") + bytes_of("fp32")) * n**2
    seconds = {
        "conversion": matrix / memory,
        "diagonal": 2 * block**2 * n / 3 / (_PANEL_SHARE * rate),
        "triangles": block * n**2 / rate,
        "update": 2 * n**3 / 3 / of_update,
        "refinement": 4 * matrix / memory,
    }
    return Workload(
        params,
        *phased({"solution": 1.0, "flops": operations(int(params["n"]))}, seconds),
        int(matrix),
        mean(shares),
        figure=operations(int(params["n"])),
        steps={"refinement": (matrix / memory,) * 3},
    )


programs = {"dgemm": dgemm, "hpl": hpl, "mxp": mxp, "linpack": linpack, "linpack_fortran": linpack}
