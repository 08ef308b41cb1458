"""The problems of the NAS kernels in each class: their amounts by the declaration, ranks with work, messages."""

import math
from collections.abc import Callable, Iterator, Mapping

import msgspec

from assay.catalogue.declaration_files import declaration
from assay.model.benchmark import Message
from assay.model.declaration import Numbers
from assay.topics.kernels.grid import grid_of

#: All problems with their amounts, also those that Assay has no program for.
_DECLARED = declaration("npb")
PROBLEMS = tuple(declaration("nas").parts)
#: In ascending size.
CLASSES = next(tuple(map(str, axis.numbers)) for axis in _DECLARED.axes if axis.numbers)
#: Steps of CG in an iteration.
_STEPS = 25
_NUMBER_BYTES = 8
#: Points of a box along an edge are a multiple of this.
_LEAST_GRAIN = 2


class Demand(msgspec.Struct, frozen=True, rename="kebab"):
    """Needs of one solution of a problem.

    Attributes:
        operations: as NPB counts them for its Mop/s.
        flops_per_operation: floating-point operations of one of these; 0 where they are not counted.
        traffic_bytes: memory traffic where caches keep no array; 0 where it is not counted.
        message_bytes: bytes that all ranks pass, approximately.
        most_ranks: with more ranks some have no work; infinite where it is not known.
        shared_bytes: memory that the ranks divide.
        rank_bytes: further memory of each rank.
    """

    operations: float
    flops_per_operation: float = 0.0
    traffic_bytes: float = 0.0
    message_bytes: float = 0.0
    most_ranks: float = math.inf
    shared_bytes: float = 0.0
    rank_bytes: float = 0.0

    def memory_bytes(self, ranks: int) -> int:
        """Return the memory of each rank."""
        return int(self.shared_bytes / ranks + self.rank_bytes)


def _numbers(size: str) -> Numbers:
    found = _DECLARED.numbers({"npb-class": size})
    return found | {"log-points": math.log(found["x"] * found["y"] * found["z"])}


def demand(problem: str, size: str) -> Demand:
    """Return the needs of a problem in a class; KeyError for unknown ones."""
    numbers = _numbers(size)
    amounts = {each: _DECLARED.amount(problem, each, numbers) for each in _DECLARED.parts[problem]}
    return msgspec.convert(amounts, Demand)


def has_work(problem: str, size: str, ranks: int) -> bool:
    """Whether each rank has a part: of the cube of MG two points along the direction with most ranks."""
    cubic = problem != "mg" or _LEAST_GRAIN * grid_of(ranks)[-1] <= _numbers(size)["side"]
    return cubic and ranks <= demand(problem, size).most_ranks


def _passed_vectors(of: Numbers, ranks: int) -> Iterator[Message]:
    """Pass the parts of all other ranks before each product; two sums for each step, and three more."""
    iterations = of["cg-iterations"]
    yield Message(iterations * (_STEPS + 1) * (ranks - 1), _NUMBER_BYTES * of["order"] / ranks)
    yield Message(iterations * (2 * _STEPS + 3) * math.ceil(math.log2(ranks)), _NUMBER_BYTES)


def _passed_borders(of: Numbers, ranks: int) -> Iterator[Message]:
    """Pass a layer to both neighbours along each divided axis, three times on each grid with two points per box.

    A layer includes the border points of its neighbours.
    """
    side, grid = of["side"], grid_of(ranks)
    while side >= _LEAST_GRAIN * grid[-1]:
        for along in grid:
            if along > 1:
                layer = math.prod(side / each + 2 for each in grid) / (side / along + 2)
                yield Message(6 * of["mg-iterations"], _NUMBER_BYTES * layer)
        side //= 2


_PASSED: Mapping[str, Callable[[Numbers, int], Iterator[Message]]] = {
    "ep": lambda _of, _ranks: iter(()),  # ten counts and two sums
    "cg": _passed_vectors,
    "mg": _passed_borders,
}


def passed(problem: str, size: str, ranks: int) -> tuple[Message, ...] | None:
    """Return the messages of one of several ranks in a solution; None where one rank solves it differently."""
    return tuple(_PASSED[problem](_numbers(size), ranks)) if problem in _PASSED else None
