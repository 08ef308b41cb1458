"""How the problem of a benchmark grows with the number of cores, and which messages its ranks exchange."""

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


def _no_larger(_problem: Values, _times: float) -> Values | None:
    return None


def _no_exchange(_params: Values, _placement: Placement) -> Exchange | None:
    return None


class Growth(msgspec.Struct, frozen=True):
    """What a study of scaling needs to know of a benchmark.

    Attributes:
        problem: axis -> values that it uses if a user chooses none.
        larger: axes of a problem with `factor` times the memory, from the chosen values and the factor; None if
            there is none. The values themselves if each rank has a part of a fixed size.
        exchange: messages of a case that is predicted; None if they are not counted.
        overlaps: the operation that its ranks leave to MPI while they compute; empty if there is none.
    """

    problem: Mapping[str, Value | tuple[Value, ...]] = msgspec.field(default_factory=dict)
    larger: Callable[[Values, float], Values | None] = _no_larger
    exchange: Callable[[Values, Placement], Exchange | None] = _no_exchange
    overlaps: str = ""

    @property
    def grows(self) -> bool:
        """Whether there are larger problems."""
        return self.larger is not _no_larger

    @property
    def counts_messages(self) -> bool:
        """Whether the messages of the ranks are known."""
        return self.exchange is not _no_exchange
