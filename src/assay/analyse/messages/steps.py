"""The law of a curve of messages, and its steps."""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import numpy as np

from assay.analyse.messages.curves import BYTES
from assay.analyse.statistics import Samples
from assay.model.law import Model
from assay.model.quantity import Quantity

LAW = "message-law"
#: The factor of a step, less 1, must exceed this, and so many times the scatter of its curve.
LEAST, SCATTERS = 0.05, 3


class Break(msgspec.Struct, frozen=True):
    """Where a piece ends and another begins.

    Attributes:
        size: in B; its ends are the last size before it and the first after.
        factor: on the time, at the break.
    """

    size: Quantity
    factor: Quantity


class Piece(msgspec.Struct, frozen=True):
    """Sizes of messages that take T(s) = a + b s.

    Attributes:
        start: a, in s.
        per_byte: b, in s/B.
        end: None of the last piece.
    """

    start: Quantity
    per_byte: Quantity
    end: Break | None


class MessageLaw(Model, frozen=True, kw_only=True, tag=LAW):
    """How long a message takes by its size. What lies beyond the sizes measured is None.

    Attributes:
        start: of the first piece, in s: latency of a message alone, gap between messages of a window.
        start_measured: time of the smallest message.
        rate: of endless messages, in B/s.
        half_rate_size: the smallest size that gets half of it, in B.
        half_rate_size_measured: the smallest size that gets half of the highest rate measured.
        saturation: size from which on time grows with size alone.
        scatter: how far times lie off the law, relative.
        pieces: by size. `piece` of the points counts them from 1.
    """

    start: Quantity
    start_measured: Quantity
    rate: Quantity | None
    half_rate_size: Quantity | None
    half_rate_size_measured: Quantity | None
    saturation: Quantity | None
    scatter: float
    pieces: tuple[Piece, ...]

    def seconds(self, sizes: Samples, end: int = 0) -> Samples:
        """How long messages of so many bytes take, of the same shape, as measured.

        Between sizes that were measured the time is interpolated; beyond the largest one each byte takes what the
        last piece says. The law itself lies off a network that lets the first bytes pass faster than the rest. Its
        ends are those of the law, relative.

        Args:
            sizes: in B.
            end: 0 for the value, 1 and 2 for its ends.
        """
        value, wanted = self._by_pieces(sizes, 0), self._by_pieces(sizes, end)
        if not self.points:
            return wanted
        known, times = np.array([(float(each.at[BYTES]), each.value.value) for each in self.points]).T
        beyond = np.maximum(sizes - known[-1], 0.0) * self.pieces[-1].per_byte.value
        relative = np.divide(wanted, value, out=np.ones_like(value), where=value > 0)
        result: Samples = (np.interp(sizes, known, times) + beyond) * relative
        return result

    def _by_pieces(self, sizes: Samples, end: int) -> Samples:
        breaks = [piece.end.size.value for piece in self.pieces if piece.end]
        at = np.searchsorted(breaks, sizes)
        start = np.array([piece.start.parts[end] for piece in self.pieces])
        per_byte = np.array([piece.per_byte.parts[end] for piece in self.pieces])
        result: Samples = start[at] + per_byte[at] * sizes
        return result


class Step(NamedTuple):
    """A break that is more than scatter: last size before it, first after, factor on the time, seconds it adds.

    The factor is over the time that the law of the smaller sizes has at the break, not that of the size before.
    """

    before: int
    after: int
    factor: Quantity
    seconds: float


def steps(model: MessageLaw) -> Iterator[Step]:
    """Yield the steps that are more than scatter."""
    least = 1 + max(LEAST, SCATTERS * model.scatter)
    for end in (piece.end for piece in model.pieces):
        if end and min(end.factor.value, end.factor.lo) > least:
            time = next(point.value.value for point in model.points if point.at[BYTES] == end.size.hi)
            yield Step(int(end.size.lo), int(end.size.hi), end.factor, time * (1 - 1 / end.factor.value))
