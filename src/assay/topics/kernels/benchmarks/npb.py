"""The NAS Parallel Benchmarks as built by the site: foreign programs, started by Assay's starter."""

from assay.catalogue.declaration_files import declaration, declared
from assay.model.benchmark import ONE_RANK, Benchmark, ForeignProgram
from assay.model.declaration import Params
from assay.topics.kernels.sizes import CLASSES, Demand, demand

_PROGRAMS = tuple(sorted(declaration("npb").parts))
#: Rate of one core, op/s: an assumption for plans only.
_RATE = 5e8
_INSTALL = "build NPB (make lu CLASS=A), and put its folder bin on PATH"


def _demand(params: Params) -> Demand:
    return demand(str(params["npb"]), str(params["npb-class"]))


benchmark = Benchmark(
    **declared("npb"),
    memory_bytes=lambda params, _placement: _demand(params).memory_bytes(1),
    setup_seconds=lambda params: 0.1 + _demand(params).operations / _RATE,
    foreign=ForeignProgram(
        name="lu.A.x (or another one of NPB)",
        names=tuple(f"{problem}.{size}.x" for problem in _PROGRAMS for size in CLASSES),
        install=_INSTALL,
        command=lambda params, _placement, _prefix: (*ONE_RANK, f"{params['npb']}.{params['npb-class']}.x"),
        tool="npb",
    ),
)
