"""Many pairs at once: their common rate, by NUMA node, socket and whole node, and by their number."""

from collections.abc import Iterable

from assay.model.result import Estimate
from assay.model.text import Joined, joined, text
from assay.report import figures, formatting, messages, selection
from assay.report.charts.lines import LinePoint, lines
from assay.report.declared import Declared, Scene
from assay.report.section import Figure, Headline, Table, headings, trimmed

_BANDWIDTH, _LATENCY, _RATE = "multi-bandwidth", "multi-latency", "message-rate"
PATTERNS = (_BANDWIDTH, _LATENCY)
_CAPTION = text("Many pairs at once: bandwidth and messages of all pairs added, one direction")
#: Fewest numbers of ranks of a line.
_LINE = 3


def _headlines(scene: Scene) -> Iterable[Headline]:
    """Show the bandwidth of all pairs with most ranks, between nodes where there are any."""
    bandwidth = [e for e in scene.measured if messages.pattern(e) == _BANDWIDTH]
    between = [e for e in bandwidth if messages.is_between(e)] or bandwidth
    most = max(map(messages.ranks, between), default=0)
    best = selection.best(e for e in between if messages.ranks(e) == most)
    if best:
        by = messages.over(scene.estimates)(best)
        yield Headline(
            joined(", ", (messages.COUNTED[_BANDWIDTH], messages.at(best), messages.where(best), by)), best
        )


def found(scene: Scene, *, numbers: bool = True) -> Iterable[Table]:
    """Make a row for each placement: ranks per node, bandwidth, message rate, latency of the slowest pair.

    `numbers` adds a table for numbers of cores; without it a curve of the page shows them.
    """
    every = tuple(
        e for name in messages.BY for e in selection.measured(selection.of_benchmark(scene.analysis, name))
    )
    several = tuple(e for e in every if messages.pattern(e) in PATTERNS)
    variant = messages.over(several)
    groups = selection.grouped(several, lambda e: (e.placement.hosts, _cores(e), variant(e), e.state))
    apart = selection.grouped(groups.values(), lambda members: all(map(_is_number, members)))
    whole, counted = apart.get(False, ()), apart.get(True, ())
    if not (whole or numbers):  # the table has no other rows
        whole, counted = counted, ()
    note = (
        text(
            "{count} more number of cores: assay report|{count} more numbers of cores: assay report",
            count=len(counted),
        )
        if counted and not numbers
        else ""
    )
    if whole or counted:
        yield _table(_CAPTION, whole, variant, note)
    if numbers and counted:
        yield _table(text("{caption}, by number of cores", caption=_CAPTION), counted, variant, "")


def _cores(estimate: Estimate) -> object:
    """Return the cpus of a placement, or its word where none are known (imported figures)."""
    placed = estimate.placement
    return placed.cpus if any(placed.cpus) else placed.label


def _table(caption: str, groups: Iterable[tuple[Estimate, ...]], variant: figures.Name, note: str) -> Table:
    sizes = dict.fromkeys(messages.at(e) for members in groups for e in _small(members) if e)
    size = next(iter(sizes)) if len(sizes) == 1 else text("small")
    small = (text("Messages a second, {size}", size=size), text("Slowest pair, one way, {size}", size=size))
    rows: tuple[tuple[str, ...], ...] = tuple(_row(members, variant(members[0])) for members in groups)
    columns = (
        *headings("Between", "By", "Ranks a node", "Bandwidth", "At", "Limit of the sum"),
        *small,
        text("n"),
    )
    bests = (_best(members) for members in groups)
    limits = dict.fromkeys(e.limit.of for e in bests if e and e.limit)
    named = text("limits: {limits}", limits=joined("; ", limits)) if limits else ""
    note = joined("; ", [note, named])
    return trimmed(Table(caption, columns, rows, frozenset(range(2, len(columns))), note), {1, 5})


def _best(members: tuple[Estimate, ...]) -> Estimate | None:
    return selection.best(e for e in members if e.metric == "bandwidth")


def _small(members: tuple[Estimate, ...]) -> tuple[Estimate | None, Estimate | None]:
    """Return rate and latency of small messages."""
    rate = messages.small(e for e in members if e.metric == _RATE)
    return rate, messages.small(e for e in members if messages.pattern(e) == _LATENCY and e.metric == "latency")


def _row(members: tuple[Estimate, ...], variant: str) -> tuple[str, ...]:
    first = members[0]
    best = _best(members)
    shown = (best, *_small(members))
    where = joined(", ", [messages.where(first), selection.state(first)])
    bandwidth, *small = (formatting.shown(e).short for e in shown)
    launches = min((e.launches for e in shown if e), default=0)
    at = messages.at(best) if best else ""
    limit = (
        f"{formatting.quantity(best.limit.value, best.unit)} ({formatting.share_text(best)})"
        if best and best.limit
        else ""
    )
    return (where, variant, f"{messages.ranks(first) or ''}", bandwidth, at, limit, *small, f"{launches}")


def _bandwidth(scene: Scene) -> tuple[Estimate, ...]:
    """Return the bandwidths of many pairs with the largest messages that all placements have."""
    estimates = tuple(e for e in scene.measured if messages.pattern(e) == _BANDWIDTH)
    places = selection.grouped(estimates, messages.where).values()
    sizes = [{messages.size(e) for e in members} for members in places]
    largest = max(set.intersection(*sizes), default=None) if sizes else None
    return tuple(e for e in estimates if messages.size(e) == largest)


#: Placements that are the ends of a line over numbers of cores.
_ENDS = frozenset({"all", "one-core", "all-threads"})


def _is_number(estimate: Estimate) -> bool:
    """Whether a placement is a number of cores other than one or all."""
    return estimate.placement.word.count is not None


def _charts(scene: Scene) -> Iterable[Figure]:
    bandwidth = scene.cached(_bandwidth)
    of_nodes = (e for e in bandwidth if e.placement.word.over)  # a number of cores of each
    counted = tuple(e for e in of_nodes if e.placement.word.plain in {"all", "one-core"} or _is_number(e))
    line = len({messages.ranks(e) for e in counted}) >= _LINE
    rest = tuple(e for e in bandwidth if not line or e not in counted or e.placement.word.share in _ENDS)
    size = messages.at(bandwidth[0]) if bandwidth else ""
    title = joined(", ", (messages.COUNTED[_BANDWIDTH], size))
    if rest:
        yield figures.placements(rest, "figure-many-pairs", title, _short)
    if line:
        yield _line(counted, title)


def _short(estimate: Estimate) -> str:
    """Name the cores without the nodes, which are the same everywhere."""
    where = messages.where(estimate)
    return where.parts[0] if isinstance(where, Joined) else where


def _line(counted: tuple[Estimate, ...], title: str) -> Figure:
    factor, unit = figures.scaled(counted)
    variant = messages.over(counted)
    names = {e.id: joined(", ", [variant(e), selection.state(e)]) or text("all pairs") for e in counted}
    points = [
        _point(e, names[e.id], factor) for e in sorted(counted, key=lambda e: (names[e.id], messages.ranks(e)))
    ]
    nodes = len(counted[0].placement.hosts)
    caption = joined(
        " ",
        (text("{title}, by ranks on each of {nodes} nodes.", title=title, nodes=nodes), figures.whiskers(counted)),
    )
    top = max(points, key=lambda point: point.value)
    result = text("maximum {figure} with {place}, {series}", figure=top.text, place=top.place, series=top.series)
    spec = lines(points, (text("ranks on each node"), text("bandwidth ({unit})", unit=unit)))
    return Figure("figure-many-pairs-ranks", caption, result, spec)


def _point(e: Estimate, name: str, factor: float) -> LinePoint:
    ranks = messages.ranks(e)
    place = formatting.count(ranks, "rank a node", "ranks a node")
    return LinePoint(x=ranks, x_lo=ranks, x_hi=ranks, series=name, place=place, **figures.ends(e, factor))


declared = Declared(
    order=63,
    id="many-pairs",
    title=text("Many pairs at once"),
    introduction=text(
        "Many programs have a rank on every core, and all ranks send at once. Rank i of the first half sends to "
        "rank i of the second half. The figures add the bytes and messages of all pairs, in one direction."
    ),
    select=lambda analysis, _headline: messages.of_patterns(analysis, PATTERNS),
    charts=_charts,
    page_tables=(found,),
    headlines=_headlines,
)
