"""A simulated product of matrices by a library."""

from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.rates import Workload, bytes_of, lanes_per_s, mean, page_shares, params_of
from assay.simulation.request import CaseRequest, Request


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


programs = {"dgemm": dgemm}
