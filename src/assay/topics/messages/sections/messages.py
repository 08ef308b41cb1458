"""Messages between two partners: latency and bandwidth by size, by placement, over every network and MPI."""

from collections.abc import Iterable
from itertools import chain

import msgspec

from assay.model import roles
from assay.model.result import Analysis, Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, messages, selection
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, Headline, Table, headings
from assay.topics.messages import sizes
from assay.topics.messages.models.duplex import Duplex
from assay.topics.messages.sections import many_pairs

_PATTERNS = (messages.LATENCY, messages.ONE, messages.BOTH)
#: A ratio with its ends.
_Ends = tuple[float, float, float]
#: Patterns of the Intel MPI Benchmarks that are explained.
_NEIGHBOURS = frozenset({"sendrecv", "exchange", "pingping"})


def _between_two(analysis: Analysis, _headline: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Patterns of ours, then those of other tools; many pairs in one direction have a section of their own."""
    found = dict.fromkeys(
        messages.pattern(e) for name in messages.BY for e in selection.of_benchmark(analysis, name)
    )
    others = (each for each in found if each and each not in {*_PATTERNS, *many_pairs.PATTERNS})
    return messages.of_patterns(analysis, (*_PATTERNS, *others))


def _rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    """Of each path the latency of a small message, the bandwidth of the largest."""
    way = messages.over(scene.measured)
    for pattern, members in _of_pattern(scene.measured).items():
        # Figures between the same partners stand beside each other, whatever passed the messages.
        places = selection.grouped(members, messages.where).values()
        for curve in _curves(tuple(chain.from_iterable(places))).values():
            if best := _told(curve):
                yield _row(pattern, best, way(best))


def _row(pattern: str, best: Estimate, way: str) -> tuple[str, ...]:
    figure, where = formatting.shown(best), joined(", ", [messages.where(best), selection.state(best)])
    what = joined(", ", (messages.counted(pattern), _at(best)))
    return (what, where, way, figure.plain, figure.ends, f"{best.launches}")


def _of_pattern(estimates: tuple[Estimate, ...]) -> dict[str, tuple[Estimate, ...]]:
    return selection.grouped(estimates, messages.pattern)


def _curves(estimates: tuple[Estimate, ...]) -> dict[tuple[str, str, str | None], tuple[Estimate, ...]]:
    """(between whom, over what, state) -> the figures of all sizes."""
    way = messages.over(estimates)
    return selection.grouped(estimates, lambda e: (messages.where(e), way(e), e.state))


def _told(curve: tuple[Estimate, ...]) -> Estimate | None:
    """What stands for a curve: the time of a small message, the bandwidth of the largest.

    Not the largest bandwidth of all sizes: of many sizes the noisiest would be told.
    """
    return messages.small(curve) if curve[0].better == "lower" else messages.largest(curve)


def _at(estimate: Estimate) -> str:
    size = messages.at(estimate)
    return size if estimate.better == "lower" else text("at {size}", size=size)


def _headlines(scene: Scene) -> Iterable[Headline]:
    """The small message and the largest one, each over the best way, between nodes and inside one."""
    aligned = messages.aligned(scene.measured)
    at_once = tuple(e for e in aligned if not roles.level_of(e, "idle-gap"))
    measured = at_once or aligned  # after a sleep a message is as slow as a core that wakes up
    ours = tuple(e for e in measured if messages.pattern(e) in _PATTERNS)
    for where, members in selection.grouped(ours or measured, messages.far).items():
        for pattern, of_pattern in _of_pattern(members).items():
            told = _told(of_pattern)
            best = selection.best(e for e in of_pattern if told and messages.size(e) == messages.size(told))
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
            yield sizes.table(members, title, messages.series(members))


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
    """One direction, both added, their ratio with its ends; of each way at the largest size that both have."""
    # By their law of long messages and paired by block, where that could be had; else what the ends allow.
    paired = {name: each.model.long_messages.parts for each in scene.found for name in each.model.of}
    measured = messages.aligned(scene.measured)
    way = messages.over(measured)

    def key(e: Estimate) -> tuple[str, str, str | None]:
        return messages.where(e), way(e), e.state

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
    way = messages.over(messages.aligned(scene.measured))
    rows = []
    for single, double, (middle, low, high) in _ratios(scene):
        figures_of = [formatting.shown(e).short for e in (single, double)]
        where = joined(", ", [messages.where(double), selection.state(double)])
        ratio = f"{middle:.2f} ({low:.2f} to {high:.2f})"
        rows.append((where, way(double), messages.at(double), *figures_of, ratio))
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
