"""What curves beside each other show, in plain words with figures: as the authors of studies write it."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from assay.model.result import Estimate
from assay.model.several import PLACE, RUN, AtSize, Bend, Beside, Crossover, Way
from assay.model.units import scale
from assay.report import choose, messages, words
from assay.report.several.together import Together

Kind = Literal["bandwidth", "latency", "crossover", "bend"]
#: Nearer than this two published figures are nearly the same.
_SAME = 0.02
#: Larger ratios are told as whole numbers, from `_TWICE` on as factors.
_MANY, _TWICE = 10.0, 2.0
#: Larger sizes are told in KiB and MiB.
_PLAIN_BYTES = 16384
_EAGER = "eager messages to a rendezvous"
NO_SAMPLES = (
    "Figures that were imported or published are means without samples: their ratios and differences are shown as "
    "they follow from the figures, and nothing is said to be significant."
)


@dataclass(frozen=True)
class Statement:
    """A sentence, and what it is about."""

    kind: Kind
    text: str


def statements(together: Together) -> list[Statement]:
    """All sentences: how far apart curves are, where one overtakes another, where they bend."""
    besides = together.several.besides
    apart = [_apart(together, beside) for beside in besides]
    crossed = [
        Statement("crossover", _crossed(together, beside, each))
        for beside in besides
        for each in beside.crossovers
    ]
    bends = [Statement("bend", bend(together, each)) for each in _largest(together)]
    ordered = [said for kind in ("bandwidth", "latency") for said in apart if said.kind == kind]
    return [*ordered, *crossed, *bends]


def _apart(together: Together, beside: Beside) -> Statement:
    """How far apart two curves are: at the largest message in bandwidth, at the smallest in time."""
    if together.ways[beside.a].better == "higher":
        return Statement("bandwidth", _sentence(_more_bandwidth(together, beside, beside.points[-1])))
    return Statement("latency", _sentence(_more_time(together, beside, beside.points[0])))


def _sentence(parts: tuple[str, str]) -> str:
    context, text = parts
    return words.sentence(f"{context}, {text}" if context else text)


def _more_bandwidth(together: Together, beside: Beside, point: AtSize) -> tuple[str, str]:
    """Context, and the words of a ratio."""
    better, worse, ratio = _ordered(together, beside, point)
    values = _values(together, better, worse, point.bytes)
    names = [together.subject(beside, way) for way in (better, worse)]
    size = words.param(point.bytes, "B")
    noun = "bandwidth" if better.pattern == "bandwidth" else f"bandwidth ({_counted(better)})"
    context = together.context(beside)
    if _is_unclear(point):
        return context, f"no difference in {noun} is certain between {names[0]} and {names[1]} at {size}: {values}"
    if same := _same(point, ratio):
        return context, f"{names[0]} and {names[1]} have {same} {noun} at {size}: {values}"
    return (
        context,
        f"{names[0]} {_verb(names[0], 'has', 'have')} {times(ratio)} the {noun} of {names[1]} at {size}: {values}",
    )


def _more_time(together: Together, beside: Beside, point: AtSize) -> tuple[str, str]:
    quick, slow, ratio = _ordered(together, beside, point)
    values = _values(together, slow, quick, point.bytes)
    of_slow, of_quick = (together.subject(beside, way) for way in (slow, quick))
    message = "an empty message" if not point.bytes else f"a message of {words.param(point.bytes, 'B')}"
    context = together.context(beside)
    by = {RUN: "on", PLACE: "between"}.get(beside.differ, "with")
    if _is_unclear(point):
        return (
            context,
            f"no difference in the time of {message} is certain between {of_quick} and {of_slow}: {values}",
        )
    if same := _same(point, ratio):
        return context, f"{message} takes {same} time {by} {of_slow} and {by} {of_quick}: {values}"
    more = f"about {roughly(abs(point.difference[0]))} more latency"
    factor = f" ({times(ratio)} as long)" if ratio >= _TWICE else ""
    return context, f"{message} has {more}{factor} {by} {of_slow} than {by} {of_quick}: {values}"


def _ordered(together: Together, beside: Beside, point: AtSize) -> tuple[Way, Way, float]:
    """The better curve at this size, the worse one, and how many times as good it is."""
    a, b = together.ways[beside.a], together.ways[beside.b]
    ratio = point.comparison.ratio if a.better == "higher" else 1 / point.comparison.ratio
    return (a, b, ratio) if ratio >= 1 else (b, a, 1 / ratio)


def _same(point: AtSize, ratio: float) -> str:
    """That both are alike, in words; empty where they are not."""
    if point.comparison.verdict == "equivalent":
        return "the same (within 1 %)"
    return "nearly the same" if point.comparison.confidence is None and ratio < 1 + _SAME else ""


def _is_unclear(point: AtSize) -> bool:
    """Whether launches show no difference: an interval that decides nothing, a range on both sides of 1."""
    comparison = point.comparison
    if comparison.confidence is not None:
        return comparison.verdict == "inconclusive"
    return comparison.lo < 1 < comparison.hi


def _values(together: Together, first: Way, second: Way, size: int) -> str:
    """Both figures with their intervals."""
    shown = [figure.short for way in (first, second) if (figure := words.shown(together.at(way, size)))]
    return " against ".join(shown)


def times(ratio: float) -> str:
    """A factor in words: `1.52 times`, `3.0 times`, `25 times`, `more than 28 times`."""
    if ratio < _MANY:
        return f"{ratio:.1f} times" if ratio >= _TWICE else f"{ratio:.2f} times"
    whole = math.floor(ratio + 1e-6)
    return f"{'more than ' if ratio - whole > 0.05 else ''}{whole:,} times"  # noqa: PLR2004 (a rounded figure)


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
    sure = "" if each.certain else ", of figures without intervals"
    context = together.context(beside)
    text = (
        f"{after} {_verb(after, 'overtakes', 'overtake')} {before} near {near(at)} ({noun}); the curves cross "
        f"between {_size(low)} and {_size(high)}{sure}"
    )
    return _sentence((context, text))


def bend(together: Together, each: Bend) -> str:
    """Where a curve bends, by how much, and what may be the cause."""
    way = together.ways[each.way]
    of = f" of {together.label(way)}" if together.label(way) else ""
    protocol = [cause for cause in each.rivals if _EAGER in cause]
    others = [cause for cause in each.rivals if cause not in protocol]
    cause = f"a change of protocol ({protocol[0]})" if protocol else "a change of protocol"
    value, unit = scale(each.seconds, "s")
    more = f"{times(each.factor[0])} as long ({value:.{words.decimals(value)}f} {unit} more)"
    text = (
        f"between {together.way(way)}, the curve of {_counted(way)},{of} bends near {near(each.bytes)}, where a "
        f"message takes {more}: {', or '.join([cause, *others])}"
    )
    return words.sentence(text)


def _verb(subject: str, one: str, many: str) -> str:
    return many if subject.startswith("two ") else one


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
    return messages.COUNTED.get(way.pattern, way.pattern).lower()


def are_without_samples(estimates: Iterable[Estimate]) -> bool:
    """Whether one of them was imported or published."""
    return any(estimate.method == "imported" for estimate in estimates)
