"""Curves as a table: a row for each size, a column for each curve."""

from collections.abc import Callable

from assay.model.result import Estimate
from assay.report import choose, messages, words
from assay.report.section import Table

#: Sizes that a reader compares; all others are in the table of all figures. The largest is always there.
_TELLING = (0, 8, 2**10, 2**13, 2**16, 2**20, 2**22)


def table(estimates: tuple[Estimate, ...], caption: str, name: Callable[[Estimate], str]) -> Table:
    """Medians with their intervals and launches, by size of a message; `name`: of a curve."""
    measured = choose.measured(estimates)
    sizes = sorted({messages.size(e) for e in measured})
    chosen = [size for size in sizes if size in _TELLING or size == sizes[-1]]
    if len(chosen) < min(len(sizes), len(_TELLING) // 2):
        chosen = sizes
    curves = choose.grouped(measured, lambda e: ", ".join(filter(None, [name(e), choose.state(e)])))
    found = {(series, messages.size(e)): e for series, members in curves.items() for e in members}
    rows = tuple(
        (words.param(size, "B"), *(_cell(found.get((series, size))) for series in curves)) for size in chosen
    )
    columns = ("Message", *(series or "Median" for series in curves))
    return Table(
        f"{caption}: median, interval or range, launches", columns, rows, frozenset(range(1, len(columns)))
    )


def _cell(estimate: Estimate | None) -> str:
    figure = words.shown(estimate) if estimate else None
    return f"{figure.short} n={estimate.launches}" if estimate and figure else ""
