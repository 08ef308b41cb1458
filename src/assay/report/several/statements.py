"""What curves beside each other show, in plain words with figures: as the authors of studies write it."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from assay.model.result import Estimate
from assay.model.several import PLACE, PROGRAM, RUN, AtSize, Bend, Beside, Crossover, Way
from assay.model.text import Text, joined, text
from assay.model.units import scale
from assay.report import choose, messages, words
from assay.report.several import contrasts
from assay.report.several.factors import TWICE, times
from assay.report.several.together import Together

Kind = Literal["bandwidth", "latency", "figure", "crossover", "bend", "saturation"]
#: Nearer than this two published figures are nearly the same.
_SAME = 0.02
#: Shorter times are told to a tenth of a microsecond.
_MANY = 10.0
#: Larger sizes are told in KiB and MiB.
_PLAIN_BYTES = 16384
_EAGER = "eager messages to a rendezvous"
NO_SAMPLES = text(
    "Figures that were imported or published are means without samples: their ratios and differences are shown as "
    "they follow from the figures, and nothing is said to be significant."
)


@dataclass(frozen=True)
class Statement:
    """A sentence, and what it is about."""

    kind: Kind
    text: str


def statements(together: Together) -> list[Statement]:
    """All sentences: how far apart curves are (the widest first), where one overtakes another, where they bend."""
    besides = together.several.besides
    widest = sorted(besides, key=lambda each: -abs(math.log(_told(together, each).comparison.ratio)))
    apart = [_apart(together, beside) for beside in widest]
    crossed = [
        Statement("crossover", _crossed(together, beside, each))
        for beside in besides
        for each in beside.crossovers
    ]
    bends = [Statement("bend", bend(together, each)) for each in _largest(together)]
    ordered = [said for kind in ("bandwidth", "latency") for said in apart if said.kind == kind]
    figures = [Statement("figure", said) for said in contrasts.sentences(together)]
    full = [Statement("saturation", said) for said in _saturated(together)]
    return [*ordered, *figures, *crossed, *bends, *full]


def _saturated(together: Together) -> Iterator[str]:
    """For each kind of curve where it is saturated; times are not told beside rates, which follow from them."""
    models = {(side.run.info.id, model.id): model for side in together.sides for model in side.analysis.models}
    patterns = choose.grouped(together.several.ways, lambda way: way.pattern)
    told: dict[str, list[str]] = {}
    for pattern, ways in patterns.items():
        names = together.series(ways)
        for way in ways:
            law = models.get((way.run, way.law))
            if law and "saturation" in law.parameters:
                size = near(law.parameters["saturation"][0])
                told.setdefault(pattern, []).append(text("{value} ({basis})", value=size, basis=names[way.id]))
    if len(told) > 1:
        told.pop(messages.LATENCY, None)
    for pattern, sizes in told.items():
        yield text(
            "Larger messages bring hardly more ({noun}: their time grows with their size alone) from these sizes "
            "on: {sizes}.",
            noun=messages.counted(pattern),
            sizes=words.listed(sizes),
        )


def _told(together: Together, beside: Beside) -> AtSize:
    """Where two curves are held against each other: at the largest message, of times at the smallest."""
    return beside.points[-1 if together.ways[beside.a].better == "higher" else 0]


def _apart(together: Together, beside: Beside) -> Statement:
    """How far apart two curves are."""
    point = _told(together, beside)
    if together.ways[beside.a].better == "higher":
        return Statement("bandwidth", _sentence(_more_bandwidth(together, beside, point)))
    return Statement("latency", _sentence(_more_time(together, beside, point)))


def _sentence(parts: tuple[str, str]) -> str:
    return words.sentence(joined(", ", parts))


def _more_bandwidth(together: Together, beside: Beside, point: AtSize) -> tuple[str, str]:
    """Context, and the words of a ratio."""
    better, worse, ratio = _ordered(together, beside, point)
    values = _values(together, better, worse, point.bytes)
    names = [together.subject(beside, way) for way in (better, worse)]
    size = words.param(point.bytes, "B")
    noun: str = text("bandwidth")
    if better.pattern != "bandwidth":
        noun = text("bandwidth ({what})", what=_counted(better))
    context = together.context(beside)
    if _is_unclear(point):
        return context, text(
            "no difference in {noun} is certain between {a} and {b} at {size}: {values}",
            noun=noun,
            a=names[0],
            b=names[1],
            size=size,
            values=values,
        )
    if same := _same(point, ratio):
        return context, text(
            "{a} and {b} have {same} {noun} at {size}: {values}",
            a=names[0],
            b=names[1],
            same=same,
            noun=noun,
            size=size,
            values=values,
        )
    return context, text(
        "{a} have {times} the {noun} of {b} at {size}: {values}"
        if _is_many(names[0])
        else "{a} has {times} the {noun} of {b} at {size}: {values}",
        a=names[0],
        times=times(ratio),
        noun=noun,
        b=names[1],
        size=size,
        values=values,
    )


def _more_time(together: Together, beside: Beside, point: AtSize) -> tuple[str, str]:
    quick, slow, ratio = _ordered(together, beside, point)
    values = _values(together, slow, quick, point.bytes)
    of_slow, of_quick = (together.subject(beside, way) for way in (slow, quick))
    size = words.param(point.bytes, "B")
    message = text("a message of {size}", size=size) if point.bytes else text("an empty message")
    if slow.pattern != messages.LATENCY:
        message = text("{value} ({basis})", value=message, basis=_counted(slow))
    context = together.context(beside)
    if _is_unclear(point):
        return context, text(
            "no difference in the time of {message} is certain between {a} and {b}: {values}",
            message=message,
            a=of_quick,
            b=of_slow,
            values=values,
        )
    by_slow, by_quick = (_by(beside, subject) for subject in (of_slow, of_quick))
    if same := _same(point, ratio):
        return context, text(
            "{message} takes {same} time {a} and {b}: {values}",
            message=message,
            same=same,
            a=by_slow,
            b=by_quick,
            values=values,
        )
    more = text("about {time} more latency", time=roughly(abs(point.difference[0])))
    if ratio >= TWICE:
        more = text("{more} ({times} as long)", more=more, times=times(ratio))
    else:
        values = text("{values}, {times} as long", values=values, times=times(ratio))
    return context, text(
        "{message} has {more} {a} than {b}: {values}",
        message=message,
        more=more,
        a=by_slow,
        b=by_quick,
        values=values,
    )


def _by(beside: Beside, subject: str) -> Text:
    """`on hpcdiy-gbe`, `between two sockets`, `with mpi mpich`."""
    if beside.differ == RUN:
        return text("on {system}", system=subject)
    if beside.differ == PROGRAM:
        return text("by {program}", program=subject)
    return text(
        "between {partners}" if beside.differ == PLACE else "with {level}",
        **{"partners" if beside.differ == PLACE else "level": subject},
    )


def _ordered(together: Together, beside: Beside, point: AtSize) -> tuple[Way, Way, float]:
    """The better curve at this size, the worse one, and how many times as good it is."""
    a, b = together.ways[beside.a], together.ways[beside.b]
    ratio = point.comparison.ratio if a.better == "higher" else 1 / point.comparison.ratio
    return (a, b, ratio) if ratio >= 1 else (b, a, 1 / ratio)


def _same(point: AtSize, ratio: float) -> str:
    """That both are alike, in words; empty where they are not."""
    if point.comparison.verdict == "equivalent":
        return text("the same (within 1 %)")
    return text("nearly the same") if point.comparison.confidence is None and ratio < 1 + _SAME else ""


def _is_unclear(point: AtSize) -> bool:
    """Whether launches show no difference: an interval that decides nothing, a range on both sides of 1."""
    comparison = point.comparison
    if comparison.confidence is not None:
        return comparison.verdict == "inconclusive"
    return comparison.lo < 1 < comparison.hi


def _values(together: Together, first: Way, second: Way, size: int) -> str:
    """Both figures with their intervals."""
    shown = [figure.short for way in (first, second) if (figure := words.shown(together.at(way, size)))]
    return text("{a} against {b}", a=shown[0], b=shown[1]) if len(shown) > 1 else "".join(shown)


def roughly(seconds: float) -> str:
    """A time to a tenth of a microsecond, below that to two digits: `0.6 µs`, `24 µs`, `83 ns`."""
    micros = 1e6 * seconds
    if 0.1 <= micros < _MANY:  # noqa: PLR2004 (the last digit that is told)
        return f"{micros:.1f} µs"
    value, unit = scale(float(f"{seconds:.2g}"), "s")
    return f"{value:g} {unit}"


def _crossed(together: Together, beside: Beside, each: Crossover) -> str:
    before, after = (together.subject(beside, together.ways[name]) for name in (each.before, each.after))
    at, low, high = each.bytes
    noun = _counted(together.ways[beside.a])
    told = text(
        "{after} overtake {before} near {size} ({noun}); the curves cross between {low} and {high}"
        if _is_many(after)
        else "{after} overtakes {before} near {size} ({noun}); the curves cross between {low} and {high}",
        after=after,
        before=before,
        size=near(at),
        noun=noun,
        low=_size(low),
        high=_size(high),
    )
    unsure = "" if each.certain else text("of figures without intervals")
    return _sentence((together.context(beside), joined(", ", (told, unsure))))


def bend(together: Together, each: Bend) -> str:
    """Where a curve bends, by how much, and what may be the cause."""
    way = together.ways[each.way]
    protocol = [cause for cause in each.rivals if _EAGER in cause]
    others = [cause for cause in each.rivals if cause not in protocol]
    change = text("a change of protocol")
    if protocol:
        change = text("a change of protocol ({cause})", cause=protocol[0])
    value, unit = scale(each.seconds, "s")
    more = text(
        "{times} as long ({time} more)",
        times=times(each.factor[0]),
        time=f"{value:.{words.decimals(value)}f} {unit}",
    )
    causes: Text = change
    for other in others:
        causes = text("{a}, or {b}", a=causes, b=other)
    place, noun, size = together.way(way), _counted(way), near(each.bytes)
    if not together.label(way):
        return text(
            "Between {partners}, the curve of {noun}, bends near {size}, where a message takes {more}: {causes}.",
            partners=place,
            noun=noun,
            size=size,
            more=more,
            causes=causes,
        )
    return text(
        "Between {partners}, the curve of {noun}, of {run} bends near {size}, where a message takes {more}: "
        "{causes}.",
        partners=place,
        noun=noun,
        run=together.label(way),
        size=size,
        more=more,
        causes=causes,
    )


def _is_many(subject: str) -> bool:
    """Whether English has the verb in the form of many: `two nodes have`."""
    return subject.startswith("two ")


def _largest(together: Together) -> Iterator[Bend]:
    """Of each run and pattern, between nodes and inside one, the bend that costs the largest factor."""

    def key(each: Bend) -> tuple[str, str, bool]:
        way = together.ways[each.way]
        return way.run, way.pattern, way.between

    for members in choose.grouped(together.several.bends, key).values():
        yield max(members, key=lambda each: each.factor[0])


def near(size: float) -> str:
    """A size that lies between others, in bytes as far as these can be read: `2048 B`, `17.3 KiB`."""
    if size < _PLAIN_BYTES:
        return f"{round(size)} B"
    return f"{size / 2**20:.3g} MiB" if size >= 2**20 else f"{size / 2**10:.4g} KiB"


def _size(size: float) -> str:
    return words.param(round(size), "B")


def _counted(way: Way) -> str:
    return messages.counted(way.pattern)


def are_without_samples(estimates: Iterable[Estimate]) -> bool:
    """Whether one of them was imported or published."""
    return any(estimate.method == "imported" for estimate in estimates)
