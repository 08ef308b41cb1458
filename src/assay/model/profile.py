"""Figures of one path of messages and its limit; reports turn them into text."""

from typing import Literal

import msgspec

from assay.model.quantity import Basis, Quantity

#: What limits long messages: the link (its wire, a shaper, the slot of its card, a rate given by the user),
#: memory, a copy by one core, the MPI (plain sockets reach more on the same link), one pair of cores (more pairs
#: reach more), all nodes being one machine; or why it is not known: below every known limit, no limit known, no
#: long messages.
LimitedBy = Literal[
    "wire", "shaper", "slot", "given", "memory", "copy", "mpi", "one-pair", "one-machine",
    "undecided", "no-limit-known", "not-measured",
]  # fmt: skip


class ProfileFigure(msgspec.Struct, frozen=True):
    """A figure with its evidence.

    Attributes:
        value: value with its ends.
        launches: smallest number of launches behind it.
        of: ids of its estimates or models.
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
        """The figure divided by a number in its unit."""
        return msgspec.structs.replace(self, value=self.value.over(base))

    def inverse(self, unit: str) -> "ProfileFigure":
        """One over the figure: for a time, how often it fits into a second."""
        return msgspec.structs.replace(self, value=self.value.inverse(unit))


class Ceiling(msgspec.Struct, frozen=True):
    """The limit of long messages in one direction.

    Attributes:
        value: B/s of payload.
        of: source of the limit, as text.
        device: device with the limit; empty for memory.
        bits: rate of its wire in bit/s, including headers; None if it is not a wire.
    """

    value: float
    of: str
    device: str = ""
    bits: float | None = None


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One path of messages between the same partners: over one network, by one MPI.

    Attributes:
        id: unique in its run.
        by: benchmark: `pt2pt` or `tcp`.
        label: placement word.
        hosts: hosts of the partners.
        factors: factor -> level.
        state: state of the machine; None if states explain nothing.
        asked: requested device; empty if none was named.
        carried: device whose counters show that it carried them; empty if none did.
        small_bytes: size of the message that represents small ones.
        small: its time, one way.
        alone: such messages per second, one after the other.
        streamed: such messages per second with `window` of them in flight.
        window: number of messages in flight.
        solid_bytes: from this size on, every measured size reaches half of the highest rate or more, by the lower
            ends; 0 if there is no such size, or if it is the smallest one.
        half: size in B from which half of the highest rate is reached.
        jump: time after the largest step of the latency over the time that smaller sizes lead to expect there.
        jump_bytes: size before that step, and size after it.
        jump_burst: whether messages before that step may be the burst of a traffic shaper, which ends there.
        rate: rate of long messages in one direction.
        rate_bytes: their size.
        single: highest rate of long messages of which each waits for the previous one, without bursts of a shaper.
        single_bytes: their size.
        single_share: `single` over the limit of the path.
        both: rate of both directions at once over that of one, long messages.
        pairs: number of pairs that exchanged messages at the same time.
        pairs_rate: rate of all of them together, in one direction.
        pairs_fill: number of pairs that reach the limit of a node.
        over_tcp_small: speed of MPI over that of sockets between the same processes, messages of `small_bytes`.
        over_tcp: the same, long messages.
        over_copy: bandwidth of long messages inside a node over that of a copy by one core.
        ceiling: limit of `rate`.
        share: `rate` over the ceiling.
        tcp_share: the same for sockets, if measured.
        limited_by: see LimitedBy.
        stalled: length in seconds of waits for a timer of TCP that were found; None if there were none.
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
    jump_burst: bool = False
    rate: ProfileFigure | None = None
    rate_bytes: int = 0
    single: ProfileFigure | None = None
    single_bytes: int = 0
    single_share: ProfileFigure | None = None
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
        """Whether the messages passed between nodes."""
        return len(self.hosts) > 1
