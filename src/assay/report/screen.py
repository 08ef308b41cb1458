"""A terminal as reports and comparisons print to it: paragraphs and tables, in ASCII where it knows no more."""

import textwrap
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from assay.report.section import Table

#: Blanks before a table, and between its columns.
_GAP = 2
_ASCII = str.maketrans("µ·−–×“”", 'u---x""') | str.maketrans(  # noqa: RUF001 (what they look like)
    {"≥": ">=", "…": "...", "∞": "inf", "½": "1/2"}
)


class Screen:
    """Where a page is printed.

    Attributes:
        console: that prints it.
        unicode: whether it knows more than ASCII.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.unicode = console.encoding.lower().replace("-", "").startswith("utf")

    def text(self, text: str) -> str:
        """The text, in ASCII where it must be."""
        return text if self.unicode else text.translate(_ASCII).encode("ascii", "replace").decode()

    def styled(self, part: str | Text) -> Text:
        """The same with its style."""
        if isinstance(part, Text):
            return Text(self.text(str(part)), style=part.style, no_wrap=part.no_wrap)
        return Text(self.text(part))

    def say(self, *parts: str | Text, indent: int = 0, mark: str | Text | None = None) -> None:
        """One paragraph, wrapped at words; what follows a mark hangs under it."""
        line = Text()
        for part in parts:
            line.append_text(self.styled(part))
        if mark is not None:
            grid = Grid.grid(padding=(0, 1, 0, 0))
            grid.add_column(width=1)
            grid.add_column(overflow="fold")
            grid.add_row(mark, line)
            self.indented(grid, indent)
        elif indent:
            self.indented(line, indent)
        else:
            self.console.print(line)

    def heading(self, title: str) -> None:
        """A title after an empty line."""
        self.say()
        self.say(Text(title, style="bold"))

    def indented(self, part: Grid | Text, by: int = _GAP) -> None:
        """A part so many blanks from the left."""
        self.console.print(Padding(part, (0, 0, 0, by), expand=False))

    def rows(self, columns: Iterable[tuple[str, str]], rows: Iterable[Sequence[str | Text]]) -> None:
        """Rows under the headings of their columns, each of which stands `left` or `right`."""
        rows, columns = list(rows), list(columns)
        if not self._as_they_are(columns, rows):
            self._fitted(columns, rows)

    def _as_they_are(self, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str | Text]]) -> bool:
        """Print rows that have room for a line each, and whether they have: fitting columns is far slower."""
        heads = tuple(Text(self.text(name), "dim") for name, _ in columns)
        lines = [heads, *(tuple(map(self.styled, row)) for row in rows)]
        widths = [max(cell.cell_len for cell in column) for column in zip(*lines, strict=True)]
        if sum(widths) + _GAP * len(widths) > self.console.width or any(
            "\n" in c.plain for line in lines for c in line
        ):
            return False
        page = Text()
        for line in lines:
            for cell, width, (_, side) in zip(line, widths, columns, strict=True):
                blanks = " " * (width - cell.cell_len)
                page.append(" " * _GAP + (blanks if side == "right" else "")).append_text(cell)
                page.append(blanks if side != "right" else "")
            page.append("\n")
        self.console.print(page, end="", soft_wrap=True)
        return True

    def _fitted(self, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str | Text]]) -> None:
        """Print rows whose cells have to be broken."""
        table = Grid(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), show_header=True, header_style="dim")
        named = tuple((self.text(name), justify) for name, justify in columns)
        cells = [tuple(map(self.styled, row)) for row in rows]
        plain = [tuple(map(str, row)) for row in cells]
        whole = _unbroken(named, plain, self.console.width - _GAP)
        for number, (name, justify) in enumerate(named):
            heading, is_whole = whole.get(number, name), number in whole
            table.add_column(heading, justify=justify, overflow="fold", no_wrap=is_whole)  # type: ignore[arg-type]
        for row in cells:
            table.add_row(*row)
        self.indented(table)

    def table(self, table: Table, title: str = "") -> None:
        """A table under its title, its caption where that is empty, and the note on how to read it."""
        self.heading(title or table.caption)
        sides = ("right" if at in table.numeric else "left" for at in range(len(table.columns)))
        self.rows(zip(table.columns, sides, strict=True), table.rows)
        if table.note:
            self.say(Text(table.note, "dim"), indent=_GAP)


def _unbroken(columns: Sequence[tuple[str, str]], rows: Sequence[tuple[str, ...]], width: int) -> dict[int, str]:
    """Columns of figures that no line breaks, by number, with headings in lines as short.

    None where everything has room as it is, or the figures alone have none.
    """
    figures: dict[int, str] = {}
    needed, natural = _GAP * len(columns), _GAP * len(columns)
    for number, (name, justify) in enumerate(columns):
        cells = [row[number] for row in rows]
        natural += max(map(cell_len, (name, *cells)))
        if justify == "right":
            longest = max(map(cell_len, (*cells, *name.split())), default=0)
            figures[number] = "\n".join(textwrap.wrap(name, longest))
            needed += longest
        else:
            needed += max((cell_len(word) for cell in (name, *cells) for word in cell.split()), default=0)
    return figures if needed <= width < natural else {}
