"""Facts of a site that nodes cannot report: the table `[given]` of the configuration."""

from collections.abc import Iterator, Mapping

import msgspec

from assay.model.errors import UsageError
from assay.model.facts import Fact
from assay.model.machine import Machine

#: Section of these facts.
GIVEN = "given"
_SOURCE = "[given] of the configuration"


def facts(table: Mapping[str, object]) -> dict[str, Fact]:
    """Name -> fact; entries of a nested table are named `price.node`.

    Raises:
        UsageError: a value is not a text, a number, or a boolean.
    """
    return dict(_facts(table, ""))


def with_given(machine: Machine, given: Mapping[str, Fact]) -> Machine:
    """The machine with these facts; they replace those of the same names."""
    known = machine.facts.get(GIVEN, {}) | dict(given)
    return msgspec.structs.replace(machine, facts=machine.facts | {GIVEN: known}) if known else machine


def _facts(table: Mapping[str, object], above: str) -> Iterator[tuple[str, Fact]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _facts(value, f"{above}{name}.")
        elif isinstance(value, str | int | float) and value != "":
            yield f"{above}{name}", Fact(value, source=_SOURCE)
        else:
            raise UsageError(
                f"'given.{above}{name}' in the configuration is not a fact",
                why="a fact is a text, a number, true or false",
                remedy=f'[given]   {above}{name} = "fat tree, 2 levels"',
            )
