"""A simulated stencil, on one node and over ranks."""

import math

from assay.simulation.links import exchanged
from assay.simulation.rates import Setting, Shares, Workload, phased
from assay.topics.stencil.benchmarks import himeno as stencil
from assay.topics.stencil.benchmarks import himeno_mpi as stencil_of_ranks
from assay.topics.stencil.benchmarks import weather as air

#: Share of the peak of fused multiply-adds that tendencies reach, and share of their time for the rest.
_PEAK_SHARE, _OTHER = 0.4, 0.02
#: Share of the rate of memory that a sweep reaches.
_REACHED = 72 / 74
_KERNEL = "jacobi"


def himeno(setting: Setting) -> Workload:
    """Run a stencil that memory limits: its traffic is the declared one."""
    serial = setting.params["touch"] == "serial"
    shares = setting.page_shares(serial=serial)
    work, seconds = _sweep(setting, 1, shares)
    return Workload({_KERNEL: work}, {_KERNEL: seconds}, serial, threads=setting.thread_times(shares))


def himeno_mpi(setting: Setting) -> Workload:
    """Run the same on each host for its part, then exchange the faces of blocks between ranks."""
    work, seconds = _sweep(setting, setting.request.rank_count // setting.sharing, setting.page_shares())
    passing, payload = exchanged(setting, stencil_of_ranks.benchmark)
    return Workload({_KERNEL: work}, {_KERNEL: seconds + passing}, payload=payload)


def _sweep(setting: Setting, grids: int, shares: list[Shares]) -> tuple[dict[str, float], float]:
    """Return the work of a sweep over so many grids, and the seconds in which the memory of all hosts moves it."""
    inner = math.prod(points - 2 for points in stencil.GRIDS[str(setting.params["size"])])
    work = stencil.benchmark.work_of(_KERNEL, grids * inner)
    rate = (
        _REACHED * setting.law.kernels.get(_KERNEL, 1.0) * setting.request.host_count * setting.memory_rate(shares)
    )
    return work, work["traffic_bytes"] / rate


def weather(setting: Setting) -> Workload:
    """Take the longer of memory and arithmetic, and two messages to the neighbours in each stage along x."""
    steps, hosts = int(setting.params["time-steps"]), setting.request.host_count
    cells = air.cells(int(setting.params["nx"])) * setting.request.rank_count // setting.sharing
    peak, traffic = hosts * 2 * setting.lanes_per_s(), hosts * setting.memory_rate()
    update = air.benchmark.work_of("rate")
    update_s = max(update["traffic_bytes"] / traffic, update["flops"] / (_PEAK_SHARE * peak))
    passing, payload = exchanged(setting, air.benchmark)
    seconds = {"tendencies": cells * steps * update_s, "halo": steps * passing}
    seconds["other"] = _OTHER * seconds["tendencies"]
    work = {**update, "steps": 1 / cells}
    return Workload(*phased(work, seconds), payload=steps * payload, figure=float(cells * steps))


programs = {"himeno": himeno, "himeno_mpi": himeno_mpi, "weather": weather}
