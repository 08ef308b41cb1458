"""Simulated collective operations: among all ranks, alone and during computing."""

import math

from assay.simulation.links import first_link, one_way
from assay.simulation.rates import Setting, Workload


def collective(on: Setting) -> Workload:
    """Take as many steps as the binary logarithm of the ranks, each with the message."""
    seconds = _alone_s(on)
    return _workload(on, {"slowest": seconds, "own": seconds})


def overlap(on: Setting) -> Workload:
    """Compute as long as the operation takes; the law gives the hidden share with and without calls of MPI."""
    pure = _alone_s(on)
    hidden = on.law.overlapped[int(on.params["tests"]) > 0]
    return _workload(on, {"pure": pure, "computing": pure, "overlapped": (2 - hidden) * pure})


def _steps(on: Setting) -> int:
    return math.ceil(math.log2(max(2, on.request.expected)))


def _alone_s(on: Setting) -> float:
    link = first_link(on)
    return _steps(on) * one_way(link, int(on.params["bytes"]), link.rate)


def _workload(on: Setting, seconds: dict[str, float]) -> Workload:
    payload = float(_steps(on) * int(on.params["bytes"]))
    return Workload({kernel: {} for kernel in seconds}, seconds, payload=payload)


programs = {"collective": collective, "overlap": overlap}
