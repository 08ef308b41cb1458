"""Orders, work and rate of the LINPACK benchmarks of one core."""

from collections.abc import Iterable

from assay.model.benchmark import Operations, Resources
from assay.model.declaration import Declaration, Params
from assay.model.placement import Placement

_DOUBLE_BYTES = 8
#: Share of a core's peak that compiled loops reach: an assumption for plans only.
_SHARE = 0.04
#: Order -> leading dimensions that the benchmark prescribes.
_LEADING = {100: (200, 201), 1000: (1001,)}
#: The order at which the benchmark allows no library, and the method that uses one.
_SMALL, _LIBRARY = 100, "lapack"


def points(_resources: Resources, params: Params) -> Iterable[Params]:
    """Yield the benchmark's orders with their leading dimensions; for another order the next odd number.

    The method of the library has the larger order only.
    """
    given = params.get("n")
    orders = [order for order in _LEADING if order != _SMALL or params.get("method") != _LIBRARY]
    for order in orders if given is None else (int(given),):
        for leading in _LEADING.get(order, (order + 1 + order % 2,)):
            yield {"n": order, "leading": leading}


def memory_bytes(params: Params) -> int:
    """Return the bytes of the matrix, of its copy that is factored, and of two vectors."""
    return 2 * _DOUBLE_BYTES * int(params["n"]) * (int(params["leading"]) + 1)


def operations(benchmark: Declaration) -> Operations:
    """Return the operations of a core, by the count of a declaration.

    The system is solved twice before the samples: once to choose their length, once to check the solution.
    """

    def solved(params: Params, _placement: Placement) -> float:
        return benchmark.amount("solve", "flops", {"n": int(params["n"])})

    return Operations(_SHARE, lambda params, placement: 2 * solved(params, placement), iteration=solved)


#: Time to write the system.
SETUP_S = 0.02
