"""A fact about a machine: a value with its unit and source, or why it is not known."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

FactValue = bool | int | float | str | Sequence[str | int]


class Fact(msgspec.Struct, frozen=True, omit_defaults=True):
    """One fact. Exactly one of `value` and `unavailable` is set.

    Attributes:
        value: in SI base units (s, Hz, B, B/s) if it has a unit.
        unit: symbol of the unit, empty for names and counts.
        source: where it was read, e.g. `/proc/meminfo`, or what it was inferred from.
        unavailable: why the value is not known.
        guessed: whether the value is inferred, not read.
    """

    value: FactValue | None = None
    unit: str = ""
    source: str = ""
    unavailable: str = ""
    guessed: bool = False

    def __post_init__(self) -> None:
        """Refuse a fact with neither a value nor a reason, and one with both."""
        if (self.value is None) == (not self.unavailable):
            raise ValueError("a fact has either a value or a reason why it is unavailable")

    @property
    def known(self) -> bool:
        """Whether there is a value."""
        return self.value is not None

    @property
    def listed(self) -> Sequence[str | int]:
        """The values of a fact with several values; empty for others."""
        return () if self.value is None or isinstance(self.value, bool | int | float | str) else self.value

    @property
    def origin(self) -> str:
        """The source as text: `/proc/meminfo`, `guess: archspec`."""
        return f"guess: {self.source}" if self.guessed else self.source


def unavailable(reason: str) -> Fact:
    """A fact that could not be determined, and why."""
    return Fact(unavailable=reason)


CHECKS_SCHEMA = 1

State = Literal["ok", "warning", "problem", "unknown"]


class Check(msgspec.Struct, frozen=True):
    """One check.

    Attributes:
        name: what was looked at.
        state: `warning` can move or spoil figures; `problem` prevents measuring; `unknown` if the fact is unknown.
        found: what was found, in words.
        why: what it means for measurements.
        remedy: a command or thing to do; empty if there is nothing to change.
        read: the facts it uses.
    """

    name: str
    state: State
    found: str
    why: str
    remedy: str = ""
    read: tuple[Fact, ...] = ()


class Verdict(NamedTuple):
    """The result of a rule."""

    state: State
    found: str
    remedy: str = ""

    def check(self, name: str, why: str, read: tuple[Fact, ...] = ()) -> Check:
        """The check of what was judged.

        Args:
            name: what was looked at.
            why: what it means for measurements.
            read: the facts it uses.
        """
        return Check(name, self.state, self.found, why, self.remedy, read)


class Checks(msgspec.Struct, frozen=True):
    """All checks of a machine."""

    schema: int
    host: str
    fit: bool
    checks: tuple[Check, ...]
