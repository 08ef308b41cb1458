"""Requests that a plan does not measure as they stand: equal ones become one, impossible ones are left out."""

import msgspec

from assay.model.placement import Word, parsed


class Folded(msgspec.Struct, frozen=True):
    """A requested placement and memory that equals another one on this machine.

    Attributes:
        request: the request, as text: placement and memory.
        into: the equal one, as text.
        reason: why they are equal.
        labels: placement words of the two; empty in plans of earlier versions.
        family: see `LeftOut`.
    """

    request: str = msgspec.field(name="wish")
    into: str
    reason: str
    labels: tuple[str, str] = ("", "")
    family: tuple[str, ...] = msgspec.field(name="alike", default=())

    @property
    def places(self) -> tuple[Word, Word]:
        """The placements of the two, without their memory."""
        return parsed(self.labels[0]), parsed(self.labels[1])


class LeftOut(msgspec.Struct, frozen=True):
    """A request that cannot be measured on this machine.

    Attributes:
        request: the request, as text.
        reason: why it cannot be measured.
        nodes: whether more nodes would help.
        levels: levels of axes, factors and memory in question.
        family: equal for requests that differ only in an index, a number or a size; empty if it is unique.
        benchmark: benchmark whose problem is too large for the memory; empty for other reasons.
        instead: axis and value of the largest problem that fits, `n=49408`, if any.
        option: option of the command that would help, `--folder /tmp`, if any.
    """

    request: str = msgspec.field(name="wish")
    reason: str
    nodes: bool = False
    levels: tuple[str, ...] = ()
    family: tuple[str, ...] = msgspec.field(name="alike", default=())
    benchmark: str = ""
    instead: str = ""
    option: str = ""
