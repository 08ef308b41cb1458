"""What one path of messages is good for and what limits it, as figures: reports put it into words."""

from typing import Literal

import msgspec

from assay.model.quantity import Basis, Quantity

#: What long messages stand at: the link (its wire, a shaper, the slot of its card, a rate given by the user),
#: memory, a plain copy by one core, the MPI (plain sockets get more of the same link), one pair of cores (more
#: pairs get more), the one machine that all nodes are; or why nobody knows: below every limit that is known, none
#: known, no long messages.
LimitedBy = Literal[
    "wire", "shaper", "slot", "given", "memory", "copy", "mpi", "one-pair", "one-machine",
    "undecided", "no-limit-known", "not-measured",
]  # fmt: skip


class ProfileFigure(msgspec.Struct, frozen=True):
    """A figure with what it rests on.

    Attributes:
        value: with its ends.
        launches: the fewest that it rests on.
        of: ids of estimates or models.
    """

    value: Quantity
    launches: int
    of: tuple[str, ...]

    @property
    def basis(self) -> Basis:
        """What the ends are."""
        return self.value.basis

    @property
    def confidence(self) -> float | None:
        """Nominal confidence of the ends; None unless they are an interval."""
        return self.value.confidence

    def over(self, base: float) -> "ProfileFigure":
        """The figure over a bare number of its unit."""
        return msgspec.structs.replace(self, value=self.value.over(base))

    def inverse(self, unit: str) -> "ProfileFigure":
        """One over the figure: of a time how often it fits into a second."""
        return msgspec.structs.replace(self, value=self.value.inverse(unit))


class Ceiling(msgspec.Struct, frozen=True):
    """What long messages in one direction stand against.

    Attributes:
        value: B/s of payload.
        of: where that comes from, in words.
        device: that has it; empty for memory.
        bits: rate of its wire in bit/s, headers and all; None where it is no wire.
    """

    value: float
    of: str
    device: str = ""
    bits: float | None = None


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One path that messages took between the same partners: over one network, by one MPI.

    Attributes:
        id: unique in its run.
        by: benchmark: `pt2pt` or `tcp`.
        label: placement word.
        hosts: of the partners.
        factors: factor -> level.
        state: of the machine; None where states explain nothing.
        asked: device that messages were to take; empty where none was named.
        carried: device whose counters show that it carried them; empty where none did.
        small_bytes: of the message that small ones are judged by.
        small: time of it, one way.
        alone: such messages a second where each waits for the one before it.
        streamed: such messages a second with `window` of them in flight.
        window: messages in flight before one waits.
        solid_bytes: from this size on every one that was measured gets half of the highest rate or more, by the
            lower ends; 0 where that is not so, or where the smallest one does.
        half: size in B from which on half of the highest rate is reached.
        jump: factor on the time at the largest step of the latency by size.
        jump_bytes: last size before that step, and first one after it.
        rate: of long messages in one direction.
        rate_bytes: their size.
        both: both directions at once over one, of long messages.
        pairs: how many pairs passed messages at once.
        pairs_rate: of all of them together, in one direction.
        pairs_fill: pairs that it takes to fill what a node can.
        over_tcp_small: speed of MPI over that of sockets between the same processes, smallest message.
        over_tcp: the same, long messages.
        over_copy: bandwidth of long messages inside a node over that of a copy by one core.
        ceiling: what `rate` stands against.
        share: `rate` over it.
        tcp_share: the same of sockets, where they were measured.
        limited_by: see LimitedBy.
        stalled: waits of about so many seconds were found, those of a timer of TCP; None without.
    """

    id: str
    by: str
    label: str
    hosts: tuple[str, ...]
    factors: dict[str, str]
    state: str | None
    asked: str
    carried: str
    limited_by: LimitedBy
    small_bytes: int = 0
    small: ProfileFigure | None = None
    alone: ProfileFigure | None = None
    streamed: ProfileFigure | None = None
    window: int = 1
    solid_bytes: int = 0
    half: ProfileFigure | None = None
    jump: ProfileFigure | None = None
    jump_bytes: tuple[int, int] = (0, 0)
    rate: ProfileFigure | None = None
    rate_bytes: int = 0
    both: ProfileFigure | None = None
    pairs: int = 0
    pairs_rate: ProfileFigure | None = None
    pairs_fill: ProfileFigure | None = None
    over_tcp_small: ProfileFigure | None = None
    over_tcp: ProfileFigure | None = None
    over_copy: ProfileFigure | None = None
    ceiling: Ceiling | None = None
    share: ProfileFigure | None = None
    tcp_share: ProfileFigure | None = None
    stalled: float | None = None

    @property
    def between(self) -> bool:
        """Whether messages went from node to node."""
        return len(self.hosts) > 1
