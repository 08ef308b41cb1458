"""`numactl -H`: memory nodes with their cpus, sizes, free memory and distances."""

import re
from collections.abc import Iterator

import msgspec

from assay.importing.text import Column, Text, figure, lines
from assay.model.imported import Figure, Table

_AVAILABLE = re.compile(r"\s*available:\s*(\d{1,6}) nodes?\b.*")
_AMOUNT = re.compile(r"\s*node (\d{1,6}) (size|free):\s*(\S+)\s*(\S*)\s*")
_DISTANCES = re.compile(r"\s*node distances:\s*")
_COLUMNS = re.compile(r"\s*node((?:\s+\d{1,6})+)\s*")
_ROW = re.compile(r"\s*(\d{1,6}):((?:\s+\S+)*)\s*")


def read(text: Text, _test: str = "") -> Iterator[Table]:
    """Every output of `numactl -H` in a text: sizes, free memory, and the firmware's distances.

    Raises:
        UsageError: a value that cannot be read, or a row of distances that is missing or too short.
    """
    begun = [number for number, line in enumerate(text.lines, 1) if _AVAILABLE.fullmatch(line)]
    for first, end in zip(begun, [*begun[1:], len(text.lines) + 1], strict=False):
        yield _table(text, first, end)


def _table(text: Text, first: int, end: int) -> Table:
    figures: list[Figure] = []
    columns: list[str] = []
    missing: list[str] = []
    last = first
    for number, line in enumerate(text.lines[first : end - 1], first + 1):
        if amount := _AMOUNT.fullmatch(line):
            if amount[4] != "MB":
                text.refuse(number, f"'{amount[4][:20]}' is not MB, which numactl prints")
            kernel = Column("node", amount[2], "MB")
            figures.append(figure(text, number, kernel, amount[3], {"node": int(amount[1])}))
            last = number
        elif named := _COLUMNS.fullmatch(line):
            columns, missing = named[1].split(), named[1].split()
        elif missing and (row := _ROW.fullmatch(line)):
            figures += _distances(text, number, row, columns)
            missing = [node for node in missing if node != row[1]]
            last = number
    if missing:
        text.refuse(last, f"no distances of node {missing[0]} follow")
    if not figures:
        text.refuse(first, "neither sizes nor distances follow")
    return Table(
        source=text.name, where=lines(first, last), tool="numactl", benchmark="numactl", figures=tuple(figures)
    )


def _distances(text: Text, line: int, row: re.Match[str], columns: list[str]) -> Iterator[Figure]:
    words = row[2].split()
    if len(words) != len(columns) or row[1] not in columns:
        text.refuse(line, f"{len(words)} distances of node {row[1]}, where nodes {', '.join(columns)} are named")
    for to, word in zip(columns, words, strict=True):
        params: dict[str, int | float | str] = {"node": int(row[1]), "to": int(to)}
        distance = figure(text, line, Column("node", "distance", ""), word, params)
        yield msgspec.structs.replace(distance, better="lower")
