"""A simulated product of matrices by a library, and a system of equations solved with it."""

import math

from assay.model.benchmark import ParamValue
from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.links import first_link
from assay.simulation.rates import Workload, bytes_of, lanes_per_s, mean, page_shares, params_of
from assay.simulation.request import CaseRequest, Request
from assay.topics.linear_algebra.grid import grid_of

_NUMBER_BYTES = 8
#: What a panel, and the substitution, reach of the rate of a product: memory decides.
_PANEL_SHARE = 0.2
_SYSTEM: dict[str, ParamValue] = {
    "n": 2000,
    "nb": 256,
    "p": 0,
    "q": 0,
    "broadcast": "modified-ring",
    "exchange": "binary",
    "look-ahead": "one",
    "panel-lu": "lapack",
}


def dgemm(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """A library that reaches `blas_share` of the peak of fused multiply-adds on its cores."""
    params = params_of(case, {"n": 1024, "format": "fp64"})
    order = float(params["n"])
    precision = str(params["format"])
    rate = law.blas_share * 2 * lanes_per_s(topology, law, request, precision, law.vector_bits)
    flops = 2 * order**3
    size = int(3 * order**2 * bytes_of(precision))
    work = {"flops": flops, "bytes": float(size)}
    shares = page_shares(topology, request, serial=False)
    return Workload(params, {"multiply": work}, {"multiply": flops / rate}, size, mean(shares))


def hpl(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """LU by the model of HPL's authors: products, panels by one column of the grid, and messages.

    T = 2 g n^3 / (3 P Q) + b n^2 (3 P + Q) / (2 P Q) + a n ((NB + 1) log2 P + P) / NB, with the time g of an
    operation on one rank, a of a message and b of a number in it; g is `blas_share` of the rank's peak.
    """
    params = params_of(case, _SYSTEM)
    n, block = float(params["n"]), float(params["nb"])
    ranks = max(1, request.expected)
    p, q = grid_of(ranks, int(params["p"]), int(params["q"]))
    hosts = len({request.host_of(rank) for rank in range(ranks)}) if request.ranks else 1
    rate = hosts * law.blas_share * 2 * lanes_per_s(topology, law, request, "fp64", law.vector_bits) / ranks
    latency, number = 0.0, 0.0
    if ranks > 1:
        link = first_link(topology, law, request)
        latency, number = link.latency_s, _NUMBER_BYTES / link.rate
    flops = 2 * n**3 / 3 + 1.5 * n**2
    seconds = {
        "update": 2 * n**3 / 3 / (ranks * rate),
        "panel": block * n**2 / 2 / p / (_PANEL_SHARE * rate),
        "swap": number * 3 * n**2 / (2 * q) + latency * n * math.log2(p),
        "broadcast": number * n**2 / (2 * p) * (q > 1) + latency * n * p / block * (q > 1),
        "substitution": n**2 / (_PANEL_SHARE * rate * ranks),
    }
    size = int(_NUMBER_BYTES * n**2 / ranks)
    return Workload(
        params,
        {"rate": {"solution": 1.0}, **{phase: {} for phase in seconds}},
        {"rate": sum(seconds.values()), **seconds},
        size,
        mean(page_shares(topology, request, serial=False)),
        (1.0,) * ranks,
        _NUMBER_BYTES * n**2 / 2,
        figure=flops,
    )


programs = {"dgemm": dgemm, "hpl": hpl}
