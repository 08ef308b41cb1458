"""Messages between two partners: latency and bandwidth by size, by placement, over every network and MPI."""

from collections.abc import Mapping

from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import Text, joined, text
from assay.report import choose, figures, messages, sizes, words
from assay.report.section import Figure, Headline, Section, Table, headings
from assay.report.sections import many_pairs

order = 62
claims = frozenset(messages.BY)

_PATTERNS = (messages.LATENCY, messages.ONE, messages.BOTH)
#: The law of both directions over one, and its parameter that is told.
_DUPLEX, _LONG = "duplex", "long messages"
_Ends = tuple[float, float, float]
_Paired = Mapping[str, _Ends]
#: Fewer sizes make no curve.
_CURVE = 3
_WHY = text(
    "One way is half of a round trip: a message goes to the partner and comes back. For bandwidth many messages "
    "are on the way before one is acknowledged, in one direction, or in both with their bytes added."
)

_OTHERS = text(
    "The Intel MPI Benchmarks time more: Sendrecv, each rank sends to one neighbour while it receives from the "
    "other; Exchange, both at once with both neighbours; PingPing, two messages that meet."
)
#: Patterns that it explains.
_NEIGHBOURS = frozenset({"sendrecv", "exchange", "pingping"})


def section(_run: Run, analysis: Analysis) -> Section | None:
    """The section, None where no messages between two partners were planned."""
    estimates = messages.of_patterns(analysis, (*_PATTERNS, *_others(analysis)))
    if not estimates:
        return None
    measured = choose.measured(estimates)
    drawn = tuple(e for e in measured if not e.params.get("offset"))
    return Section(
        id="messages",
        title=text("Messages between two"),
        meaning=_meaning(drawn, _paired(analysis)),
        figures=tuple(figure for members in _of_pattern(drawn).values() for figure in _figures(members)),
        tables=(
            *(table for members in _of_pattern(drawn).values() for table in _tables(members)),
            *_duplex_table(drawn, _paired(analysis)),
        ),
        estimates=estimates,
        headlines=_headlines(drawn),
        benchmarks=claims,
    )


def tables(run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """Of each way the latency of a small message, the bandwidth of the largest; what many pairs do, beside it."""
    measured = choose.measured(messages.of_patterns(analysis, (*_PATTERNS, *_others(analysis))))
    way = messages.over(measured)
    rows = [
        _row(pattern, best, way(best))
        for pattern, members in _of_pattern(measured).items()
        for curve in _curves(_by_partners(members)).values()
        if (best := _told(curve))
    ]
    columns: tuple[str, ...] = headings("What", "Between", "By", "Median", "Interval", "n")
    if not any(row[2] for row in rows):
        columns, rows = _without(columns, 2), [_without(row, 2) for row in rows]
    numeric = frozenset(range(len(columns) - 3, len(columns)))
    found = (Table(text("Messages between two"), columns, tuple(rows), numeric),) if rows else ()
    return (*found, *many_pairs.found(run, analysis, numbers=False))


def _others(analysis: Analysis) -> tuple[str, ...]:
    """Patterns of other tools, as `sendrecv`; what many pairs do in one direction has a section of its own."""
    found = dict.fromkeys(messages.pattern(e) for name in messages.BY for e in choose.of_benchmark(analysis, name))
    return tuple(each for each in found if each and each not in {*_PATTERNS, *many_pairs.PATTERNS})


def _without(row: tuple[str, ...], at: int) -> tuple[str, ...]:
    return (*row[:at], *row[at + 1 :])


def _row(pattern: str, best: Estimate, way: str) -> tuple[str, ...]:
    figure = words.shown(best)
    where = joined(", ", [messages.where(best), choose.state(best)])
    value, ends = (f"{figure.value} {figure.unit}", figure.ends) if figure else ("", "")
    return (
        joined(", ", (messages.counted(pattern), _at(best))),
        where,
        way,
        value,
        ends,
        f"{best.launches}",
    )


def _of_pattern(estimates: tuple[Estimate, ...]) -> dict[str, tuple[Estimate, ...]]:
    return choose.grouped(estimates, messages.pattern)


def _by_partners(estimates: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Figures between the same partners beside each other, whatever passed the messages."""
    return tuple(e for members in choose.grouped(estimates, messages.where).values() for e in members)


def _curves(estimates: tuple[Estimate, ...]) -> dict[tuple[str, str, str | None], tuple[Estimate, ...]]:
    """(between whom, over what, state) -> the figures of all sizes."""
    way = messages.over(estimates)
    return choose.grouped(estimates, lambda e: (messages.where(e), way(e), e.state))


def _told(curve: tuple[Estimate, ...]) -> Estimate | None:
    """What stands for a curve: the time of a small message, the bandwidth of the largest.

    Not the largest bandwidth of all sizes: of many sizes the noisiest would be told.
    """
    return messages.small(curve) if curve[0].better == "lower" else messages.largest(curve)


def _at(estimate: Estimate) -> str:
    size = messages.at(estimate)
    return size if estimate.better == "lower" else text("at {size}", size=size)


def _headlines(measured: tuple[Estimate, ...]) -> tuple[Headline, ...]:
    """The small message and the largest one, each over the best way, between nodes and inside one."""
    lines = []
    ours = tuple(e for e in measured if messages.pattern(e) in _PATTERNS)
    for where, members in choose.grouped(ours or measured, messages.far).items():
        for pattern, of_pattern in _of_pattern(members).items():
            told = _told(of_pattern)
            best = choose.best(e for e in of_pattern if told and messages.size(e) == messages.size(told))
            if best:
                by = messages.over(measured)(best)
                label = joined(", ", (messages.COUNTED.get(pattern, pattern), _at(best), where, by))
                lines.append(Headline(label, best))
    return tuple(lines)


def _figures(measured: tuple[Estimate, ...]) -> tuple[Figure, ...]:
    pattern = messages.pattern(measured[0])
    drawn = []
    for number, (part, members) in enumerate(messages.split(measured).items()):
        title = joined(": ", [messages.COUNTED.get(pattern, pattern), part])
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
            joined(", ", [messages.COUNTED.get(pattern, pattern), part]),
            messages.series(members),
        )
        for part, members in messages.split(measured).items()
    )


def _meaning(measured: tuple[Estimate, ...], paired: _Paired) -> tuple[str, ...]:
    if not measured:
        return (
            joined(
                " ",
                (
                    _WHY,
                    text("Nothing of it could be measured; the reasons are listed under what was not measured."),
                ),
            ),
        )
    told = [_WHY, _latencies(measured), _bandwidths(measured), _duplex(measured, paired)]
    several = max(len(_curves(members)) / len(_places(members)) for members in _of_pattern(measured).values()) > 1
    told += [text("Where several networks, MPIs or states were measured, the best is told.")] if several else []
    told += [_OTHERS] if _NEIGHBOURS & set(_of_pattern(measured)) else []
    return (joined(" ", told),)


def _places(measured: tuple[Estimate, ...]) -> dict[str, tuple[Estimate, ...]]:
    return choose.grouped(measured, messages.where)


def _latencies(measured: tuple[Estimate, ...]) -> str:
    """The best small message between each two partners."""
    found = tuple(e for e in measured if messages.pattern(e) == messages.LATENCY)
    best = [
        (where, choose.best(each for curve in _curves(members).values() if (each := messages.small(curve))))
        for where, members in _places(found).items()
    ]
    size = next((messages.at(e) for _, e in best if e), "")
    parts = _between(best)
    return (
        text("One way, a message of {size} takes {times}.", size=size, times=words.listed(parts)) if parts else ""
    )


def _bandwidths(measured: tuple[Estimate, ...]) -> str:
    """What the largest messages reach in one direction."""
    found = tuple(e for e in measured if messages.pattern(e) == messages.ONE)
    size = max(map(messages.size, found), default=0)
    best = [
        (where, choose.best(e for e in members if messages.size(e) == size))
        for where, members in _places(found).items()
    ]
    parts = _between(best)
    told, large = words.listed(parts), words.param(size, "B")
    return text("In one direction, messages of {size} get {rates}.", size=large, rates=told) if parts else ""


def _between(best: list[tuple[str, Estimate | None]]) -> list[Text]:
    """A figure and its partners."""
    return [
        text("{figure} between {partners}", figure=figure.short, partners=where)
        for where, e in best
        if e and (figure := words.shown(e))
    ]


def _duplex(measured: tuple[Estimate, ...], paired: _Paired) -> str:
    """From the least to the largest ratio of both directions to one."""
    ratios = sorted(ratio[0] for _, _, ratio in _ratios(measured, paired))
    if not ratios:
        return ""
    low, high = (f"{ratio:.2f}" for ratio in (ratios[0], ratios[-1]))
    factor = low if low == high else text("{low} to {high}", low=low, high=high)
    return text("Both directions added carry {factor} times what one direction carries.", factor=factor)


def _paired(analysis: Analysis) -> _Paired:
    """Estimate -> both directions over one, of long messages and paired by block, where that could be had."""
    return {
        name: model.parameters[_LONG]
        for model in analysis.models
        if model.law == _DUPLEX and _LONG in model.parameters
        for name in model.of
    }


def _ratios(measured: tuple[Estimate, ...], paired: _Paired) -> list[tuple[Estimate, Estimate, _Ends]]:
    """One direction, both added, their ratio with its ends; of each way at the largest size that both have."""
    way = messages.over(measured)

    def key(e: Estimate) -> tuple[str, str, str | None]:
        return messages.where(e), way(e), e.state

    one = {(key(e), messages.size(e)): e for e in measured if messages.pattern(e) == messages.ONE}
    both = sorted((e for e in measured if messages.pattern(e) == messages.BOTH), key=messages.size)
    pairs = {key(e): (one[key(e), messages.size(e)], e) for e in both if (key(e), messages.size(e)) in one}
    return [
        (
            single,
            double,
            paired.get(double.id, (double.median / single.median, double.lo / single.hi, double.hi / single.lo)),
        )
        for single, double in pairs.values()
        if single.median and single.lo and single.hi and double.median and double.lo and double.hi
    ]


def _duplex_table(measured: tuple[Estimate, ...], paired: _Paired) -> tuple[Table, ...]:
    way = messages.over(measured)
    rows = []
    for single, double, (middle, low, high) in _ratios(measured, paired):
        figures_of = [figure.short for e in (single, double) if (figure := words.shown(e))]
        where = joined(", ", [messages.where(double), choose.state(double)])
        ratio = f"{middle:.2f} ({low:.2f} to {high:.2f})"
        rows.append((where, way(double), messages.at(double), *figures_of, ratio))
    columns = headings("Between", "By", "Message", "One direction", "Both added", "Both over one")
    caption = text(
        "Both directions added over one direction alone, launches of a block beside each other, and the mean over "
        "the sizes from a quarter of the largest on: 2 where each goes as if the other were idle, 1 where they "
        "share. The ends are a 95 % interval from six launches on, else a range."
        if paired
        else "Both directions added over one direction alone: 2 where each goes as if the other were idle, 1 "
        "where they share. The ends of the ratio follow from the ends of both figures, and are wider than its "
        "interval."
    )
    short = text("Both directions added over one direction alone")
    return (Table(caption, columns, tuple(rows), frozenset({3, 4, 5}), short=short),) if rows else ()
