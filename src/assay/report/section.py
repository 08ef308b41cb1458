"""The parts of a topic in the report, before the layout."""

from collections.abc import Collection

import msgspec

from assay.model import text as texts
from assay.model.result import Estimate
from assay.model.text import Text
from assay.report.charts.theme import Spec


def headings(*names: str) -> tuple[Text, ...]:
    """The heads of columns as texts; each is a literal."""
    return tuple(map(texts.text, names))


class Figure(msgspec.Struct, frozen=True):
    """A chart.

    Attributes:
        id: unique in the report, for links.
        caption: what is drawn and how to read it, with units and what the whiskers are.
        result: what the figure shows, in words with figures: the text alternative.
        spec: Vega-Lite specification with a single `width`; see `assay.report.charts.theme`.
        factor: by which values in SI units are multiplied in the spec.
        pattern: of the messages whose published curves a reader may lay beside these; empty for none.
        folded: what opens it where it is drawn on demand; empty where it is always seen.
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
        caption: what it holds.
        columns: headings.
        rows: cells, text.
        numeric: indices of the columns that hold figures.
        note: how to read it here; empty where nothing need be said.
        short: the caption where it is folded away; empty where the caption is short.
        recorded: cells that are no texts stay in the words of whoever wrote them.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    note: str = ""
    short: str = ""
    recorded: bool = False


def trimmed(table: Table, optional: Collection[int]) -> Table:
    """The table without those of the `optional` columns whose cells are all empty."""
    kept = [at for at in range(len(table.columns)) if at not in optional or any(row[at] for row in table.rows)]
    columns, *rows = (tuple(cells[at] for at in kept) for cells in (table.columns, *table.rows))
    numeric = frozenset(number for number, at in enumerate(kept) if at in table.numeric)
    return msgspec.structs.replace(table, columns=columns, rows=tuple(rows), numeric=numeric)


class CardRow(msgspec.Struct, frozen=True):
    """A heading, and its sentences."""

    name: str
    told: str


class Card(msgspec.Struct, frozen=True):
    """What the first page says of one path: its name, where it is, and rows of sentences."""

    name: str
    where: str
    rows: tuple[CardRow, ...]


class Headline(msgspec.Struct, frozen=True):
    """A figure of the first page: its name in words, and the estimate.

    Attributes:
        label: in words.
        estimate: with its limit.
        told: what else belongs to it, in small type.
        counts_nodes: whether the label says on how many nodes it is.
    """

    label: str
    estimate: Estimate
    told: str = ""
    counts_nodes: bool = False


class Section(msgspec.Struct, frozen=True):
    """A topic: its meaning, its figures, its tables.

    Attributes:
        id: anchor.
        title: heading.
        meaning: paragraphs for a reader who does not know the field, with computed figures.
        told: sentences, as a list.
        figures: charts.
        tables: beside the one of `estimates`.
        estimates: those that the section's own table lists.
        headlines: what the first page shows of it.
        summary: what the first page says of it.
        benchmarks: names whose findings belong here.
        rules: names of rules whose findings belong here before all.
    """

    id: str
    title: str
    meaning: tuple[str, ...]
    told: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    headlines: tuple[Headline, ...] = ()
    summary: tuple[str, ...] = ()
    benchmarks: frozenset[str] = msgspec.field(default_factory=frozenset)
    rules: frozenset[str] = msgspec.field(default_factory=frozenset)
