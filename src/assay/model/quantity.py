"""A number with its ends: the only form of such a number in results, records and JSON."""

from collections.abc import Iterator
from typing import Literal

import msgspec

#: What the ends are: a 95 % interval; the smallest and the largest of a few values, without confidence; none,
#: because there is a single value; none, because the source printed none; ends that follow from other quantities.
Basis = Literal["interval", "range", "single", "imported", "derived"]


#: Nominal confidence of an interval.
CONFIDENCE = 0.95


class Quantity(msgspec.Struct, frozen=True):
    """A value with its ends.

    Attributes:
        value: in `unit`.
        lo: lower end; equal to the value if there are no ends.
        hi: upper end; equal to the value if there are no ends.
        unit: SI base unit, e.g. `B/s`, `s`, `flop/s`; empty for a ratio or a count.
        basis: what the ends are.
    """

    value: float
    lo: float
    hi: float
    unit: str = ""
    basis: Basis = "single"

    def __iter__(self) -> Iterator[float]:
        """Value, lower end and upper end: `value, lo, hi = quantity`."""
        return iter(self.parts)

    @property
    def parts(self) -> tuple[float, float, float]:
        """Value, lower end and upper end."""
        return self.value, self.lo, self.hi

    @property
    def has_ends(self) -> bool:
        """Whether it has ends: an interval, a range, or derived ones."""
        return self.basis in {"interval", "range", "derived"}

    @property
    def confidence(self) -> float | None:
        """Nominal confidence of the ends; None unless they are an interval."""
        return CONFIDENCE if self.has_interval else None

    @property
    def has_interval(self) -> bool:
        """Whether the ends are a 95 % interval."""
        return self.basis == "interval"

    @property
    def is_wide(self) -> bool:
        """Whether the distance of its ends exceeds the value: then it shows noise, not a quantity."""
        return self.hi - self.lo > abs(self.value)

    def scaled(self, factor: float, unit: str) -> "Quantity":
        """The quantity times a positive factor, in another unit."""
        return Quantity(self.value * factor, self.lo * factor, self.hi * factor, unit, self.basis)

    def over(self, base: float, unit: str = "") -> "Quantity":
        """The quantity divided by a positive number."""
        return Quantity(self.value / base, self.lo / base, self.hi / base, unit, self.basis)

    def times(self, other: "Quantity", unit: str) -> "Quantity":
        """The product of two positive quantities; its ends are the products of the ends."""
        basis: Basis = "derived" if self.has_ends or other.has_ends else "single"
        return Quantity(self.value * other.value, self.lo * other.lo, self.hi * other.hi, unit, basis)

    def inverse(self, unit: str) -> "Quantity":
        """One over the quantity; its ends change places. ZeroDivisionError if an end is 0."""
        return Quantity(1 / self.value, 1 / self.hi, 1 / self.lo, unit, self.basis)


def distance(one: Quantity, other: Quantity) -> float:
    """Relative distance between the ends of two positive quantities: 0 if they overlap."""
    return one.lo / other.hi - 1 if one.lo > other.hi else min(0.0, one.hi / other.lo - 1)


def exact(value: float, unit: str = "") -> Quantity:
    """A quantity without ends."""
    return Quantity(value, value, value, unit)
