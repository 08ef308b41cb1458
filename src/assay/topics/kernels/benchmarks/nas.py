"""The kernels of the NAS Parallel Benchmarks: each solved whole by all ranks, and verified."""

from collections.abc import Iterable

from assay.model.benchmark import Axis, Benchmark, Metric, Params, Resources
from assay.model.declarations import phase_times, traffic
from assay.model.placement import Placement
from assay.topics.kernels.sizes import CLASSES, PROBLEMS, demand

#: Rate of one rank, op/s: what is usual on a core of 2024. Assumptions for plans only.
_RATES = {"ep": 3e8, "is": 1.5e8, "cg": 1.5e9, "mg": 4e9, "ft": 3e9}
#: The largest class counts whose solution takes no longer by these rates, s ...
_LONGEST_S = 2.5
#: ... and fills no more of a host's memory.
_SHARE = 0.8
#: What start values take against a solution.
_SETUP = 0.3
#: Ranks that a plan assumes where it does not know them.
_USUAL_RANKS = 2

#: What a solution consists of.
PHASES = {
    "computation": "what the ranks compute",
    "messages": "messages between them, waiting included",
}


def _seconds(problem: str, size: str, ranks: int) -> float:
    return demand(problem, size).operations / (_RATES[problem] * ranks)


def _points(resources: Resources, params: Params) -> Iterable[Params]:
    """The largest class that fits memory, gives all ranks work and is solved in seconds; else the smallest."""
    problem, placement = str(params["npb"]), resources.placement
    ranks = len(placement.rank_cpus)
    room = _SHARE * resources.memory_bytes / placement.most_ranks
    fitting = [
        size
        for size in CLASSES
        if demand(problem, size).rank_bytes(ranks) <= room
        and demand(problem, size).has_work(ranks)
        and _seconds(problem, size, ranks) <= _LONGEST_S
    ]
    yield {"npb-class": (fitting or CLASSES[:1])[-1]}


def _memory_bytes(params: Params, placement: Placement) -> int:
    return demand(str(params["npb"]), str(params["npb-class"])).rank_bytes(len(placement.rank_cpus))


def _setup_seconds(params: Params) -> float:
    """Start values are made and a solution is solved and checked before others count."""
    return 0.1 + (1 + _SETUP) * _seconds(str(params["npb"]), str(params["npb-class"]), _USUAL_RANKS)


benchmark = Benchmark(
    name="nas",
    title="NAS kernels",
    measures="the rate at which all MPI ranks of a placement solve a kernel of the NAS Parallel Benchmarks",
    source="D. Bailey et al., The NAS Parallel Benchmarks, RNR-94-007, NASA Ames, 1994; W and C: NPB 2, D: NPB 3",
    program="nas",
    kernels=("rate", *PHASES),
    axes=(
        Axis(
            "npb",
            "which kernel: ep: random deviates; is: ranks of whole numbers; cg: conjugate gradients with a sparse "
            "matrix; mg: multigrid; ft: Fourier transforms in three dimensions",
            PROBLEMS,
            "ep",
            named=True,
        ),
        Axis("npb-class", "size of the problem, as NPB names it", CLASSES, None, named=True, identifies=True),
    ),
    metrics=(
        Metric(
            "rate",
            "op/s",
            "higher",
            "operations",
            "operations over the time of a solution, both as NPB counts them for its Mop/s",
            limit="roofline",
            kernels=("rate",),
            role="solution-rate",
        ),
        Metric(
            "arithmetic",
            "flop/s",
            "higher",
            "flops",
            "99.4 floating-point operations for each pair of random numbers, as RNR-94-007 counts for class A",
            limit="fma-peak",
            kernels=("rate",),
            when={"npb": ("ep",)},
            role="solution-flop-rate",
        ),
        traffic(
            "what memory has to move where caches keep no array, as docs/methods/nas.md counts it",
            kernels=("rate",),
            when={"npb": ("cg", "mg", "ft")},
        ),
        *phase_times(PHASES),
    ),
    memory_bytes=_memory_bytes,
    points=_points,
    setup_seconds=_setup_seconds,
    launcher="mpi",
)
