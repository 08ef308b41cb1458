"""`numactl -H`: memory nodes with their cpus, sizes, free memory and distances."""

import re
from collections.abc import Iterator

import msgspec

from assay.importing.command import CommandLine
from assay.importing.lines import Format, Lines
from assay.importing.text import Column, Text, figure, lines
from assay.model.imported import Figure, Table

_AVAILABLE = re.compile(r"\s*available:\s*(\d{1,6}) nodes?\b.*")
_AMOUNT = re.compile(r"\s*node (\d{1,6}) (size|free):\s*(\S+)\s*(\S*)\s*")
_COLUMNS = re.compile(r"\s*node((?:\s+\d{1,6})+)\s*")
_ROW = re.compile(r"\s*(\d{1,6}):((?:\s+\S+)*)\s*")


class _Node(msgspec.Struct):
    """A partly read output: nodes with distances, and nodes whose row of distances is missing."""

    first: int
    last: int
    figures: list[Figure] = []
    columns: list[str] = []
    missing: list[str] = []


def _read(source: Lines) -> Iterator[Table]:
    """A table for every output of `numactl -H`: sizes, free memory, and the firmware's distances.

    Raises:
        UsageError: a value cannot be read, or a row of distances is missing or too short.
    """
    text = source.text
    begun: _Node | None = None
    for number, line in source:
        if _AVAILABLE.fullmatch(line) or (begun is None and _COLUMNS.fullmatch(line)):
            if begun:
                yield _table(text, begun)
            begun = _Node(number, number)
        if begun:
            _take(text, number, line, begun)
    if begun:
        yield _table(text, begun)


def _take(text: Text, number: int, line: str, begun: _Node) -> None:
    if amount := _AMOUNT.fullmatch(line):
        if amount[4] != "MB":
            text.refuse(number, f"'{amount[4][:20]}' is not MB, which numactl prints")
        kernel = Column("node", amount[2], "MB")
        begun.figures.append(figure(text, number, kernel, amount[3], {"node": int(amount[1])}))
        begun.last = number
    elif named := _COLUMNS.fullmatch(line):
        begun.columns, begun.missing = named[1].split(), named[1].split()
    elif begun.missing and (row := _ROW.fullmatch(line)):
        begun.figures += _distances(text, number, row, begun.columns)
        begun.missing = [node for node in begun.missing if node != row[1]]
        begun.last = number


def _table(text: Text, begun: _Node) -> Table:
    if begun.missing:
        text.refuse(begun.last, f"no distances of node {begun.missing[0]} follow")
    if not begun.figures:
        text.refuse(begun.first, "neither sizes nor distances follow")
    where = lines(begun.first, begun.last)
    return text.table(CommandLine(), "numactl", "numactl", begun.figures, where=where)


def _distances(text: Text, line: int, row: re.Match[str], columns: list[str]) -> Iterator[Figure]:
    words = row[2].split()
    if len(words) != len(columns) or row[1] not in columns:
        text.refuse(line, f"{len(words)} distances of node {row[1]}, where nodes {', '.join(columns)} are named")
    for to, word in zip(columns, words, strict=True):
        params: dict[str, int | float | str] = {"node": int(row[1]), "to": int(to)}
        distance = figure(text, line, Column("node", "distance", ""), word, params)
        yield msgspec.structs.replace(distance, better="lower")


#: For large machines, people paste only the distances.
_MARKS = re.compile(rf"{_AVAILABLE.pattern}|^{_COLUMNS.pattern}$")

FORMAT = Format("numactl", _MARKS, _read, re.compile(r"numactl"))
