"""What the LINPACK benchmarks of one core have in common: their orders, their work, their rate."""

from collections.abc import Iterable

from assay.model.benchmark import Axis, Metric, Operations, Params, Resources
from assay.model.placement import Placement

_DOUBLE_BYTES = 8
#: Share of a core's peak that loops of a compiler reach: an assumption for plans only.
_SHARE = 0.04
#: Order -> the leading dimensions that the benchmark names.
_LEADING = {100: (200, 201), 1000: (1001,)}
#: The order at which the benchmark allows no library, and what a library is here.
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
    """The benchmark's orders with their leading dimensions; of another order the next odd number.

    A library is for the larger one alone.
    """
    given = params.get("n")
    orders = [order for order in _LEADING if order != _SMALL or params.get("method") != _LIBRARY]
    for order in orders if given is None else (int(given),):
        for leading in _LEADING.get(order, (order + 1 + order % 2,)):
            yield {"n": order, "leading": leading}


def memory_bytes(params: Params) -> int:
    """The matrix as given and as worked on, and two vectors."""
    return 2 * _DOUBLE_BYTES * int(params["n"]) * (int(params["leading"]) + 1)


def operations(order: int) -> float:
    """What LINPACK counts for a system of this order, flop."""
    return (2 * order / 3 + 2) * order**2


def _of_a_core(params: Params, _placement: Placement) -> float:
    return operations(int(params["n"]))


#: The system is solved twice before: once to choose how long samples are, once to check.
OPERATIONS = Operations(_SHARE, lambda params, placement: 2 * _of_a_core(params, placement), iteration=_of_a_core)
#: The system is written.
SETUP_S = 0.02
