"""Messages between two partners: latency and bandwidth by size, by placement, over every network and MPI."""

from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.report import choose, figures, messages, sizes, words
from assay.report.section import Figure, Headline, Section, Table
from assay.report.sections import many_pairs

order = 62
claims = frozenset(messages.BY)

_PATTERNS = (messages.LATENCY, messages.ONE, messages.BOTH)
#: Fewer sizes make no curve.
_CURVE = 3
_WHY = (
    "One way is half of a round trip: a message goes to the partner and comes back. For bandwidth many messages "
    "are on the way before one is acknowledged, in one direction, or in both with their bytes added."
)


def section(_run: Run, analysis: Analysis) -> Section | None:
    """The section, None where no messages between two partners were planned."""
    estimates = messages.of_patterns(analysis, _PATTERNS)
    if not estimates:
        return None
    measured = choose.measured(estimates)
    drawn = tuple(e for e in measured if not e.params.get("offset"))
    return Section(
        id="messages",
        title="Messages between two",
        meaning=_meaning(drawn),
        figures=tuple(figure for members in _of_pattern(drawn).values() for figure in _figures(members)),
        tables=tuple(table for members in _of_pattern(drawn).values() for table in _tables(members)),
        estimates=estimates,
        headlines=_headlines(drawn),
        benchmarks=claims,
    )


def tables(run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """The latency of a small message and the best bandwidth of each way; what many pairs do, beside it."""
    measured = choose.measured(messages.of_patterns(analysis, _PATTERNS))
    way = messages.over(measured)
    rows = [
        _row(pattern, best, way(best))
        for pattern, members in _of_pattern(measured).items()
        for curve in _curves(_by_partners(members)).values()
        if (best := _told(pattern, curve))
    ]
    columns: tuple[str, ...] = ("What", "Between", "By", "Median", "Interval", "n")
    if not any(row[2] for row in rows):
        columns, rows = _without(columns, 2), [_without(row, 2) for row in rows]
    numeric = frozenset(range(len(columns) - 3, len(columns)))
    found = (Table("Messages between two", columns, tuple(rows), numeric),) if rows else ()
    return (*found, *many_pairs.found(run, analysis, counted=False))


def _without(row: tuple[str, ...], at: int) -> tuple[str, ...]:
    return (*row[:at], *row[at + 1 :])


def _row(pattern: str, best: Estimate, way: str) -> tuple[str, ...]:
    counted = messages.COUNTED[pattern].lower()
    size = messages.at(best)
    what = f"{counted}, {size}" if pattern == messages.LATENCY else f"{counted}, largest, at {size}"
    figure = words.shown(best)
    where = ", ".join(filter(None, [messages.where(best), choose.state(best)]))
    value, ends = (f"{figure.value} {figure.unit}", figure.ends) if figure else ("", "")
    return (what, where, way, value, ends, f"{best.launches}")


def _of_pattern(estimates: tuple[Estimate, ...]) -> dict[str, tuple[Estimate, ...]]:
    return choose.grouped(estimates, messages.pattern)


def _by_partners(estimates: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Figures between the same partners beside each other, whatever passed the messages."""
    return tuple(e for members in choose.grouped(estimates, messages.where).values() for e in members)


def _curves(estimates: tuple[Estimate, ...]) -> dict[tuple[str, str, str | None], tuple[Estimate, ...]]:
    """(between whom, over what, state) -> the figures of all sizes."""
    way = messages.over(estimates)
    return choose.grouped(estimates, lambda e: (messages.where(e), way(e), e.state))


def _told(pattern: str, curve: tuple[Estimate, ...]) -> Estimate | None:
    """What stands for a curve: the latency of a small message, the largest bandwidth."""
    return messages.small(curve) if pattern == messages.LATENCY else choose.best(curve)


def _headlines(measured: tuple[Estimate, ...]) -> tuple[Headline, ...]:
    """The best small message and the largest bandwidth, between nodes and inside one."""
    lines = []
    for where, members in choose.grouped(measured, _far).items():
        for pattern, of_pattern in _of_pattern(members).items():
            chosen = [each for curve in _curves(of_pattern).values() if (each := _told(pattern, curve))]
            best = choose.best(chosen)
            if best:
                by = messages.over(measured)(best)
                label = f"{messages.COUNTED[pattern]}, {messages.at(best)}, {where}{f', {by}' if by else ''}"
                lines.append(Headline(label, best))
    return tuple(lines)


def _far(estimate: Estimate) -> str:
    return "between nodes" if messages.is_between(estimate) else "inside a node"


def _figures(measured: tuple[Estimate, ...]) -> tuple[Figure, ...]:
    pattern = messages.pattern(measured[0])
    drawn = []
    for number, (part, members) in enumerate(messages.split(measured).items()):
        title = ", ".join(filter(None, [messages.COUNTED[pattern], part]))
        anchor = f"figure-messages-{pattern}{f'-{number}' if number else ''}"
        if len({messages.size(e) for e in members} - {0}) >= _CURVE:
            drawn.append(figures.curves(members, anchor, title, series=messages.series(members)))
        else:
            drawn.append(figures.placements(members, anchor, title, messages.where))
    return tuple(drawn)


def _tables(measured: tuple[Estimate, ...]) -> tuple[Table, ...]:
    pattern = messages.pattern(measured[0])
    return tuple(
        sizes.table(
            members,
            ", ".join(filter(None, [messages.COUNTED[pattern], part])),
            messages.series(members),
        )
        for part, members in messages.split(measured).items()
    )


def _meaning(measured: tuple[Estimate, ...]) -> tuple[str, ...]:
    if not measured:
        return (f"{_WHY} Nothing of it could be measured; the reasons are listed under what was not measured.",)
    told = [_WHY, _latencies(measured), _bandwidths(measured)]
    return (" ".join(filter(None, told)), _duplex(measured))


def _latencies(measured: tuple[Estimate, ...]) -> str:
    """The best small message of each placement."""
    found = tuple(e for e in measured if messages.pattern(e) == messages.LATENCY)
    parts = []
    for where, members in choose.grouped(found, messages.where).items():
        small = [each for curve in _curves(members).values() if (each := messages.small(curve))]
        best = choose.best(small)
        figure = words.shown(best) if best else None
        if best and figure:
            parts.append(f"{figure.full} between {_between(where)}{_by(best, measured, small)}")
    size = messages.at(best) if found and best else ""
    return words.sentence(f"a message of {size} takes, one way, {words.listed(parts)}") if parts else ""


def _bandwidths(measured: tuple[Estimate, ...]) -> str:
    """What the largest messages reach in one direction, and the most of any size where that is another."""
    found = tuple(e for e in measured if messages.pattern(e) == messages.ONE)
    parts = []
    for where, members in choose.grouped(found, messages.where).items():
        ends = [each for curve in _curves(members).values() if (each := messages.largest(curve))]
        last, most = choose.best(ends), choose.best(members)
        figure, top = (words.shown(e) if e else None for e in (last, most))
        if last and most and figure and top:
            peak = f", at most {top.short} at {messages.at(most)}" if (most.lo or 0) > (last.hi or 0) else ""
            size = messages.at(last)
            by = _by(last, measured, ends)
            parts.append(f"{figure.full} between {_between(where)}{by} with messages of {size}{peak}")
    return words.sentence(f"in one direction go {'; '.join(parts)}") if parts else ""


def _by(best: Estimate, measured: tuple[Estimate, ...], among: list[Estimate]) -> str:
    """What the best of several was measured over."""
    name = messages.over(measured)(best)
    return f" ({name}, the best of {len(among)})" if name and len(among) > 1 else ""


def _between(where: str) -> str:
    return where if not where.startswith("inside") else f"ranks {where}"


def _duplex(measured: tuple[Estimate, ...]) -> str:
    """Both directions added over one, at the largest size that both have, for each way."""
    one = {_way(e, measured): e for e in measured if messages.pattern(e) == messages.ONE}
    ratios = []
    pairs = [
        (one[key], e)
        for e in measured
        if messages.pattern(e) == messages.BOTH and (key := _way(e, measured)) in one
    ]
    for (where, way), members in choose.grouped(
        pairs, lambda pair: (messages.where(pair[1]), messages.over(measured)(pair[1]))
    ).items():
        single, double = max(members, key=lambda pair: messages.size(pair[1]))
        if single.median and double.median and single.lo and single.hi and double.lo and double.hi:
            ratio = words.ratio(
                (double.median / single.median, double.lo / single.hi, double.hi / single.lo), "both intervals"
            )
            name = ", ".join(filter(None, [where, way, choose.state(double)]))
            ratios.append(f"{ratio.value.lstrip('×')} [{ratio.lo}, {ratio.hi}] ({name}, {messages.at(double)})")  # noqa: RUF001
    if not ratios:
        return ""
    return (
        f"Both directions added carry, over one direction alone: {'; '.join(ratios)}. 2 is a way that carries "
        "each direction as if the other were idle, 1 one that both share. The ends follow from the ends of the "
        "two figures, so they are wider than an interval of the ratio would be."
    )


def _way(estimate: Estimate, measured: tuple[Estimate, ...]) -> tuple[str, str, str | None, int]:
    return messages.where(estimate), messages.over(measured)(estimate), estimate.state, messages.size(estimate)
