"""Simulated collective operations: among all ranks, alone and during computing."""

import math

from assay.simulation.links import first_link, one_way
from assay.simulation.rates import Setting, Workload


def collective(setting: Setting) -> Workload:
    """Take as many steps as the binary logarithm of the ranks, each with the message."""
    seconds = _alone_s(setting)
    return _workload(setting, {"slowest": seconds, "own": seconds})


def overlap(setting: Setting) -> Workload:
    """Compute as long as the operation takes; the law gives the hidden share with and without calls of MPI."""
    pure = _alone_s(setting)
    hidden = setting.law.overlapped[int(setting.params["tests"]) > 0]
    return _workload(setting, {"pure": pure, "computing": pure, "overlapped": (2 - hidden) * pure})


def _steps(setting: Setting) -> int:
    return math.ceil(math.log2(max(2, setting.request.expected)))


def _alone_s(setting: Setting) -> float:
    link = first_link(setting)
    return _steps(setting) * one_way(link, int(setting.params["bytes"]), link.rate)


def _workload(setting: Setting, seconds: dict[str, float]) -> Workload:
    payload = float(_steps(setting) * int(setting.params["bytes"]))
    return Workload({kernel: {} for kernel in seconds}, seconds, payload=payload)


programs = {"collective": collective, "overlap": overlap}
