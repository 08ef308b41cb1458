"""Orders, work and rate of the LINPACK benchmarks of one core."""

from collections.abc import Iterable

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark, Operations, Resources
from assay.model.declaration import Params
from assay.model.placement import Placement

_DOUBLE_BYTES = 8
#: Share of a core's peak that compiled loops reach, and time to write the system: assumptions for plans only.
_SHARE, _SETUP_S = 0.04, 0.02
#: Order -> leading dimensions that the benchmark prescribes.
_LEADING = {100: (200, 201), 1000: (1001,)}
#: The order at which the benchmark allows no library, and the method that uses one.
_SMALL, _LIBRARY = 100, "lapack"


def _points(_resources: Resources, params: Params) -> Iterable[Params]:
    """Yield the benchmark's orders with their leading dimensions; for another order the next odd number.

    The method of the library has the larger order only.
    """
    given = params.get("n")
    orders = [order for order in _LEADING if order != _SMALL or params.get("method") != _LIBRARY]
    for order in orders if given is None else (int(given),):
        for leading in _LEADING.get(order, (order + 1 + order % 2,)):
            yield {"n": order, "leading": leading}


def benchmark(name: str) -> Benchmark:
    """Return the benchmark of this name: the language of the loops differs, not the systems.

    The memory is that of the matrix, of its copy that is factored, and of two vectors. The system is solved twice
    before the samples: once to choose their length, once to check the solution.
    """

    def solved(params: Params, _placement: Placement) -> float:
        return made.amount("solve", "flops", {"n": int(params["n"])})

    made = Benchmark(
        **declared(name),
        memory_bytes=lambda params, _placement: (
            2 * _DOUBLE_BYTES * int(params["n"]) * (int(params["leading"]) + 1)
        ),
        points=_points,
        setup_seconds=lambda _params: _SETUP_S,
        iteration_seconds=lambda _params: 0.0,
        operations=Operations(_SHARE, lambda params, placement: 2 * solved(params, placement), iteration=solved),
    )
    return made
