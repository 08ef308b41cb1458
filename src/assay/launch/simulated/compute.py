"""Simulated programs whose figure is a rate of floating-point operations, and the clock that decides it."""

from assay.launch.simulated.law import Law
from assay.launch.simulated.rates import PAGE_BYTES, Workload, mean, memory_rate, page_shares, params_of
from assay.launch.simulated.request import CaseRequest, Request
from assay.model.machine import Topology

_CYCLES = 1e6
_FLOPS = 1e9
_BITS = {"fp64": 64, "fp32": 32}
_POINTS = {"XS": 55_800, "S": 484_344, "M": 4_032_504, "L": 32_903_160, "XL": 265_822_200}
_HIMENO_FLOPS, _HIMENO_BYTES, _HIMENO_TRAFFIC = 34, 64, 72


def flops(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """Cores x clock x units x lanes x flops of an operation; a vector wider than the unit takes two turns."""
    params = params_of(case, {"format": "fp64", "width": "scalar", "mix": "fma"})
    clock = clock_of(topology, law, request)
    bits = 0 if params["width"] == "scalar" else int(params["width"])
    lanes = max(1.0, min(bits, law.vector_bits) / _BITS[str(params["format"])])
    each = 2 if params["mix"] == "fma" else 1
    rate = len(request.cpus) * clock * law.fma_units * lanes * each
    work = {"clock": {"cycles": _CYCLES}, "loaded-clock": {"cycles": _CYCLES}, "arithmetic": {"flops": _FLOPS}}
    seconds = {"clock": _CYCLES / law.clock_hz, "loaded-clock": _CYCLES / clock, "arithmetic": _FLOPS / rate}
    return Workload(params, work, seconds, PAGE_BYTES, mean(page_shares(topology, request, serial=True)))


def clock_of(topology: Topology, law: Law, request: Request) -> float:
    """The clock of few cores, or of all of them."""
    working = sum(1 for core in topology.cores if set(core.cpus) & set(request.cpus))
    return law.loaded_clock_hz if working > 1 and working == len(topology.cores) else law.clock_hz


def himeno(topology: Topology, law: Law, request: Request, case: CaseRequest) -> Workload:
    """A stencil that memory decides: `himeno_bytes` for each of its points."""
    params = params_of(case, {"size": "M", "touch": "parallel"})
    points = _POINTS[str(params["size"])]
    shares = page_shares(topology, request, serial=params["touch"] == "serial")
    work = {
        "flops": float(_HIMENO_FLOPS * points),
        "bytes": float(_HIMENO_BYTES * points),
        "traffic_bytes": float(_HIMENO_TRAFFIC * points),
    }
    seconds = law.himeno_bytes * points / memory_rate(topology, law, request.cpus, shares)
    return Workload(params, {"jacobi": work}, {"jacobi": seconds}, 14 * 4 * points, mean(shares))
