"""Curves side by side in a terminal: sentences first, then tables, ratios, laws."""

from collections.abc import Sequence
from itertools import zip_longest

import msgspec
from rich.console import Console
from rich.text import Text

from assay.compare import tables
from assay.compare.records import RUN, Curve, MessageCurve
from assay.compare.sides import Sides
from assay.compare.statements import NO_SAMPLES, statements
from assay.compare.widest import conclusion
from assay.model.grouping import grouped
from assay.report.screen import Screen
from assay.report.section import Table

#: Columns of a table that fit a terminal.
_COLUMNS = 4


def render(sides: Sides, console: Console) -> bool:
    """Print the comparison of curves, if any can be compared; return whether sentences were printed.

    Of two runs, only curves of messages have tables here; other figures have a row each in `figure_rows`.
    """
    found = sides.found
    page, has_sentences = Screen(console), in_words(sides, console)
    if not sides.have_common and not found.contrasts:
        return has_sentences
    if sides.without_samples:
        page.say(Text(NO_SAMPLES, "dim"), indent=1, mark="")
    for title, curves in tables.groups(sides).items():
        pairs = tuple(
            each for each in tables.against_base(sides, curves) if len(sides.sides) == 1 or each.differ == RUN
        )
        in_rows = len(sides.sides) == 2 and not isinstance(curves[0], MessageCurve)  # noqa: PLR2004 (run and base)
        if pairs and not in_rows:
            compared = {name for each in pairs for name in (each.a, each.b)}
            shown = tuple(curve for curve in curves if curve.id in compared)[:_COLUMNS]
            figures = tables.side_by_side(sides, title, shown)
            ratios = tables.ratios(sides, title, pairs[:_COLUMNS])
            is_narrow = len(pairs) == 1 and not ratios.note
            for table in (_with_ratio(figures, ratios),) if is_narrow else (figures, ratios):
                page.table(table)
        elif not pairs and len({curve.run for curve in curves}) > 1:  # they share no value
            page.table(tables.side_by_side(sides, title, _in_turn(curves)[:_COLUMNS]))
    for table in (*tables.laws(sides)[:1], *tables.shared(sides), *tables.law_figures(sides)):
        page.table(table)
    return has_sentences


def _with_ratio(figures: Table, ratio: Table) -> Table:
    """The figures of two curves, with their ratio in the last column."""
    found = {row[0]: row[1] for row in ratio.rows}
    return msgspec.structs.replace(
        figures,
        caption=f"{figures.caption}; last column: ratio of speeds",
        columns=(*figures.columns, *ratio.columns[1:]),
        rows=tuple((*row, found.get(row[0], "")) for row in figures.rows),
        numeric=figures.numeric | {len(figures.columns)},
    )


def _in_turn(curves: Sequence[Curve]) -> tuple[Curve, ...]:
    """The first curve of each run, then the second one of each run."""
    runs = grouped(curves, lambda curve: curve.run).values()
    return tuple(curve for each in zip_longest(*runs) for curve in each if curve)


def in_words(sides: Sides, console: Console) -> bool:
    """Print the sentences only, where none is certain the widest difference; return whether there are any."""
    page = Screen(console)
    sentences = [each.text for each in statements(sides)]
    if not sentences and len(sides.sides) > 1:
        sentences = list(filter(None, [conclusion(sides)]))
    if sentences:
        page.heading("In words")
    for sentence in sentences:
        page.say(sentence, indent=1, mark="-")
    return bool(sentences)
