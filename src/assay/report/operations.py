"""A benchmark whose figures are of operations among ranks, by size: collectives, one-sided access."""

from assay.model.result import Analysis, Estimate
from assay.model.text import joined, text
from assay.report import choose, figures, messages, sizes, words
from assay.report.section import Figure, Headline, Section, Table, headings
from assay.report.vocabulary import known

_AXIS = "operation"
#: Fewer sizes make no curve.
_CURVE = 3


def section(name: str, analysis: Analysis, why: str) -> Section | None:
    """The section of benchmark `name`, None where nothing of it was planned; `why` says what it is good for."""
    every = choose.of_benchmark(analysis, name)
    if not every:
        return None
    measured = choose.measured(_headline(every))
    groups = _groups(measured)
    return Section(
        id=name.replace("_", "-"),
        title=choose.title(name),
        meaning=(joined(" ", (why, _meaning(measured))),),
        figures=tuple(_figure(name, number, title, each) for number, (title, each) in enumerate(groups.items())),
        tables=tuple(_table(title, each) for title, each in groups.items()),
        estimates=every,
        headlines=_headlines(measured),
        benchmarks=frozenset({name}),
    )


def tables(name: str, analysis: Analysis) -> tuple[Table, ...]:
    """What a terminal shows: each operation and its ranks, with a small and the largest message."""
    every = choose.of_benchmark(analysis, name)
    estimates = choose.measured(_headline(every))
    way = messages.over(estimates)
    metrics = {e.metric for e in estimates}
    what = operation if len(metrics) == 1 else _what
    groups = choose.grouped(estimates, lambda e: (what(e), _ranks_where(e), way(e), choose.state(e)))
    rows: tuple[tuple[str, ...], ...] = tuple((*said, *_both(members)) for said, members in groups.items())
    columns: tuple[str, ...] = headings(
        "Operation", "Ranks", "By", "State", "Small message", "At", "Largest message", "At"
    )
    same = {row[1] for row in rows}
    told = [0, *([1] if len(same) > 1 else []), *(at for at in (2, 3) if any(row[at] for row in rows))]
    shown = [*told, *range(4, len(columns))]
    numeric = frozenset(range(len(told), len(shown)))
    alike = (*(metrics if len(metrics) == 1 else ()), *(same if len(same) == 1 else ()))
    note = text("all rows: {what}", what=joined(", ", alike)) if alike else ""
    cut = tuple(tuple(row[at] for at in shown) for row in rows)
    return (Table(choose.title(name), tuple(columns[at] for at in shown), cut, numeric, note),) if rows else ()


def _both(members: tuple[Estimate, ...]) -> tuple[str, ...]:
    """A small message and the largest one; where there is one size alone the second says nothing."""
    small, largest = messages.small(members), messages.largest(members)
    return (*_cells(small), *_cells(largest if largest is not small else None))


def _headline(every: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Of the headline metrics those of the first kernel: of collectives the time of the slowest rank."""
    estimates = choose.headline_metric(every) if every else ()
    return tuple(e for e in estimates if e.kernel == estimates[0].kernel)


def operation(estimate: Estimate) -> str:
    """`allreduce`, `put`; the kernel where the benchmark has no such axis."""
    return str(estimate.params.get(_AXIS, estimate.kernel))


def _what(estimate: Estimate) -> str:
    """`put, latency`."""
    return joined(", ", (operation(estimate), known(estimate.metric)))


def _title(estimate: Estimate) -> str:
    """`Put, latency`."""
    return joined(", ", (operation(estimate).capitalize(), known(estimate.metric)))


def _ranks(estimate: Estimate) -> int:
    """Of others' tables as their heading tells it; 0 where nothing does."""
    return sum(map(len, estimate.placement.cpus)) or int(estimate.params.get("ranks", 0))


def _name(estimate: Estimate, way: str) -> str:
    """Of a series: its ranks, where they are, over what."""
    return joined(", ", (_ranks_where(estimate), way))


def _ranks_where(estimate: Estimate) -> str:
    return joined(", ", (_counted(_ranks(estimate)), messages.where(estimate)))


def _counted(ranks: int) -> str:
    """Empty where nobody says how many."""
    return words.count(ranks, "rank", "ranks") if ranks else ""


def _groups(measured: tuple[Estimate, ...]) -> dict[str, tuple[Estimate, ...]]:
    """Operation and part -> what its chart and its table show."""
    found: dict[str, tuple[Estimate, ...]] = {}
    for members in choose.grouped(measured, _what).values():
        for part, each in messages.split(members).items():
            found[joined(": ", [_title(members[0]), part])] = each
    return found


def _figure(name: str, number: int, title: str, members: tuple[Estimate, ...]) -> Figure:
    way = messages.over(members)
    anchor = f"figure-{name}-{number}".replace("_", "-")
    if len({messages.size(e) for e in members} - {0}) >= _CURVE:
        return figures.curves(members, anchor, title, series=lambda e: _name(e, way(e)))
    return figures.placements(members, anchor, title, lambda e: _name(e, way(e)))


def _table(title: str, members: tuple[Estimate, ...]) -> Table:
    way = messages.over(members)
    return sizes.table(members, title, lambda e: _name(e, way(e)))


def _cells(estimate: Estimate | None) -> tuple[str, str]:
    figure = words.shown(estimate) if estimate else None
    return (sizes.cell(estimate), messages.at(estimate)) if estimate and figure else ("", "")


def _headlines(measured: tuple[Estimate, ...]) -> tuple[Headline, ...]:
    """Of the operation that was measured first, the small message with most ranks."""
    most = max(map(_ranks, measured), default=0)
    first = next((e for e in measured if _ranks(e) == most), None)
    same = [e for e in measured if first and _ranks(e) == most and _what(e) == _what(first)]
    small = messages.small(same)
    if small is None:
        return ()
    by = messages.over(measured)(small)
    label = joined(", ", (_title(small), messages.at(small), _counted(most), by))
    return (Headline(label, small),)


def _meaning(measured: tuple[Estimate, ...]) -> str:
    parts = []
    for what, members in choose.grouped(measured, _what).items():
        most = max(map(_ranks, members))
        small = messages.small(e for e in members if _ranks(e) == most)
        figure = words.shown(small) if small else None
        if small and figure:
            parts.append(
                text(
                    "{what} with {size} among {ranks} {figure}",
                    what=what,
                    size=messages.at(small),
                    ranks=_counted(most) or text("ranks that nobody counted"),
                    figure=figure.full,
                )
            )
    return text("Measured are {figures}.", figures=words.listed(parts)) if parts else ""
