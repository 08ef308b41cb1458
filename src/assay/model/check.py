"""Checks before a run: a setting or a state of the machine, and what it means for measurements."""

from typing import Literal

import msgspec

from assay.model.facts import Fact

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


class Checks(msgspec.Struct, frozen=True):
    """All checks of a machine."""

    schema: int
    host: str
    fit: bool
    checks: tuple[Check, ...]
