"""The section of a benchmark of operations among ranks, by size: collectives, one-sided access."""

from collections.abc import Callable, Iterable

from assay.model import roles
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, messages, selection
from assay.report.declared import Declared, Scene
from assay.report.section import Figure, Headline, Table, headings, trimmed
from assay.report.vocabulary import known


def declared(
    order: int,
    benchmark: str,
    introduction: str,
    shared_tables: tuple[Callable[[Scene], Iterable[Table]], ...] = (),
) -> Declared:
    """Declare the section of a benchmark of operations.

    Args:
        order: order of the section.
        benchmark: benchmark that it draws.
        introduction: its first paragraph.
        shared_tables: tables of page and terminal before those of the operations.
    """
    return Declared(
        order=order,
        id=benchmark,
        benchmark=benchmark,
        introduction=introduction,
        select=lambda analysis, _headline: selection.of_benchmark(analysis, benchmark),
        sentences=_sentences,
        charts=_charts,
        shared_tables=shared_tables,
        page_tables=(_by_size,),
        terminal_tables=(_tables,),
        headlines=_headlines,
    )


def _headline(scene: Scene) -> tuple[Estimate, ...]:
    """Return the headline metrics of the first kernel: of collectives the time of the slowest rank."""
    estimates = selection.headline_metric(scene.estimates)
    return selection.measured(e for e in estimates if e.kernel == estimates[0].kernel)


def _charts(scene: Scene) -> Iterable[Figure]:
    """Draw one chart for each operation and part."""
    for number, (title, each) in enumerate(scene.cached(_groups).items()):
        yield _figure(each[0].benchmark, number, title, each)


def _by_size(scene: Scene) -> Iterable[Table]:
    """Make the same as tables of the page."""
    return (
        messages.table(each, joined(": ", title), _names(each)) for title, each in scene.cached(_groups).items()
    )


def _tables(scene: Scene) -> Iterable[Table]:
    """Make the table of the terminal: each operation and its ranks, with a small and the largest message."""
    estimates = _headline(scene)
    if not estimates:
        return
    variant = messages.over(estimates)
    metrics = {e.metric for e in estimates}
    what = operation if len(metrics) == 1 else _what
    groups = selection.grouped(estimates, lambda e: (what(e), _ranks_where(e), variant(e), selection.state(e)))
    rows: tuple[tuple[str, ...], ...] = tuple((*names, *_both(members)) for names, members in groups.items())
    columns = headings("Operation", "Ranks", "By", "State", "Small message", "At", "Largest message", "At")
    same = {row[1] for row in rows}
    if len(same) == 1:
        rows = tuple((row[0], "", *row[2:]) for row in rows)
    common = (*(metrics if len(metrics) == 1 else ()), *(same if len(same) == 1 else ()))
    note = text("all rows: {what}", what=joined(", ", common)) if common else ""
    name = selection.title(estimates[0].declared)
    yield trimmed(Table(name, columns, rows, frozenset(range(4, len(columns))), note), {1, 2, 3})


def _both(members: tuple[Estimate, ...]) -> tuple[str, ...]:
    """Return the cells of a small message and the largest one; the second is empty for a single size."""
    small, largest = messages.small(members), messages.largest(members)
    return (*_cells(small), *_cells(largest if largest is not small else None))


def operation(estimate: Estimate) -> str:
    """`allreduce`, `put`; the kernel if the benchmark has no such axis."""
    return str(roles.level_of(estimate, "operation-name") or estimate.kernel)


def _what(estimate: Estimate) -> str:
    """`put, latency`."""
    return joined(", ", (operation(estimate), known(estimate.metric)))


def _title(estimate: Estimate) -> str:
    """`Put, latency`."""
    return joined(", ", (operation(estimate).capitalize(), known(estimate.metric)))


def _ranks(estimate: Estimate) -> int:
    """Return the number of ranks, from the heading of a table if it was imported; 0 if unknown."""
    return estimate.placement.ranks or int(estimate.params.get("ranks", 0))


def _names(estimates: tuple[Estimate, ...]) -> figures.Name:
    """Name each series: its ranks, where they are, and its network or levels."""
    variant = messages.over(estimates)
    return lambda e: joined(", ", (_ranks_where(e), variant(e)))


def _ranks_where(estimate: Estimate) -> str:
    return joined(", ", (_counted(_ranks(estimate)), messages.where(estimate)))


def _counted(ranks: int) -> str:
    """Return `64 ranks`; empty if unknown."""
    return formatting.count(ranks, "rank", "ranks") if ranks else ""


def _groups(scene: Scene) -> dict[figures.Title, tuple[Estimate, ...]]:
    """Operation and part -> the estimates of its chart and its table."""
    found: dict[figures.Title, tuple[Estimate, ...]] = {}
    for members in selection.grouped(_headline(scene), _what).values():
        for part, each in messages.split(members).items():
            found[figures.Title(_title(members[0]), part)] = each
    return found


def _figure(name: str, number: int, title: figures.Title, members: tuple[Estimate, ...]) -> Figure:
    anchor = f"figure-{name}-{number}".replace("_", "-")
    if messages.is_curve(members):
        return figures.curves(members, anchor, title, series=_names(members))
    return figures.placements(members, anchor, joined(": ", title), _names(members))


def _cells(estimate: Estimate | None) -> tuple[str, str]:
    return (
        (messages.cell(estimate), messages.at(estimate)) if estimate and formatting.shown(estimate) else ("", "")
    )


def _headlines(scene: Scene) -> tuple[Headline, ...]:
    """Show the small message with most ranks, of the operation that was measured first."""
    measured = _headline(scene)
    most = max(map(_ranks, measured), default=0)
    first = next((e for e in measured if _ranks(e) == most), None)
    same = [e for e in measured if first and _ranks(e) == most and _what(e) == _what(first)]
    small = messages.small(same)
    if small is None:
        return ()
    by = messages.over(measured)(small)
    label = joined(", ", (_title(small), messages.at(small), _counted(most), by))
    return (Headline(label, small),)


def _sentences(scene: Scene) -> str:
    """State the small message with most ranks, for each operation."""
    parts = []
    for what, members in selection.grouped(_headline(scene), _what).items():
        most = max(map(_ranks, members))
        small = messages.small(e for e in members if _ranks(e) == most)
        figure = formatting.shown(small)
        if small and figure:
            parts.append(
                text(
                    "{what} with {size} on {ranks}: {figure}",
                    what=what,
                    size=messages.at(small),
                    ranks=_counted(most) or text("an unknown number of ranks"),
                    figure=figure.full,
                )
            )
    return text("Measured: {figures}.", figures=formatting.listed(parts)) if parts else ""
