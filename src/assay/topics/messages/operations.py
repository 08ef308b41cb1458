"""The section of a benchmark of operations among ranks, by size: collectives, one-sided access."""

from collections.abc import Callable, Iterable

from assay.model import roles
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, messages, selection
from assay.report.declared import Declared, Scene
from assay.report.section import Figure, Headline, Table, headings, trimmed
from assay.report.vocabulary import known
from assay.topics.messages import sizes


def declared(
    order: int,
    benchmark: str,
    introduction: str,
    shared_tables: tuple[Callable[[Scene], Iterable[Table]], ...] = (),
) -> Declared:
    """The section of a benchmark of operations.

    Args:
        order: where it stands.
        benchmark: that it draws.
        introduction: what it is good for.
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
    """Of the headline metrics those of the first kernel: of collectives the time of the slowest rank."""
    estimates = selection.headline_metric(scene.estimates)
    return selection.measured(e for e in estimates if e.kernel == estimates[0].kernel)


def _charts(scene: Scene) -> Iterable[Figure]:
    """One for each operation and part."""
    for number, (title, each) in enumerate(scene.cached(_groups).items()):
        yield _figure(each[0].benchmark, number, title, each)


def _by_size(scene: Scene) -> Iterable[Table]:
    """The same as tables of a page."""
    return (_table(title, each) for title, each in scene.cached(_groups).items())


def _tables(scene: Scene) -> Iterable[Table]:
    """The tables of the terminal: each operation and its ranks, with a small and the largest message."""
    estimates = _headline(scene)
    if not estimates:
        return
    way = messages.over(estimates)
    metrics = {e.metric for e in estimates}
    what = operation if len(metrics) == 1 else _what
    groups = selection.grouped(estimates, lambda e: (what(e), _ranks_where(e), way(e), selection.state(e)))
    rows: tuple[tuple[str, ...], ...] = tuple((*said, *_both(members)) for said, members in groups.items())
    columns = headings("Operation", "Ranks", "By", "State", "Small message", "At", "Largest message", "At")
    same = {row[1] for row in rows}
    if len(same) == 1:
        rows = tuple((row[0], "", *row[2:]) for row in rows)
    alike = (*(metrics if len(metrics) == 1 else ()), *(same if len(same) == 1 else ()))
    note = text("all rows: {what}", what=joined(", ", alike)) if alike else ""
    name = selection.title(estimates[0].benchmark)
    yield trimmed(Table(name, columns, rows, frozenset(range(4, len(columns))), note), {1, 2, 3})


def _both(members: tuple[Estimate, ...]) -> tuple[str, ...]:
    """A small message and the largest one; where there is one size alone the second says nothing."""
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
    """Of others' tables as their heading tells it; 0 where nothing does."""
    return estimate.placement.ranks or int(estimate.params.get("ranks", 0))


def _name(estimate: Estimate, way: str) -> str:
    """Of a series: its ranks, where they are, over what."""
    return joined(", ", (_ranks_where(estimate), way))


def _ranks_where(estimate: Estimate) -> str:
    return joined(", ", (_counted(_ranks(estimate)), messages.where(estimate)))


def _counted(ranks: int) -> str:
    """Empty where nobody says how many."""
    return formatting.count(ranks, "rank", "ranks") if ranks else ""


def _groups(scene: Scene) -> dict[figures.Title, tuple[Estimate, ...]]:
    """Operation and part -> what its chart and its table show."""
    found: dict[figures.Title, tuple[Estimate, ...]] = {}
    for members in selection.grouped(_headline(scene), _what).values():
        for part, each in messages.split(members).items():
            found[figures.Title(_title(members[0]), part)] = each
    return found


def _figure(name: str, number: int, title: figures.Title, members: tuple[Estimate, ...]) -> Figure:
    way = messages.over(members)
    anchor = f"figure-{name}-{number}".replace("_", "-")
    if messages.is_curve(members):
        return figures.curves(members, anchor, title, series=lambda e: _name(e, way(e)))
    return figures.placements(members, anchor, joined(": ", title), lambda e: _name(e, way(e)))


def _table(title: figures.Title, members: tuple[Estimate, ...]) -> Table:
    way = messages.over(members)
    return sizes.table(members, joined(": ", title), lambda e: _name(e, way(e)))


def _cells(estimate: Estimate | None) -> tuple[str, str]:
    return (sizes.cell(estimate), messages.at(estimate)) if estimate and formatting.shown(estimate) else ("", "")


def _headlines(scene: Scene) -> tuple[Headline, ...]:
    """Of the operation that was measured first, the small message with most ranks."""
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
    """The small message of each operation with most ranks."""
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
