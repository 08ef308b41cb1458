"""Messages between two partners: latency and bandwidth by size, by placement, over every network and MPI."""

from collections.abc import Callable, Iterable
from itertools import chain

import msgspec

from assay.model import roles
from assay.model.result import Analysis, Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, messages, selection
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, Headline, Table, headings
from assay.topics.messages.models.duplex import Duplex
from assay.topics.messages.sections import many_pairs

_PATTERNS = (messages.LATENCY, messages.ONE, messages.BOTH)
#: A ratio with its ends.
_Ends = tuple[float, float, float]
#: Patterns of the Intel MPI Benchmarks that are explained.
_NEIGHBOURS = frozenset({"sendrecv", "exchange", "pingping"})


def _between_two(analysis: Analysis, _headline: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Select our patterns, then those of other tools; many pairs in one direction have their own section."""
    found = dict.fromkeys(
        messages.pattern(e) for name in messages.BY for e in selection.of_benchmark(analysis, name)
    )
    others = (each for each in found if each and each not in {*_PATTERNS, *many_pairs.PATTERNS})
    return messages.of_patterns(analysis, (*_PATTERNS, *others))


def _rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    """List the latency of a small message and the bandwidth of the largest one, for each path."""
    variant = messages.over(scene.measured)
    for pattern, members in _of_pattern(scene.measured).items():
        # Figures between the same partners follow each other, for MPI and sockets.
        places = selection.grouped(members, messages.where).values()
        for curve in _curves(tuple(chain.from_iterable(places))).values():
            if chosen := _representative(curve):
                yield _row(pattern, chosen, variant(chosen))


def _row(pattern: str, chosen: Estimate, variant: str) -> tuple[str, ...]:
    figure, where = formatting.shown(chosen), joined(", ", [messages.where(chosen), selection.state(chosen)])
    what = joined(", ", (messages.counted(pattern), _at(chosen)))
    return (what, where, variant, figure.plain, figure.ends, f"{chosen.launches}")


def _of_pattern(estimates: tuple[Estimate, ...]) -> dict[str, tuple[Estimate, ...]]:
    return selection.grouped(estimates, messages.pattern)


def _curves(estimates: tuple[Estimate, ...]) -> dict[tuple[str, str, str | None], tuple[Estimate, ...]]:
    """(partners, network or levels, state) -> the figures of all sizes."""
    return selection.grouped(estimates, _path(estimates))


def _path(estimates: tuple[Estimate, ...]) -> Callable[[Estimate], tuple[str, str, str | None]]:
    """Return what names a path: partners, network or levels, and state."""
    variant = messages.over(estimates)
    return lambda e: (messages.where(e), variant(e), e.state)


def _representative(curve: tuple[Estimate, ...]) -> Estimate | None:
    """Return the figure that represents a curve: the time of a small message, the bandwidth of the largest.

    Not the highest bandwidth of all sizes: that would be the noisiest of many sizes.
    """
    return messages.small(curve) if curve[0].better == "lower" else messages.largest(curve)


def _at(estimate: Estimate) -> str:
    size = messages.at(estimate)
    return size if estimate.better == "lower" else text("at {size}", size=size)


def _headlines(scene: Scene) -> Iterable[Headline]:
    """Show the small message and the largest one, each by the best network, between nodes and inside one."""
    aligned = messages.aligned(scene.measured)
    at_once = tuple(e for e in aligned if not roles.level_of(e, "idle-gap"))
    measured = at_once or aligned  # after a sleep a message is as slow as a core that wakes up
    ours = tuple(e for e in measured if messages.pattern(e) in _PATTERNS)
    for where, members in selection.grouped(ours or measured, messages.far).items():
        for pattern, of_pattern in _of_pattern(members).items():
            chosen = _representative(of_pattern)
            best = selection.best(e for e in of_pattern if chosen and messages.size(e) == messages.size(chosen))
            if best:
                by = messages.over(measured)(best)
                yield Headline(joined(", ", (messages.COUNTED.get(pattern, pattern), _at(best), where, by)), best)


def _charts(scene: Scene) -> Iterable[Figure]:
    for pattern, measured in _of_pattern(messages.aligned(scene.measured)).items():
        for number, (part, members) in enumerate(messages.split(measured).items()):
            title = figures.Title(messages.COUNTED.get(pattern, pattern), part)
            anchor = f"figure-messages-{pattern}{f'-{number}' if number else ''}"
            if messages.is_curve(members):
                drawn = figures.curves(members, anchor, title, series=messages.series(members))
                yield msgspec.structs.replace(drawn, pattern=pattern)
            else:
                yield figures.placements(members, anchor, joined(": ", title), messages.where)


def _by_size(scene: Scene) -> Iterable[Table]:
    for pattern, measured in _of_pattern(messages.aligned(scene.measured)).items():
        for part, members in messages.split(measured).items():
            title = joined(", ", [messages.COUNTED.get(pattern, pattern), part])
            yield messages.table(members, title, messages.series(members))


def _sentences(scene: Scene) -> str:
    measured = messages.aligned(scene.measured)
    if not measured:
        return text('Nothing could be measured. The section "What was not measured" lists the reasons.')
    if not _NEIGHBOURS & _of_pattern(measured).keys():
        return ""
    return text(
        "The Intel MPI Benchmarks also measure Sendrecv (each rank sends to one neighbour while it receives from "
        "the other), Exchange (both at once with both neighbours) and PingPing (two messages in opposite "
        "directions)."
    )


def _ratios(scene: Scene) -> list[tuple[Estimate, Estimate, _Ends]]:
    """Return one direction, both added, and their ratio; for each path at the largest size that both have."""
    # From the law of long messages, paired by block, where it was fitted; else bounds from both intervals.
    paired = {name: each.model.long_messages.parts for each in scene.found for name in each.model.of}
    measured = messages.aligned(scene.measured)
    key = _path(measured)
    patterns = _of_pattern(measured)
    one = {(key(e), messages.size(e)): e for e in patterns.get(messages.ONE, ())}
    both = sorted(patterns.get(messages.BOTH, ()), key=messages.size)
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


def _duplex_table(scene: Scene) -> Iterable[Table]:
    variant = messages.over(messages.aligned(scene.measured))
    rows = []
    for single, double, (middle, low, high) in _ratios(scene):
        figures_of = [formatting.shown(e).short for e in (single, double)]
        where = joined(", ", [messages.where(double), selection.state(double)])
        ratio = f"{middle:.2f} ({low:.2f} to {high:.2f})"
        rows.append((where, variant(double), messages.at(double), *figures_of, ratio))
    columns = headings("Between", "By", "Message", "One direction", "Both added", "Both over one")
    caption = text(
        "Both directions added / one direction, paired by block, mean over the sizes from a quarter of the "
        "largest: 2 means independent directions, 1 means a shared path. In brackets: a 95 % interval with six "
        "or more launches, else a range."
        if scene.found
        else "Both directions added / one direction: 2 means independent directions, 1 means a shared path. In "
        "brackets: bounds that follow from the intervals of both figures; the ratio's own interval is narrower."
    )
    short = text("Both directions added / one direction")
    if rows:
        yield Table(caption, columns, tuple(rows), frozenset({3, 4, 5}), short=short)


declared = Declared(
    order=62,
    id="messages",
    title=text("Point-to-point messages"),
    introduction=text(
        "The one-way time is half of a round trip. For bandwidth many messages are in flight before an "
        "acknowledgement, in one direction or in both; both directions are added."
    ),
    also=frozenset(messages.BY),
    law=Duplex,
    select=_between_two,
    sentences=_sentences,
    charts=_charts,
    page_tables=(_by_size, _duplex_table),
    terminal_tables=(
        Listing(
            text("Point-to-point messages"),
            headings("What", "Between", "By", "Median", "Interval", "n"),
            _rows,
            {3, 4, 5},
            optional={2},
        ),
        lambda scene: many_pairs.found(scene, numbers=False),
    ),
    headlines=_headlines,
)
