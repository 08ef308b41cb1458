"""One-sided access to the memory of another rank."""

import dataclasses

from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import choose, messages, operations, words
from assay.report.section import Section, Table, headings

order = 65
claims = frozenset({"onesided"})

_SYNCHRONISATION = "synchronisation"
_WHY = text(
    "One rank writes or reads the memory of another, which need take no part (flush, lock) or opens it each time "
    "(fence, pscw). A time ends where the data can be seen at the target, not where the call returns."
)
_CAPTION = text("What each way to synchronise costs: one transfer, one way, until the other sees it")


def section(_run: Run, analysis: Analysis) -> Section | None:
    """The section, None where none were planned."""
    drawn = operations.section("onesided", analysis, _WHY)
    return drawn and dataclasses.replace(drawn, tables=(*_ways(analysis), *drawn.tables))


def tables(_run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """Each operation with a small and the largest message."""
    return (*_ways(analysis), *operations.tables("onesided", analysis))


def _ways(analysis: Analysis) -> tuple[Table, ...]:
    """The small message: a row for each operation and place, a column for each way to synchronise."""
    latencies = [e for e in choose.measured(choose.of_benchmark(analysis, "onesided")) if e.metric == "latency"]
    ways = list(dict.fromkeys(_way(e) for e in latencies))
    if len(ways) == 1 or not latencies:
        return ()
    small = min(map(messages.size, latencies))
    groups = choose.grouped((e for e in latencies if messages.size(e) == small), _row)
    rows = tuple((*row, *(_cell(members, way) for way in ways)) for row, members in groups.items())
    columns = (*headings("Operation", "Between"), *ways)
    caption = joined(", ", (_CAPTION, words.param(small, "B")))
    return (Table(caption, columns, rows, frozenset(range(2, len(columns)))),)


def _way(estimate: Estimate) -> str:
    way = estimate.params.get(_SYNCHRONISATION)
    return text("not stated") if way is None else str(way)


def _row(estimate: Estimate) -> tuple[str, str]:
    levels = (choose.levels(estimate, [*estimate.factors]), choose.state(estimate))
    what = joined(", ", [operations.operation(estimate), *levels])
    return what, messages.where(estimate)


def _cell(members: tuple[Estimate, ...], way: str) -> str:
    found = next((e for e in members if _way(e) == way), None)
    figure = words.shown(found) if found else None
    return figure.short if figure else ""
