"""The terminal output of reports and comparisons: paragraphs and tables, in ASCII if the terminal needs it."""

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from assay.report.columns import GAP as _GAP
from assay.report.columns import Rows, aligned, paragraphs
from assay.report.section import Table

_ASCII = str.maketrans("µ·−–×“”", 'u---x""') | str.maketrans(  # noqa: RUF001 (what they look like)
    {"≥": ">=", "…": "...", "∞": "inf", "½": "1/2"}
)
#: A blank that does not break a line, and the intervals that have such blanks.
_HELD = "\ue000"
_INTERVAL = re.compile(r"\[[^][ ]+, [^][ ]+\]")


class _Printed:
    """A part with ordinary blanks in place of the unbreakable ones, and no blanks at the ends of lines."""

    def __init__(self, part: RenderableType) -> None:
        self._part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for line in Segment.split_lines(console.render(self._part, options)):
            while line and not line[-1].control and not line[-1].text.strip(" "):
                line.pop()
            if line:
                line[-1] = line[-1]._replace(text=line[-1].text.rstrip(" "))
            yield from (Segment(each.text.replace(_HELD, " "), each.style, each.control) for each in line)
            yield Segment.line()


class Screen:
    """A page on a console.

    Attributes:
        console: that prints it.
        unicode: whether the console prints more than ASCII.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.unicode = console.encoding.lower().replace("-", "").startswith("utf")

    def text(self, text: str) -> str:
        """Return the text, in ASCII if the console needs it."""
        return text if self.unicode else text.translate(_ASCII).encode("ascii", "replace").decode()

    def styled(self, part: str | Text) -> Text:
        """Return the part as styled text; no line breaks inside an interval."""
        shown = _INTERVAL.sub(lambda found: found[0].replace(" ", _HELD), self.text(str(part)))
        if isinstance(part, Text):
            return Text(shown, style=part.style, no_wrap=part.no_wrap)
        return Text(shown)

    def say(self, *parts: str | Text, indent: int = 0, mark: str | Text | None = None) -> None:
        """Print one paragraph, wrapped at words; with a mark its lines are indented."""
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
            self.console.print(_Printed(line))

    def heading(self, title: str) -> None:
        """Print a title after an empty line."""
        self.say()
        self.say(Text(title, style="bold"))

    def indented(self, part: Grid | Text, by: int = _GAP) -> None:
        """Print a part with an indent."""
        self.console.print(_Printed(Padding(part, (0, 0, 0, by), expand=False)))

    def rows(self, columns: Iterable[tuple[str, str]], rows: Iterable[Sequence[str | Text]]) -> None:
        """Print rows under the headings of their columns, which are aligned `left` or `right`."""
        heads, sides = zip(*((self.text(name), side) for name, side in columns), strict=True)
        right = [side == "right" for side in sides]
        cells = [tuple(map(self.styled, row)) for row in rows]
        if lines := aligned(heads, right, cells, self.console.width):
            self.console.print(_Printed(Text("\n").join(lines)), soft_wrap=True)
        elif _is_broken_at_words(heads, right, cells, self.console.width - _GAP):
            self._fitted(heads, sides, cells)
        else:
            for indent, line in paragraphs(heads, right, cells, self.console.width):
                self.indented(line, indent)

    def _fitted(self, heads: Sequence[str], sides: Sequence[str], rows: Rows) -> None:
        """Print rows of texts, which are broken between words."""
        table = Grid(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), show_header=True, header_style="dim")
        for at, (head, side) in enumerate(zip(heads, sides, strict=True)):
            is_figure = side == "right"
            longest = max((cell_len(each) for row in rows for each in (row[at].plain, *head.split())), default=1)
            shown = "\n".join(textwrap.wrap(head, longest)) if is_figure else head
            table.add_column(shown, justify=side, overflow="fold", no_wrap=is_figure)  # type: ignore[arg-type]
        for row in rows:
            table.add_row(*row)
        self.indented(table)

    def table(self, table: Table, title: str = "") -> None:
        """Print a table under its title (its caption if that is empty), with its note."""
        self.heading(title or table.caption)
        sides = ("right" if at in table.numeric else "left" for at in range(len(table.columns)))
        self.rows(zip(table.columns, sides, strict=True), table.rows)
        if table.note:
            self.say(Text(table.note, "dim"), indent=_GAP)


def _is_broken_at_words(heads: Sequence[str], right: Sequence[bool], rows: Rows, width: int) -> bool:
    """Whether the columns have room for every figure and for the longest word of every text."""
    needed = _GAP * len(heads)
    for at, (head, is_figure) in enumerate(zip(heads, right, strict=True)):
        cells = [row[at].plain for row in rows]
        parts = cells if is_figure else [word for cell in cells for word in cell.split()]
        needed += max(map(cell_len, (*parts, *head.split())), default=0)
    return needed <= width
