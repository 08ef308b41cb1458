"""What one way of messages is good for and what limits it, as figures: reports put it into words."""

from typing import Literal

import msgspec

#: What long messages stand at: the link (its wire, a shaper, the slot of its card, a rate given by the user),
#: memory, a plain copy by one core, the MPI (plain sockets get more of the same link), one pair of cores (more
#: pairs get more), the one machine that all nodes are; or why nobody knows: below every limit that is known, none
#: known, no long messages.
LimitedBy = Literal[
    "wire", "shaper", "slot", "given", "memory", "copy", "mpi", "one-pair", "one-machine",
    "undecided", "no-limit-known", "not-measured",
]  # fmt: skip


class Stated(msgspec.Struct, frozen=True):
    """A figure with what it rests on.

    Attributes:
        value: in `unit`.
        lo: lower end; None where there is neither interval nor range.
        hi: upper end.
        unit: SI; empty for a ratio.
        method: what the ends are, as of an `Estimate`.
        confidence: nominal, None for a range.
        launches: the fewest that it rests on.
        of: ids of estimates or models.
    """

    value: float
    lo: float | None
    hi: float | None
    unit: str
    method: str
    confidence: float | None
    launches: int
    of: tuple[str, ...]

    @property
    def least(self) -> float:
        """Its lower end; itself where there is none."""
        return self.value if self.lo is None else self.lo

    @property
    def most(self) -> float:
        """Its upper end; itself where there is none."""
        return self.value if self.hi is None else self.hi


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
    """One way that messages took between the same partners: over one network, by one MPI.

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
        streamed: such messages a second with `window` of them on the way.
        window: messages on the way before one waits.
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
    small: Stated | None = None
    alone: Stated | None = None
    streamed: Stated | None = None
    window: int = 1
    solid_bytes: int = 0
    half: Stated | None = None
    jump: Stated | None = None
    jump_bytes: tuple[int, int] = (0, 0)
    rate: Stated | None = None
    rate_bytes: int = 0
    both: Stated | None = None
    pairs: int = 0
    pairs_rate: Stated | None = None
    pairs_fill: Stated | None = None
    over_tcp_small: Stated | None = None
    over_tcp: Stated | None = None
    over_copy: Stated | None = None
    ceiling: Ceiling | None = None
    share: Stated | None = None
    tcp_share: Stated | None = None
    stalled: float | None = None

    @property
    def between(self) -> bool:
        """Whether messages went from node to node."""
        return len(self.hosts) > 1
