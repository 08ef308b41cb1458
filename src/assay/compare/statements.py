"""Sentences with figures that compare curves and other figures."""

import math
from collections.abc import Iterator
from typing import Literal

import msgspec

from assay.compare import contrast_statements
from assay.compare.phrases import SAME, TWICE, figure, near, roughly, times, unit, value
from assay.compare.records import (
    PLACE,
    PROGRAM,
    RUN,
    Crossover,
    Curve,
    CurvePair,
    CurveStep,
    MessageCurve,
    PairPoint,
)
from assay.compare.sides import Sides, location
from assay.model.text import Text, joined, text
from assay.report import formatting, messages, selection
from assay.report.vocabulary import known

Kind = Literal["rate", "time", "curve", "figure", "crossover", "jump", "saturated"]
#: Maximum number of sentences on pairs of curves that are not of messages.
_MOST = 12
NO_SAMPLES = text(
    "Imported and published figures are means without samples: no difference between them can be tested."
)


class Statement(msgspec.Struct, frozen=True):
    """A sentence and its kind."""

    kind: Kind
    text: str


def statements(sides: Sides) -> list[Statement]:
    """Return all sentences: differences of curves (the widest first), crossovers, jumps, saturation."""
    pairs = sides.found.pairs
    differences = [
        _difference(sides, pair)
        for pair in widest(sides)
        if isinstance(sides.curves[pair.a], MessageCurve) or not _is_unclear(decisive(sides, pair))
    ]
    found = [each for kind in ("rate", "time") for each in differences if each.kind == kind]
    found += [each for each in differences if each.kind == "curve"][:_MOST]
    found += [Statement("figure", each) for each in contrast_statements.sentences(sides)]
    found += [Statement("crossover", _crossed(sides, pair, each)) for pair in pairs for each in pair.crossovers]
    found += [Statement("jump", jump(sides, each)) for each in _largest(sides)]
    return [*found, *(Statement("saturated", each) for each in _saturated(sides))]


def widest(sides: Sides) -> list[CurvePair]:
    """Return the pairs of curves, the widest difference first."""
    return sorted(sides.found.pairs, key=lambda each: -abs(math.log(decisive(sides, each).comparison.ratio)))


def _saturated(sides: Sides) -> Iterator[str]:
    """A sentence for each pattern with the sizes of saturation; no sentence on times if there is one on rates."""
    sizes: dict[str, list[str]] = {}
    for pattern, curves in selection.grouped(sides.of_messages.values(), lambda curve: curve.pattern).items():
        names = sides.series(curves)
        for curve in curves:
            law = sides.law(curve)
            if law and law.saturation:
                size = near(law.saturation.value)
                sizes.setdefault(pattern, []).append(text("{value} ({basis})", value=size, basis=names[curve.id]))
    if len(sizes) > 1:
        sizes.pop(messages.LATENCY, None)
    for pattern, named in sizes.items():
        yield text(
            "Saturated from these sizes on ({noun}): {sizes}.",
            noun=messages.counted(pattern),
            sizes=formatting.listed(named),
        )


def decisive(sides: Sides, pair: CurvePair) -> PairPoint:
    """Return the point at which two curves are compared in words.

    For messages it is the largest size, for their times the smallest. For other curves it is the point with the
    widest difference that is certain or has no samples, else the largest value.
    """
    curve = sides.curves[pair.a]
    if isinstance(curve, MessageCurve):
        return pair.points[0 if curve.better == "lower" else -1]
    candidates = [each for each in pair.points if each.comparison.confidence is None or not _is_unclear(each)]
    return max(candidates[::-1], key=lambda each: abs(math.log(each.comparison.ratio)), default=pair.points[-1])


def _difference(sides: Sides, pair: CurvePair) -> Statement:
    """The difference of two curves."""
    point, curve = decisive(sides, pair), sides.curves[pair.a]
    if not isinstance(curve, MessageCurve):
        return Statement("curve", formatting.sentence(_more(sides, pair, point)))
    kind: Kind = "time" if curve.better == "lower" else "rate"
    sentence = (_more_time if kind == "time" else _more)(sides, pair, point)
    return Statement(kind, formatting.sentence(joined(", ", (sides.context(pair), sentence))))


def _more(sides: Sides, pair: CurvePair, point: PairPoint) -> str:
    """The ratio of two rates in words; of times that are not of messages the longer one comes first."""
    first, second, ratio = _ordered(sides, pair, point)
    if first.better == "lower":
        first, second = second, first
    names = {"a": sides.subject(pair, first), "b": sides.subject(pair, second)}
    rest = {
        "noun": _noun(sides, pair),
        "size": value(first, point.at),
        "values": _values(sides, first, second, point.at),
    }
    if _is_unclear(point):
        return text("no certain difference in {noun} between {a} and {b} at {size}: {values}", **names, **rest)
    if same := _same(point, ratio):
        return text("{a} and {b} have {same} {noun} at {size}: {values}", same=same, **names, **rest)
    return text(
        "{a} have {times} the {noun} of {b} at {size}: {values}"
        if pair.differ == PLACE
        else "{a} has {times} the {noun} of {b} at {size}: {values}",
        times=times(ratio),
        **names,
        **rest,
    )


def _noun(sides: Sides, pair: CurvePair) -> str:
    """The quantity, within a sentence; with what both curves share if they are not of messages."""
    curve = sides.curves[pair.a]
    if isinstance(curve, MessageCurve):
        counted = messages.counted(curve.pattern)
        plain = curve.pattern == messages.ONE
        return text("bandwidth") if plain else text("bandwidth ({what})", what=counted)
    noun: str = known(curve.metric)
    if curve.kernel != curve.metric:
        noun = text("{kernel} {metric}", kernel=curve.kernel, metric=noun)
    context = sides.context(pair)
    return text("{value} ({basis})", value=noun, basis=context) if context else noun


def _more_time(sides: Sides, pair: CurvePair, point: PairPoint) -> str:
    """The ratio of two times of messages in words."""
    quick, slow, ratio = _ordered(sides, pair, point)
    values = _values(sides, slow, quick, point.at)
    of_slow, of_quick = (sides.subject(pair, curve) for curve in (slow, quick))
    size = value(slow, point.at)
    message = text("a message of {size}", size=size) if point.at else text("an empty message")
    if isinstance(slow, MessageCurve) and slow.pattern != messages.LATENCY:
        message = text("{value} ({basis})", value=message, basis=messages.counted(slow.pattern))
    if _is_unclear(point):
        return text(
            "no certain difference in the time of {message} between {a} and {b}: {values}",
            message=message,
            a=of_quick,
            b=of_slow,
            values=values,
        )
    parts = {"message": message, "a": _by(pair, of_slow), "b": _by(pair, of_quick)}
    if same := _same(point, ratio):
        return text("{message} takes {same} time {a} and {b}: {values}", same=same, values=values, **parts)
    more = text("about {time} more latency", time=roughly(abs(point.difference.value)))
    if ratio >= TWICE:
        more = text("{more} ({times} as long)", more=more, times=times(ratio))
    else:
        values = text("{values}, {times} as long", values=values, times=times(ratio))
    return text("{message} has {more} {a} than {b}: {values}", more=more, values=values, **parts)


def _by(pair: CurvePair, subject: str) -> Text:
    """`on hpcdiy-gbe`, `between two sockets`, `with mpi mpich`."""
    if pair.differ == RUN:
        return text("on {system}", system=subject)
    if pair.differ == PROGRAM:
        return text("by {program}", program=subject)
    if pair.differ == PLACE:
        return text("between {partners}", partners=subject)
    return text("with {level}", level=subject)


def _ordered(sides: Sides, pair: CurvePair, point: PairPoint) -> tuple[Curve, Curve, float]:
    """Return the better curve at this value, the worse one, and the ratio of better to worse."""
    a, b = sides.curves[pair.a], sides.curves[pair.b]
    ratio = point.comparison.ratio if a.better == "higher" else 1 / point.comparison.ratio
    return (a, b, ratio) if ratio >= 1 else (b, a, 1 / ratio)


def _same(point: PairPoint, ratio: float) -> str:
    """`the same`, `nearly the same`, or empty."""
    if point.comparison.verdict == "equivalent":
        return text("the same (within 1 %)")
    return text("nearly the same") if point.comparison.confidence is None and ratio < 1 + SAME else ""


def _is_unclear(point: PairPoint) -> bool:
    """Whether launches show no difference: the interval is inconclusive, or the range contains 1."""
    comparison = point.comparison
    if comparison.confidence is not None:
        return comparison.verdict == "inconclusive"
    return comparison.lo < 1 < comparison.hi


def _values(sides: Sides, first: Curve, second: Curve, at: int) -> str:
    """Both figures with their intervals."""
    return text("{a} against {b}", a=figure(sides.at(first, at)), b=figure(sides.at(second, at)))


def _crossed(sides: Sides, pair: CurvePair, each: Crossover) -> str:
    curve = sides.curves[pair.a]
    before, after = (sides.subject(pair, sides.curves[name]) for name in (each.before, each.after))
    sentence = text(
        "{after} overtake {before} near {size} ({noun}); the curves cross between {low} and {high}"
        if pair.differ == PLACE
        else "{after} overtakes {before} near {size} ({noun}); the curves cross between {low} and {high}",
        after=after,
        before=before,
        size=near(each.at.value) if unit(curve) == "B" else value(curve, each.at.value),
        noun=messages.counted(curve.pattern) if isinstance(curve, MessageCurve) else _noun(sides, pair),
        low=value(curve, each.at.lo),
        high=value(curve, each.at.hi),
    )
    unsure = "" if each.certain else text("figures without intervals")
    context = sides.context(pair) if isinstance(curve, MessageCurve) else ""
    return formatting.sentence(joined(", ", (context, joined(", ", (sentence, unsure)))))


def jump(sides: Sides, each: CurveStep) -> str:
    """Return a sentence: at which size the time of a message jumps, by how much, and the possible causes."""
    curve = sides.of_messages[each.curve]
    more = text(
        "{times} as long ({time} more)",
        times=times(each.factor.value),
        time=formatting.quantity(each.seconds, "s"),
    )
    sentence = text(
        "a message takes {more} from {size} on ({noun}). Possible causes: {causes}",
        more=more,
        size=near(each.bytes),
        noun=messages.counted(curve.pattern),
        causes=joined("; ", each.rivals),
    )
    return formatting.sentence(joined(", ", (location(sides.label(curve.run), sides.place(curve)), sentence)))


def _largest(sides: Sides) -> Iterator[CurveStep]:
    """The step with the largest factor of each run and pattern, between nodes and inside one."""

    def key(each: CurveStep) -> tuple[str, str, bool]:
        curve = sides.of_messages[each.curve]
        return curve.run, curve.pattern, curve.between

    for members in selection.grouped(sides.found.steps, key).values():
        yield max(members, key=lambda each: each.factor.value)
