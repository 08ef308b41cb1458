"""How the problem of a benchmark follows the number of cores, and what its ranks pass each other meanwhile."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from assay.model.placement import Placement

Value = int | float | str
Values = Mapping[str, Value]


class Message(NamedTuple):
    """Messages that pass one after the other: how many, and bytes of each."""

    number: float
    bytes: float


class Exchange(NamedTuple):
    """What a rank passes its neighbours while all ranks do some work.

    Attributes:
        work: in the unit of the headline's rate times s.
        messages: of the rank that passes most.
    """

    work: float
    messages: tuple[Message, ...]


def _no_larger(_problem: Values, _times: float) -> Values | None:
    return None


def _no_exchange(_params: Values, _placement: Placement) -> Exchange | None:
    return None


class Growth(msgspec.Struct, frozen=True):
    """What a study of scaling asks of a benchmark.

    Attributes:
        problem: axis -> values that it takes where a user chooses none.
        larger: axes of a problem with so many times the memory, from the values that were chosen and the factor;
            None where there is none. The values themselves, where each rank has a part of a fixed size.
        exchange: of a case that is predicted; None where nobody counted it.
    """

    problem: Mapping[str, Value | tuple[Value, ...]] = msgspec.field(default_factory=dict)
    larger: Callable[[Values, float], Values | None] = _no_larger
    exchange: Callable[[Values, Placement], Exchange | None] = _no_exchange

    @property
    def grows(self) -> bool:
        """Whether there are larger problems at all."""
        return self.larger is not _no_larger

    @property
    def counts_messages(self) -> bool:
        """Whether it is known what ranks exchange."""
        return self.exchange is not _no_exchange
