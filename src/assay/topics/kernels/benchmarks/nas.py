"""The kernels of the NAS Parallel Benchmarks: all ranks solve each together, and verify it."""

from collections.abc import Iterable

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark, Exchange, Growth, Resources, Values, sharing_ranks, works_together
from assay.model.declaration import Params
from assay.model.machine import allowed_cores
from assay.model.placement import Placement
from assay.topics.kernels.sizes import CLASSES, demand, has_work, passed

#: Rate of one rank, op/s, usual on a core of 2024. Assumptions for plans only.
_RATES = {"ep": 2e8, "is": 1.5e8, "cg": 1.5e9, "mg": 4e9, "ft": 3e9}
#: Least time of a solution on all cores of a host, and longest time on one core, s, by these rates: six launches
#: of five kernels must fit the budget.
_LEAST_S, _LONGEST_S = 1.0, 20.0
#: Share of the memory of a host that problems may fill.
_SHARE = 0.8
#: Time of the start values, in solutions.
_SETUP = 0.3
#: Ranks that a plan assumes where it does not know them.
_USUAL_RANKS = 2


def _seconds(problem: str, size: str, ranks: int) -> float:
    return demand(problem, size).operations / (_RATES[problem] * ranks)


def _points(resources: Resources, params: Params) -> Iterable[Params]:
    """Choose the same class for one core of a host and for all cores, so that their ratio is a speed-up.

    It is the smallest class that occupies all cores long enough, else the largest that one core solves in time. It
    fits memory and gives work to all ranks of the placement.
    """
    problem, cores = str(params["npb"]), len(allowed_cores(resources.topology))
    ranks, room = sharing_ranks(params, resources.placement), _SHARE * resources.memory_bytes
    fitting = [
        size
        for size in CLASSES
        for need in [demand(problem, size)]
        if has_work(problem, size, ranks)
        and has_work(problem, size, cores)
        and cores * need.memory_bytes(cores) <= room
    ]
    in_time = [size for size in fitting if _seconds(problem, size, 1) <= _LONGEST_S]
    lasting = [size for size in in_time if _seconds(problem, size, cores) >= _LEAST_S]
    yield {"npb-class": (lasting or in_time[-1:] or fitting or CLASSES)[0]}


def _memory_bytes(params: Params, placement: Placement) -> int:
    return demand(str(params["npb"]), str(params["npb-class"])).memory_bytes(sharing_ranks(params, placement))


def _setup_seconds(params: Params) -> float:
    """Return the seconds of the start values and of a first solution, which is checked."""
    ranks = _USUAL_RANKS if works_together(params) else 1
    return 0.1 + (1 + _SETUP) * _seconds(str(params["npb"]), str(params["npb-class"]), ranks)


def _exchange(params: Values, placement: Placement) -> Exchange | None:
    """Return operations and messages of a solution."""
    problem, size, ranks = str(params["npb"]), str(params["npb-class"]), sharing_ranks(params, placement)
    messages = passed(problem, size, ranks) if ranks > 1 else ()
    return None if messages is None else Exchange(demand(problem, size).operations, messages)


benchmark = Benchmark(
    **declared("nas"),
    memory_bytes=_memory_bytes,
    points=_points,
    setup_seconds=_setup_seconds,
    growth=Growth(_exchange),
)
