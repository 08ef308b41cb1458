"""Orders, work and rate of the LINPACK benchmarks of one core."""

from collections.abc import Iterable

from assay.model.benchmark import Operations, Resources
from assay.model.declaration import Axis, Metric, Params
from assay.model.placement import Placement

_DOUBLE_BYTES = 8
#: Share of a core's peak that compiled loops reach: an assumption for plans only.
_SHARE = 0.04
#: Order -> leading dimensions that the benchmark prescribes.
_LEADING = {100: (200, 201), 1000: (1001,)}
#: The order at which the benchmark allows no library, and the method that uses one.
_SMALL, _LIBRARY = 100, "lapack"

SOURCE = (
    "J. J. Dongarra, Performance of various computers using standard linear equations software, "
    "University of Tennessee CS-89-85"
)
AXES = (
    Axis("n", "order of the system of equations", (100, 1000), None, identifies=True),
    Axis("leading", "numbers from one column of the matrix to the next", (200, 201, 1001), None, identifies=True),
)
RATE = Metric(
    "rate",
    "flop/s",
    "higher",
    "flops",
    "2 n^3 / 3 + 2 n^2 operations over the time of factors and solution, as LINPACK counts",
    limit="fma-peak",
    role="system-rate",
)


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


def operations(order: int) -> float:
    """Return the operations that LINPACK counts for a system of this order."""
    return (2 * order / 3 + 2) * order**2


def _core_operations(params: Params, _placement: Placement) -> float:
    return operations(int(params["n"]))


#: The system is solved twice before the samples: once to choose their length, once to check the solution.
OPERATIONS = Operations(
    _SHARE, lambda params, placement: 2 * _core_operations(params, placement), iteration=_core_operations
)
#: Time to write the system.
SETUP_S = 0.02
