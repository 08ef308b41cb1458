"""Which messages the ranks of a benchmark exchange."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from assay.model.placement import Placement

Value = int | float | str
Values = Mapping[str, Value]


class Message(NamedTuple):
    """Messages sent one after the other: their number, and bytes of each."""

    number: float
    bytes: float


class Exchange(NamedTuple):
    """Messages of a rank to its neighbours while all ranks do some work.

    Attributes:
        work: amount of work, in the unit of the headline rate times s.
        messages: messages of the rank that sends most.
    """

    work: float
    messages: tuple[Message, ...]


def _no_exchange(_params: Values, _placement: Placement) -> Exchange | None:
    return None


class Growth(msgspec.Struct, frozen=True):
    """What predictions of scaling need to know of the messages of a benchmark.

    Attributes:
        exchange: messages of a case that is predicted; None if they are not counted.
        overlaps: the operation that its ranks leave to MPI while they compute; empty if there is none.
    """

    exchange: Callable[[Values, Placement], Exchange | None] = _no_exchange
    overlaps: str = ""

    @property
    def counts_messages(self) -> bool:
        """Whether the messages of the ranks are known."""
        return self.exchange is not _no_exchange
