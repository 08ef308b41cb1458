"""A table of curves: a row for each size, a column for each curve."""

from collections.abc import Callable

from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import formatting, messages, selection
from assay.report.section import Table

#: Sizes that a reader compares, and always the largest; all others are in the table of all figures.
_TELLING = (0, 8, 2**10, 2**13, 2**16, 2**20, 2**22)


def table(estimates: tuple[Estimate, ...], caption: str, name: Callable[[Estimate], str]) -> Table:
    """Make a table of medians with intervals and launches, by size of a message; `name` names a curve."""
    measured = selection.measured(estimates)
    sizes = sorted({messages.size(e) for e in measured})
    chosen = [size for size in sizes if size in _TELLING or size == sizes[-1]]
    if len(chosen) < min(len(sizes), len(_TELLING) // 2):
        chosen = sizes
    curves = selection.grouped(measured, lambda e: joined(", ", [name(e), selection.state(e)]))
    found = {(series, messages.size(e)): e for series, members in curves.items() for e in members}
    rows = tuple(
        (formatting.param(size, "B"), *(cell(found.get((series, size))) for series in curves)) for size in chosen
    )
    columns = (text("Message"), *(series or text("Median") for series in curves))
    title = text("{caption}: median, interval or range, launches", caption=caption)
    return Table(title, columns, rows, frozenset(range(1, len(columns))), short=caption)


def cell(estimate: Estimate | None) -> str:
    """Return a figure with its interval and launches."""
    figure = formatting.shown(estimate)
    return text("{figure} n={count}", figure=figure.short, count=estimate.launches) if estimate and figure else ""
