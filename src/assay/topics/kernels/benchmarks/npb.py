"""The NAS Parallel Benchmarks as built by the site: foreign programs, started by Assay's starter."""

from collections.abc import Mapping

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import ONE_RANK, Benchmark, ForeignProgram
from assay.model.declaration import Params
from assay.model.placement import Placement
from assay.topics.kernels.sizes import CLASSES, PROBLEMS, demand

#: Points a side and iterations of the codes that Assay has no program for.
_GRIDS: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "bt": {"S": (12, 60), "W": (24, 200), "A": (64, 200), "B": (102, 200), "C": (162, 200), "D": (408, 250)},
    "lu": {"S": (12, 50), "W": (33, 300), "A": (64, 250), "B": (102, 250), "C": (162, 250), "D": (408, 300)},
    "sp": {"S": (12, 100), "W": (36, 400), "A": (64, 400), "B": (102, 400), "C": (162, 400), "D": (408, 500)},
}
#: Operations of an iteration as NPB counts them: factors of n^3, n^2, n and 1.
_COUNTED = {
    "bt": (3478.8, -17655.7, 28023.7, 0.0),
    "lu": (1984.77, -10923.3, 27770.9, -144010.0),
    "sp": (881.174, -4683.91, 11484.5, -19272.4),
}
_PROGRAMS = tuple(sorted({*_GRIDS, *PROBLEMS}))
#: Rate of one core, op/s, and memory of a grid point, B. Assumptions for plans only.
_RATE, _POINT_BYTES = 5e8, 200
_INSTALL = "build NPB (make lu CLASS=A), and put its folder bin on PATH"


def operations(problem: str, size: str) -> float:
    """Return the operations that NPB counts for a solution; KeyError for unknown problems."""
    if problem not in _GRIDS:
        return demand(problem, size).operations
    points, iterations = _GRIDS[problem][size]
    cubic, square, linear, constant = _COUNTED[problem]
    return iterations * (cubic * points**3 + square * points**2 + linear * points + constant)


def _program(params: Params) -> str:
    return f"{params['npb']}.{params['npb-class']}.x"


def _memory_bytes(params: Params, _placement: Placement) -> int:
    problem, size = str(params["npb"]), str(params["npb-class"])
    if problem not in _GRIDS:
        return demand(problem, size).rank_bytes(1)
    points, _ = _GRIDS[problem][size]
    return int(_POINT_BYTES * points**3)


def _setup_seconds(params: Params) -> float:
    return 0.1 + operations(str(params["npb"]), str(params["npb-class"])) / _RATE


benchmark = Benchmark(
    **declared("npb"),
    memory_bytes=_memory_bytes,
    setup_seconds=_setup_seconds,
    foreign=ForeignProgram(
        name="lu.A.x (or another one of NPB)",
        names=tuple(f"{problem}.{size}.x" for problem in _PROGRAMS for size in CLASSES),
        install=_INSTALL,
        command=lambda params, _placement, _prefix: (*ONE_RANK, _program(params)),
        tool="npb",
    ),
)
