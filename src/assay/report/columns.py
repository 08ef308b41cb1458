"""Rows under headings in a terminal: figures are never broken, texts only between words.

If a row is wider than the terminal, the cells that name it stand on a line above it, once for all rows that share
them; the second and further ones follow their headings. If the figures alone are wider, each row becomes a
paragraph.
"""

import itertools
import textwrap
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

#: Blanks before a row and between its cells.
GAP = 2
Rows = Sequence[tuple[Text, ...]]


def aligned(heads: Sequence[str], right: Sequence[bool], rows: Rows, room: int) -> list[Text] | None:
    """Return the lines of a table with every cell whole; None if it does not fit.

    Args:
        heads: headings of the columns, broken between words if cells are narrower.
        right: whether each column is right-aligned; the columns before the first of these name the rows.
        rows: a cell for each column.
        room: width of the terminal.
    """
    if any("\n" in cell.plain for row in rows for cell in row):
        return None
    naming = right.index(True) if True in right else 0
    for lifted in range(naming + 1):
        below = room - GAP * bool(lifted)
        widths = _widths(heads[lifted:], [row[lifted:] for row in rows], below)
        names = (_name(heads, row[:lifted]) for row in rows)
        if widths and all(name.cell_len + GAP <= room for name in names):
            return list(_lines(heads, right, rows, widths))
    return None


def paragraphs(heads: Sequence[str], right: Sequence[bool], rows: Rows, room: int) -> Iterator[tuple[int, Text]]:
    """Yield lines with their indents: the name of each row, then its other cells after their headings."""
    naming, above = max(1, right.index(True) if True in right else 0), Text()
    if heads[0]:
        yield GAP, Text(heads[0], "dim")
    for row in rows:
        if (name := _name(heads, row[:naming])) != above:
            yield GAP, name
        above = name
        line = Text()
        for head, cell in zip(heads[naming:], row[naming:], strict=True):
            part = Text(f"{head} ", "dim").append_text(cell) if cell else Text()
            if line and 2 * GAP + line.cell_len + GAP + part.cell_len > room:
                yield 2 * GAP, line
                line = Text()
            line.append(", " if line and part else "").append_text(part)
        if line:
            yield 2 * GAP, line


def _name(heads: Sequence[str], cells: Sequence[Text]) -> Text:
    """The cells that name a row: the first one below its heading, the others after theirs."""
    headed = (
        Text(f"{head} ", "dim").append_text(cell) for head, cell in zip(heads[1:], cells[1:], strict=False) if cell
    )
    return Text(", ").join((*filter(None, cells[:1]), *headed))


def _widths(heads: Sequence[str], rows: Rows, room: int) -> list[int]:
    """The width of each column: its widest cell or longest word of the heading, more if that saves lines.

    Empty if there is no room.
    """
    widths = [max(map(cell_len, head.split()), default=0) for head in heads]
    for row in rows:
        widths = [max(width, cell.cell_len) for width, cell in zip(widths, row, strict=True)]
    spare = room - sum(widths) - GAP * len(widths)
    if spare < 0:
        return []
    while (tallest := max(len(_wrapped(head, width)) for head, width in zip(heads, widths, strict=True))) > 1:
        for at, head in enumerate(heads):
            if len(_wrapped(head, widths[at])) == tallest:
                wider = next(w for w in itertools.count(widths[at] + 1) if len(_wrapped(head, w)) < tallest)
                spare -= wider - widths[at]
                if spare < 0:
                    return widths
                widths[at] = wider
    return widths


def _wrapped(head: str, width: int) -> list[str]:
    return textwrap.wrap(head, max(width, 1), break_long_words=False, break_on_hyphens=False)


def _lines(heads: Sequence[str], right: Sequence[bool], rows: Rows, widths: Sequence[int]) -> Iterator[Text]:
    """The lines of headings, aligned at the bottom, and of rows; cells without a width stand above their row."""
    lifted = len(heads) - len(widths)
    indent, sides = GAP * (1 + bool(lifted)), right[lifted:]
    wrapped = [_wrapped(head, width) for head, width in zip(heads[lifted:], widths, strict=True)]
    tall = max(map(len, wrapped), default=0)
    if lifted and heads[0]:
        yield Text(" " * GAP).append(heads[0], "dim")
    for at in range(tall):
        line = [Text(each[at - tall + len(each)] if at - tall + len(each) >= 0 else "", "dim") for each in wrapped]
        yield _line(line, sides, widths, indent)
    for name, group in itertools.groupby(rows, lambda row: _name(heads, row[:lifted])):
        if lifted:
            yield Text(" " * GAP).append_text(name)
        for row in group:
            yield _line(row[lifted:], sides, widths, indent)


def _line(cells: Sequence[Text], right: Sequence[bool], widths: Sequence[int], indent: int) -> Text:
    line = Text(" " * indent)
    for at, (cell, is_right, width) in enumerate(zip(cells, right, widths, strict=True)):
        blanks = " " * (width - cell.cell_len)
        line.append(" " * GAP * bool(at) + (blanks if is_right else "")).append_text(cell)
        line.append("" if is_right else blanks)
    line.rstrip()
    return line
