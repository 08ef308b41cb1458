"""The problems of the NAS kernels in each class: operations as NPB counts them, memory, ranks with work."""

import math
from collections.abc import Callable, Iterator, Mapping

import msgspec

from assay.model.benchmark import Message
from assay.topics.kernels.grid import grid_of

#: In ascending size.
CLASSES = ("S", "W", "A", "B", "C", "D")

#: EP: pairs of random numbers, as a power of two.
_PAIRS = {"S": 24, "W": 25, "A": 28, "B": 30, "C": 32, "D": 36}
#: IS: keys, and values that they may have, as powers of two.
_KEYS = {"S": (16, 11), "W": (20, 16), "A": (23, 19), "B": (25, 21), "C": (27, 23), "D": (31, 27)}
_RANKINGS = 10
#: CG: order of the matrix, random elements of each of its vectors, iterations.
_MATRICES = {
    "S": (1400, 7, 15),
    "W": (7000, 8, 15),
    "A": (14000, 11, 15),
    "B": (75000, 13, 75),
    "C": (150000, 15, 75),
    "D": (1500000, 21, 100),
}
_STEPS = 25
#: MG: points a side, iterations.
_CUBES = {"S": (32, 4), "W": (128, 4), "A": (256, 4), "B": (256, 20), "C": (512, 20), "D": (1024, 50)}
#: FT: points along x, y and z, iterations.
_BOXES = {
    "S": (64, 64, 64, 6),
    "W": (128, 128, 32, 6),
    "A": (256, 256, 128, 6),
    "B": (512, 256, 256, 20),
    "C": (512, 512, 512, 20),
    "D": (2048, 1024, 1024, 25),
}

#: RNR-94-007 counts 26.68 10^9 floating-point operations for the 2^28 pairs of EP's class A.
_FLOPS_OF_NUMBER = 26.68e9 / 2**29
_NUMBER_BYTES, _KEY_BYTES, _COMPLEX_BYTES = 8, 4, 16
#: An element of a sparse matrix and its column.
_ELEMENT_BYTES = 12
#: Points of a box along an edge are a multiple of this.
_LEAST_GRAIN = 2


class Demand(msgspec.Struct, frozen=True):
    """Needs of one solution of a problem.

    Attributes:
        operations: as NPB counts them for its Mop/s.
        flops: floating-point operations; 0 where they are not counted.
        traffic_bytes: memory traffic where caches keep no array; 0 where it is not counted.
        message_bytes: bytes that all ranks pass, approximately.
        most_ranks: with more ranks some have no work.
        side: points per edge of a cube that is divided into boxes; 0 for no cube.
        shared_bytes: memory that the ranks divide.
        own_bytes: further memory of each rank.
    """

    operations: float
    flops: float
    traffic_bytes: float
    message_bytes: float
    most_ranks: int
    shared_bytes: float
    own_bytes: float = 2.0**16
    side: int = 0

    def has_work(self, ranks: int) -> bool:
        """Whether each rank has a part: of a cube two points along the direction with most ranks."""
        return ranks <= self.most_ranks and (not self.side or _LEAST_GRAIN * grid_of(ranks)[-1] <= self.side)

    def rank_bytes(self, ranks: int) -> int:
        """Return the memory of each rank."""
        return int(self.shared_bytes / ranks + self.own_bytes)


def _deviates(size: str) -> Demand:
    numbers = 2.0 * 2 ** _PAIRS[size]
    return Demand(numbers, _FLOPS_OF_NUMBER * numbers, 0.0, 0.0, 2 ** _PAIRS[size], 0.0)


def _sorting(size: str) -> Demand:
    log_keys, log_values = _KEYS[size]
    keys, values = 2.0**log_keys, 2.0**log_values
    passed = _RANKINGS * keys * _KEY_BYTES
    # Keys; with several ranks also those sorted by receiver and those received, with a quarter to spare.
    return Demand(
        _RANKINGS * keys, 0.0, 0.0, passed, 2 ** (log_values - 4), 3.25 * keys * _KEY_BYTES, values * _KEY_BYTES
    )


def _gradients(size: str) -> Demand:
    order, nonzeros, iterations = _MATRICES[size]
    filled, products = nonzeros * (nonzeros + 1), iterations * (_STEPS + 1)
    operations = 2.0 * iterations * order * (3 + filled + _STEPS * (5 + filled) + 3)
    traffic = float(_ELEMENT_BYTES) * products * order * filled
    elements = 1.05 * order * (nonzeros + 1) ** 2
    vectors = 2.0 * _NUMBER_BYTES * order * (nonzeros + 1)
    passed = float(_NUMBER_BYTES) * order * products
    shared = elements * _ELEMENT_BYTES + 4 * _NUMBER_BYTES * order
    return Demand(operations, operations, traffic, passed, order, shared, vectors + _NUMBER_BYTES * order)


def _multigrid(size: str) -> Demand:
    side, iterations = _CUBES[size]
    points = float(side**3)
    operations = 58 * iterations * points
    traffic = (112 + 88 / 7) * iterations * points
    # Layers of points at two borders a rank, about ten times for each point of the finest grid.
    passed = 20.0 * _NUMBER_BYTES * iterations * side**2
    shared = _NUMBER_BYTES * (1 + 2 * 8 / 7) * 1.1 * points
    return Demand(operations, operations, traffic, passed, side**3, shared, side=side)


def _transforms(size: str) -> Demand:
    *sides, iterations = _BOXES[size]
    points = float(math.prod(sides))
    log_points = math.log(points)
    operations = points * (14.8157 + 7.19641 * log_points + (5.23518 + 7.21113 * log_points) * iterations)
    passed = _COMPLEX_BYTES * points * (iterations + 1)
    return Demand(
        operations, operations, 80 * iterations * points, passed, min(sides[1:]), 3 * _COMPLEX_BYTES * points
    )


def _passed_vectors(size: str, ranks: int) -> Iterator[Message]:
    """Pass the parts of all other ranks before each product; two sums for each step, and three more."""
    order, _, iterations = _MATRICES[size]
    yield Message(iterations * (_STEPS + 1) * (ranks - 1), _NUMBER_BYTES * order / ranks)
    yield Message(iterations * (2 * _STEPS + 3) * math.ceil(math.log2(ranks)), _NUMBER_BYTES)


def _passed_borders(size: str, ranks: int) -> Iterator[Message]:
    """Pass a layer to both neighbours along each divided axis, three times on each grid with two points per box.

    A layer includes the border points of its neighbours.
    """
    side, iterations = _CUBES[size]
    grid = grid_of(ranks)
    while side >= _LEAST_GRAIN * grid[-1]:
        for along in grid:
            if along > 1:
                layer = math.prod(side / each + 2 for each in grid) / (side / along + 2)
                yield Message(6 * iterations, _NUMBER_BYTES * layer)
        side //= 2


_PASSED: Mapping[str, Callable[[str, int], Iterator[Message]]] = {
    "ep": lambda _size, _ranks: iter(()),  # ten counts and two sums
    "cg": _passed_vectors,
    "mg": _passed_borders,
}


def passed(problem: str, size: str, ranks: int) -> tuple[Message, ...] | None:
    """Return the messages of one of several ranks in a solution; None where one rank solves it differently."""
    return tuple(_PASSED[problem](size, ranks)) if problem in _PASSED else None


_PROBLEMS: Mapping[str, Callable[[str], Demand]] = {
    "ep": _deviates,
    "is": _sorting,
    "cg": _gradients,
    "mg": _multigrid,
    "ft": _transforms,
}
PROBLEMS = tuple(_PROBLEMS)


def demand(problem: str, size: str) -> Demand:
    """Return the needs of a problem in a class; KeyError for unknown ones."""
    return _PROBLEMS[problem](size)
