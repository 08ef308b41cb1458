"""A simulated product of matrices by a library, and systems of equations solved with it."""

import math
from collections.abc import Sequence

import numpy as np

from assay.catalogue import benchmarks
from assay.model.benchmark import works_together
from assay.simulation.links import link_between, one_way, share
from assay.simulation.rates import Setting, Workload, bytes_of, phased
from assay.simulation.request import Request
from assay.topics.linear_algebra.benchmarks.hpl import operations
from assay.topics.linear_algebra.grid import grid_of
from assay.topics.linear_algebra.simulated_system import Channel, Ranks, solve

_NUMBER_BYTES = 8
#: Rate of panels, and of the substitution, over that of a product: memory limits it.
_PANEL_SHARE = 0.2
#: Size of the message by which links are compared, B.
_LARGE = 1_000_000


def _product_rate(setting: Setting, precision: str = "fp64") -> float:
    """Return `blas_share` of the peak of fused multiply-adds of the cores of a host."""
    return setting.law.blas_share * 2 * setting.lanes_per_s(precision)


def dgemm(setting: Setting) -> Workload:
    """Multiply at the rate of products."""
    order, precision = int(setting.params["n"]), str(setting.params["format"])
    sets = len(setting.request.cpus) if setting.params["product"] == "own" else 1
    flops = sets * benchmarks.get("dgemm").amount("multiply", "flops", {"n": order})
    moved = float(sets * 3 * order**2 * bytes_of(precision))
    seconds = flops / _product_rate(setting, precision)
    return Workload({"multiply": {"flops": flops, "bytes": moved}}, {"multiply": seconds})


def hpl(setting: Setting) -> Workload:
    """Simulate LU step by step: a rank's products reach `blas_share` of its peak, and its host may be slow."""
    params, sharing = setting.params, setting.sharing
    n = int(params["n"])
    solution = solve(n, int(params["nb"]), _grid(setting), look_ahead=params["look-ahead"] == "one")
    return Workload(
        {"rate": {"solution": 1.0, "flops": operations(n)}, **{phase: {} for phase in solution.phases}},
        {"rate": solution.seconds, **solution.phases},
        payload=_NUMBER_BYTES * n**2 / 2 * (sharing > 1),
        figure=setting.request.rank_count // sharing * operations(n),
        steps=solution.steps,
        of_hosts=True,
    )


def _grid(setting: Setting) -> Ranks:
    """Return the ranks that solve one system, placed row by row; of independent ranks the slowest."""
    request, law, params = setting.request, setting.law, setting.params
    places = [host for host, _ in request.every] if request.ranks else [0]
    speeds = np.array([law.slow_hosts.get(request.hosts[place], 1.0) for place in places])
    of_rank = len(set(places)) * _product_rate(setting) / len(places)
    rates = of_rank * speeds * (law.crowded if len(set(places)) > 1 else 1.0)
    rates = rates if works_together(params) else rates.min(keepdims=True)
    p, q = grid_of(rates.size, int(params["p"]), int(params["q"]))
    rows = [(rank, rank + 1) for rank in range(p * q) if (rank + 1) % q]
    columns = [(rank, rank + q) for rank in range((p - 1) * q)]
    along_row, along_column = (_slowest_channel(setting, *each) for each in ((rows, p), (columns, q)))
    between = _between_hosts(request, rows)
    if params["broadcast"] == "shared" and not between:
        along_row = along_row._replace(rate=math.inf)  # ranks read panels where they are
    busy = (1 - law.overlapped[1]) / len(request.ranks[0]) if between else 0.0
    return Ranks(rates.reshape(p, q), _PANEL_SHARE, along_row, along_column, busy, law.jitter)


def _slowest_channel(setting: Setting, pairs: Sequence[tuple[int, int]], at_once: int) -> Channel:
    """Return the slowest link of these pairs of ranks, of which `at_once` pass messages at the same time."""
    if not pairs:
        return Channel()
    links = [link_between(setting, *pair) for pair in pairs]
    worst = max(links, key=lambda link: one_way(link, _LARGE, link.rate))
    hosts = len(setting.request.hosts) if _between_hosts(setting.request, pairs) else 0
    return Channel(worst.latency_s, share(setting.law, worst, at_once, hosts))


def _between_hosts(request: Request, pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether some of these pairs are on two hosts."""
    return any(request.host_of(one) != request.host_of(other) for one, other in pairs)


def linpack(setting: Setting) -> Workload:
    """Solve with loops at a tenth of the core's peak, or with a library at half the rate of its product."""
    by_library = setting.params.get("method") == "lapack"
    rate = _product_rate(setting) / 2 if by_library else 0.1 * 2 * setting.lanes_per_s()
    flops = benchmarks.get("linpack").amount("solve", "flops", {"n": int(setting.params["n"])})
    return Workload({"solve": {"flops": flops}}, {"solve": flops / rate}, serial=True)


def mxp(setting: Setting) -> Workload:
    """Factor at the rate of products; conversion, a first solution and three refinements read the matrix."""
    n, block = float(setting.params["n"]), float(setting.params["nb"])
    rate, of_update = _product_rate(setting, "fp32"), _product_rate(setting, str(setting.params["format"]))
    matrix_s = (bytes_of("fp64") + bytes_of("fp32")) * n**2 / setting.memory_rate(setting.page_shares(serial=True))
    seconds = {
        "conversion": matrix_s,
        "diagonal": 2 * block**2 * n / 3 / (_PANEL_SHARE * rate),
        "triangles": block * n**2 / rate,
        "update": 2 * n**3 / 3 / of_update,
        "refinement": 4 * matrix_s,
    }
    counted = operations(int(n))
    work, seconds_of = phased({"solution": 1.0, "flops": counted}, seconds)
    return Workload(work, seconds_of, serial=True, figure=counted, steps={"refinement": (matrix_s,) * 3})


programs = {"dgemm": dgemm, "hpl": hpl, "mxp": mxp, "linpack": linpack, "linpack_fortran": linpack}
