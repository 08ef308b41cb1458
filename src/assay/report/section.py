"""The parts of a section of the report, before the layout."""

from collections.abc import Collection

import msgspec

from assay.model import text as texts
from assay.model.result import Estimate
from assay.model.text import Text
from assay.report.charts.theme import Spec


def headings(*names: str) -> tuple[Text, ...]:
    """Return the headings of columns as texts; each name is a literal."""
    return tuple(map(texts.text, names))


class Figure(msgspec.Struct, frozen=True):
    """A chart.

    Attributes:
        id: unique in the report, for links.
        caption: what is drawn and how to read it, with units and the meaning of whiskers.
        result: the text alternative, in words with figures.
        spec: Vega-Lite specification with a single `width`; see `assay.report.charts.theme`.
        factor: by which values in SI units are multiplied in the spec.
        pattern: of messages; the reader can add published curves of this pattern. Empty for none.
        folded: title of the button that shows it; empty if it is always shown.
    """

    id: str
    caption: str
    result: str
    spec: Spec
    factor: float = 1.0
    pattern: str = ""
    folded: str = ""


class Table(msgspec.Struct, frozen=True):
    """A table whose first column names its rows.

    Attributes:
        caption: what it contains.
        columns: headings.
        rows: cells, text.
        numeric: indices of the columns of figures.
        note: how to read it; empty if that is clear.
        short: the caption if it is folded; empty if the caption is short.
        recorded: cells that are not texts stay as their author wrote them.
        first: whether it is what its section is for: it is never folded.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    note: str = ""
    short: str = ""
    recorded: bool = False
    first: bool = False


def trimmed(table: Table, optional: Collection[int]) -> Table:
    """Return the table without those of the `optional` columns whose cells are all empty."""
    kept = [at for at in range(len(table.columns)) if at not in optional or any(row[at] for row in table.rows)]
    columns, *rows = (tuple(cells[at] for at in kept) for cells in (table.columns, *table.rows))
    numeric = frozenset(number for number, at in enumerate(kept) if at in table.numeric)
    return msgspec.structs.replace(table, columns=columns, rows=tuple(rows), numeric=numeric)


class CardRow(msgspec.Struct, frozen=True):
    """A heading with its sentences."""

    name: str
    sentence: str


class Card(msgspec.Struct, frozen=True):
    """One path of messages on the first page: its name, its place, and rows of sentences."""

    name: str
    where: str
    rows: tuple[CardRow, ...]


class Headline(msgspec.Struct, frozen=True):
    """A figure of the first page: its name in words, and the estimate.

    Attributes:
        label: in words.
        estimate: with its limit.
        detail: details, in small type.
        counts_nodes: whether the label states the number of nodes.
    """

    label: str
    estimate: Estimate
    detail: str = ""
    counts_nodes: bool = False


class Section(msgspec.Struct, frozen=True):
    """A section: paragraphs, figures, tables.

    Attributes:
        id: anchor.
        title: heading.
        meaning: paragraphs for a reader who does not know the field, with computed figures.
        sentences: further ones, as a list.
        figures: charts.
        tables: besides that of `estimates`.
        estimates: of the section's own table.
        headlines: its figures on the first page.
        summary: its sentences on the first page.
        benchmarks: names whose findings belong here.
        rules: names of rules whose findings belong here in any case.
    """

    id: str
    title: str
    meaning: tuple[str, ...]
    sentences: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    headlines: tuple[Headline, ...] = ()
    summary: tuple[str, ...] = ()
    benchmarks: frozenset[str] = msgspec.field(default_factory=frozenset)
    rules: frozenset[str] = msgspec.field(default_factory=frozenset)
