"""Many pairs at once: what they get together, by NUMA node, socket and whole node, and by their number."""

from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.report import choose, figures, messages, words
from assay.report.charts.lines import LinePoint, lines
from assay.report.section import Figure, Section, Table

order = 63
claims: frozenset[str] = frozenset()

_BANDWIDTH, _LATENCY, _RATE = "multi-bandwidth", "multi-latency", "message-rate"
#: What small messages are judged by: 8 B, where they were measured.
_SMALL = ("Messages a second, small", "Slowest pair waits, one way, small")
#: Fewer numbers of ranks make no line.
_LINE = 3
_WHY = (
    "Programs have a rank on every core, and all of them send at once. Rank i of the first half sends to rank i "
    "of the second half; bytes and messages of all pairs are added, in one direction."
)


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where no many pairs were planned."""
    estimates = messages.of_patterns(analysis, (_BANDWIDTH, _LATENCY))
    if not estimates:
        return None
    bandwidth = _bandwidth(analysis)
    return Section(
        id="many-pairs",
        title="Many pairs at once",
        meaning=(f"{_WHY} {_meaning(bandwidth)}".strip(),),
        figures=_figures(bandwidth),
        tables=found(run, analysis),
        estimates=estimates,
    )


def tables(_run: Run, _analysis: Analysis) -> tuple[Table, ...]:
    """None: a terminal shows `found` among the messages."""
    return ()


def found(_run: Run, analysis: Analysis, *, counted: bool = True) -> tuple[Table, ...]:
    """A row for each placement: ranks on a node, bandwidth, messages a second, what the slowest pair waits.

    Without `counted`, numbers of cores have no row: a curve of the page shows them.
    """
    every = tuple(e for name in messages.BY for e in choose.measured(choose.of_benchmark(analysis, name)))
    several = tuple(e for e in every if messages.pattern(e) in {_BANDWIDTH, _LATENCY})
    way = messages.over(several)
    groups = choose.grouped(several, lambda e: (e.placement.hosts, e.placement.cpus, way(e), e.state))
    shown = [members for members in groups.values() if counted or not all(map(_is_number, members))]
    rows: tuple[tuple[str, ...], ...] = tuple(_row(members, way(members[0])) for members in shown)
    columns: tuple[str, ...] = ("Between", "By", "Ranks a node", "Bandwidth", "At", *_SMALL, "n")
    if not any(row[1] for row in rows):
        columns, rows = (columns[0], *columns[2:]), tuple((row[0], *row[2:]) for row in rows)
    caption = "Many pairs at once: bandwidth and messages of all pairs added, one direction"
    more = len(groups) - len(shown)
    note = f"{words.count(more, 'number', 'numbers')} of cores more: assay report" if more else ""
    return (Table(caption, columns, rows, frozenset(range(len(columns) - 6, len(columns))), note),) if rows else ()


def _row(members: tuple[Estimate, ...], way: str) -> tuple[str, ...]:
    first = members[0]
    best = choose.best(e for e in members if e.metric == "bandwidth")
    rate = messages.small(e for e in members if e.metric == _RATE)
    waits = messages.small(e for e in members if messages.pattern(e) == _LATENCY)
    where = ", ".join(filter(None, [messages.where(first), choose.state(first)]))
    bandwidth = (_cell(best), messages.at(best) if best else "")
    return (where, way, f"{messages.ranks(first)}", *bandwidth, _cell(rate), _cell(waits), f"{first.launches}")


def _cell(estimate: Estimate | None) -> str:
    figure = words.shown(estimate) if estimate else None
    return figure.short if figure else ""


def _bandwidth(analysis: Analysis) -> tuple[Estimate, ...]:
    """Bandwidth of many pairs with the largest messages that all placements have."""
    estimates = choose.measured(messages.of_patterns(analysis, (_BANDWIDTH,)))
    places = choose.grouped(estimates, messages.where)
    common = (
        set.intersection(*({messages.size(e) for e in members} for members in places.values()))
        if places
        else set()
    )
    return tuple(e for e in estimates if messages.size(e) == max(common)) if common else ()


def _is_number(estimate: Estimate) -> bool:
    """Whether a placement is a number of cores, neither one nor all."""
    return estimate.placement.label.startswith(("spread:", "cores:"))


def _is_counted(estimate: Estimate) -> bool:
    """Whether a placement is one of a number of cores of each node."""
    word, at, _ = estimate.placement.label.partition("@")
    return bool(at) and (word in {"all", "one-core"} or _is_number(estimate))


def _figures(bandwidth: tuple[Estimate, ...]) -> tuple[Figure, ...]:
    counted = tuple(e for e in bandwidth if _is_counted(e))
    line = len({messages.ranks(e) for e in counted}) >= _LINE
    rest = tuple(
        e for e in bandwidth if not line or e not in counted or e.placement.label.startswith(("all", "one-core"))
    )
    size = messages.at(bandwidth[0]) if bandwidth else ""
    title = f"Bandwidth of all pairs, one direction, {size}"
    drawn = [figures.placements(rest, "figure-many-pairs", title, messages.where)] if rest else []
    return (*drawn, *([_line(counted, title)] if line else []))


def _line(counted: tuple[Estimate, ...], title: str) -> Figure:
    factor, unit = figures.scaled(counted)
    way = messages.over(counted)
    names = {e.id: ", ".join(filter(None, [way(e), choose.state(e)])) or "all pairs" for e in counted}
    points = [
        _point(e, names[e.id], factor) for e in sorted(counted, key=lambda e: (names[e.id], messages.ranks(e)))
    ]
    caption = f"{title}, by ranks on each of {len(counted[0].placement.hosts)} nodes. {figures.whiskers(counted)}"
    top = max(points, key=lambda point: point.value)
    spec = lines(points, ("ranks on each node", f"bandwidth ({unit})"))
    return Figure("figure-many-pairs-ranks", caption, f"most {top.text} with {top.place}, {top.series}", spec)


def _point(e: Estimate, name: str, factor: float) -> LinePoint:
    figure = words.shown(e)
    text, basis = (figure.short, figure.basis) if figure else ("", "")
    ranks = messages.ranks(e)
    median = e.median or 0.0
    value, lo, hi = (factor * (median if end is None else end) for end in (e.median, e.lo, e.hi))
    place = words.count(ranks, "rank a node", "ranks a node")
    return LinePoint(ranks, name, value, lo, hi, text, basis, place, ranks, ranks, ranks)


def _meaning(bandwidth: tuple[Estimate, ...]) -> str:
    """The most and the least of the placements, with their ranks."""
    ordered = sorted(bandwidth, key=lambda e: e.median or 0.0)
    if not ordered:
        return ""
    ends = dict.fromkeys((ordered[-1].id, ordered[0].id))
    named = {e.id: e for e in ordered}
    told = [
        f"{figure.full}, {messages.where(named[each])}" for each in ends if (figure := words.shown(named[each]))
    ]
    size = messages.at(ordered[0])
    kinds = ("the most is", "the least") if len(told) > 1 else ("they get",)
    parts = [f"{kind} {text}" for kind, text in zip(kinds, told, strict=False)]
    return words.sentence(f"with messages of {size} {'; '.join(parts)}")
