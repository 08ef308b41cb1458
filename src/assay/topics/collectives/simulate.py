"""Simulated collective operations: among all ranks, alone and during computing."""

import math

from assay.model.declaration import ParamValue
from assay.model.machine import Topology
from assay.simulation.law import Law
from assay.simulation.links import first_link, one_way
from assay.simulation.rates import PAGE_BYTES, Workload, mean, page_shares
from assay.simulation.request import CaseRequest, Request


def collective(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Take as many steps as the binary logarithm of the ranks, each with the message."""
    params = case.params
    seconds = _alone_s(topology, law, request, params)
    return _workload(topology, request, params, {"slowest": seconds, "own": seconds})


def overlap(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Compute as long as the operation takes; the law gives the hidden share with and without calls of MPI."""
    params = case.params
    pure = _alone_s(topology, law, request, params)
    hidden = law.overlapped[int(params["tests"]) > 0]
    return _workload(
        topology, request, params, {"pure": pure, "computing": pure, "overlapped": (2 - hidden) * pure}
    )


def _steps(request: Request) -> int:
    return math.ceil(math.log2(max(2, request.expected)))


def _alone_s(topology: Topology, law: Law, request: Request, params: dict[str, ParamValue]) -> float:
    link = first_link(topology, law, request)
    return _steps(request) * one_way(link, int(params["bytes"]), link.rate)


def _workload(
    topology: Topology, request: Request, params: dict[str, ParamValue], seconds: dict[str, float]
) -> Workload:
    return Workload(
        params,
        {kernel: {} for kernel in seconds},
        seconds,
        PAGE_BYTES,
        mean(page_shares(topology, request, serial=False)),
        (1.0,) * request.expected,
        float(_steps(request) * int(params["bytes"])),
    )


programs = {"collective": collective, "overlap": overlap}
