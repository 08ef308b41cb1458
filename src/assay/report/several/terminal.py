"""Curves beside each other in a terminal: words first, then tables side by side, ratios, laws."""

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from assay.model.several import RUN
from assay.report import choose
from assay.report.section import Table
from assay.report.several import tables
from assay.report.several.statements import NO_SAMPLES, are_without_samples, statements
from assay.report.several.together import Together

_PLAIN = str.maketrans({"µ": "u", "×": "x", "∞": "inf", "½": "1/2", "–": "-"})  # noqa: RUF001
#: Columns of a table that fit a terminal.
_COLUMNS = 4


def render(together: Together, console: Console) -> bool:
    """Print what the curves show; nothing where there are none to compare. Whether it was said in words."""
    several = together.several
    if not several.besides and not several.alike and not several.contrasts:
        return False
    page = _Page(console)
    said = in_words(together, console)
    if are_without_samples(e for side in together.sides for e in choose.measured(side.analysis.estimates)):
        page.line(NO_SAMPLES, style="dim")
    for (pattern, reach), ways in tables.groups(together).items():
        title = tables.title(pattern, reach)
        besides = tuple(
            each for each in tables.against_base(together, ways) if len(together.sides) == 1 or each.differ == RUN
        )
        if not besides:
            continue
        compared = {name for each in besides for name in (each.a, each.b)}
        shown = tuple(way for way in ways if way.id in compared)[:_COLUMNS]
        page.table(tables.side_by_side(together, title, shown))
        page.table(tables.ratios(together, title, besides[:_COLUMNS]))
    for table in (*tables.laws(together)[:1], *tables.alike(together)):
        page.table(table)
    return said


def in_words(together: Together, console: Console) -> bool:
    """Print the sentences alone; whether there are any."""
    page = _Page(console)
    said = statements(together)
    if said:
        page.heading("In words")
    for statement in said:
        page.line(statement.text, mark="-")
    return bool(said)


class _Page:
    """Keeps to ASCII where the terminal knows no more."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._unicode = console.encoding.lower().startswith("utf")

    def _text(self, text: str) -> str:
        return text if self._unicode else text.translate(_PLAIN).encode("ascii", "replace").decode()

    def heading(self, text: str) -> None:
        self._console.print()
        self._console.print(Text(self._text(text), style="bold"))

    def line(self, text: str, mark: str = "", style: str = "") -> None:
        """One paragraph; what follows its mark hangs under it."""
        grid = Grid.grid(padding=(0, 1, 0, 0))
        grid.add_column(width=1)
        grid.add_column(overflow="fold")
        grid.add_row(mark, Text(self._text(text), style=style))
        self._console.print(Padding(grid, (0, 0, 0, 1), expand=False))

    def table(self, table: Table) -> None:
        self.heading(table.caption)
        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=True, header_style="dim")
        for number, column in enumerate(table.columns):
            grid.add_column(
                self._text(column), justify="right" if number in table.numeric else "left", overflow="fold"
            )
        for row in table.rows:
            grid.add_row(*(Text(self._text(cell)) for cell in row))
        self._console.print(Padding(grid, (0, 0, 0, 2), expand=False))
