"""Statements on curves and other figures of several runs: the widest first, then where curves cross and jump."""

import math
from collections.abc import Iterator
from typing import Literal, get_args

import msgspec

from assay.analyse.messages.curves import BYTES
from assay.compare import contrast_statements
from assay.compare.contrast_statements import Spread
from assay.compare.phrases import near, unit, value
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
from assay.model.quantity import Quantity, exact
from assay.model.text import Text, joined, text
from assay.report import formatting, messages, selection
from assay.report.statements import Difference, Named, relation, times, upright
from assay.report.vocabulary import known

Kind = Literal["rate", "time", "curve", "figure", "crossover", "jump", "saturated"]
#: Maximum number of sentences on pairs of curves that are not of messages.
_MOST = 12
NO_SAMPLES = text(
    "Imported and published figures are means without samples: no difference between them can be tested."
)


class Crossing(msgspec.Struct, frozen=True, kw_only=True):
    """One curve is better below a value of the axis, the other one above.

    Attributes:
        crossover: where, and whether intervals prove it.
        before: the words of the curve that is better below.
        after: of the one that is better above.
        low: the ratio at the last value below; above 1 the one `before` is better.
        high: the ratio at the first value above; below 1 the one `after` is better.
        noun: the quantity, within a sentence.
        near: the crossing in words.
        ends: the two values in words.
        context: what both share.
        plural: whether the names are plural.
    """

    crossover: Crossover
    before: str
    after: str
    low: Quantity
    high: Quantity
    noun: str
    near: str
    ends: tuple[str, str]
    context: str
    plural: bool
    kind: Kind = "crossover"

    @property
    def text(self) -> str:
        """The sentence."""
        sentence = text(
            "{after} overtake {before} near {size} ({noun}); the curves cross between {low} and {high}"
            if self.plural
            else "{after} overtakes {before} near {size} ({noun}); the curves cross between {low} and {high}",
            after=self.after,
            before=self.before,
            size=self.near,
            noun=self.noun,
            low=self.ends[0],
            high=self.ends[1],
        )
        unsure = "" if self.crossover.certain else text("figures without intervals")
        return formatting.sentence(joined(", ", (self.context, joined(", ", (sentence, unsure)))))


class Jump(msgspec.Struct, frozen=True, kw_only=True):
    """The time of a message jumps at a size.

    Attributes:
        step: where, by how much, and the possible causes.
        after: the time of the first message after it.
        noun: the quantity, within a sentence.
        context: whose message it is.
    """

    step: CurveStep
    after: Quantity
    noun: str
    context: str
    kind: Kind = "jump"

    @property
    def text(self) -> str:
        """The sentence."""
        sentence = text(
            "from {size} on a message takes {times} as long as just below, {time} more ({noun}). Possible causes: "
            "{causes}",
            times=times(self.step.factor),
            time=formatting.quantity(self.step.seconds, "s"),
            size=near(self.step.bytes),
            noun=self.noun,
            causes=joined("; ", self.step.rivals),
        )
        return formatting.sentence(joined(", ", (self.context, sentence)))


class Saturated(msgspec.Struct, frozen=True, kw_only=True):
    """The sizes from which on the time of a message grows with its size alone.

    Attributes:
        noun: the quantity, within a sentence.
        sizes: name of a curve, the size, and the last size that was measured.
    """

    noun: str
    sizes: tuple[tuple[str, Quantity, int], ...]
    kind: Kind = "saturated"

    @property
    def text(self) -> str:
        """The sentence."""
        sizes = (text("{name} from {size} on", name=name, size=near(size.value)) for name, size, _ in self.sizes)
        return text("Saturated ({noun}): {sizes}.", noun=self.noun, sizes=formatting.listed(sizes))


Statement = Difference | Spread | Crossing | Jump | Saturated


def statements(sides: Sides) -> list[Statement]:
    """Return all statements: differences of curves (the widest first), crossovers, jumps, saturation."""
    pairs = sides.found.pairs
    differences = [
        difference(sides, pair, point)
        for pair, point in ranked(sides)
        if isinstance(sides.curves[pair.a], MessageCurve) or relation(point.comparison) != "open"
    ]
    found: list[Statement] = [each for kind in ("rate", "time") for each in differences if each.kind == kind]
    found += [each for each in differences if each.kind == "curve"][:_MOST]
    found += contrast_statements.statements(sides)
    found += [_crossing(sides, pair, each) for pair in pairs for each in pair.crossovers]
    found += [jump(sides, each) for each in _largest(sides)]
    found += _saturated(sides)
    return sorted(found, key=lambda each: get_args(Kind).index(each.kind))


def ranked(sides: Sides) -> list[tuple[CurvePair, PairPoint]]:
    """Return the pairs of curves, each at the value at which words compare it; the widest difference first."""
    found = [(pair, decisive(sides, pair)) for pair in sides.found.pairs]
    return sorted(found, key=lambda each: -width(each[1]))


def width(point: PairPoint) -> float:
    """Return how far the ratio is from 1, as a logarithm."""
    return abs(math.log(point.comparison.ratio))


def _saturated(sides: Sides) -> Iterator[Saturated]:
    """The sizes of saturation for each pattern; not of times if there are some of rates."""
    sizes: dict[str, list[tuple[str, Quantity, int]]] = {}
    for pattern, curves in selection.grouped(sides.of_messages.values(), lambda curve: curve.pattern).items():
        names = sides.series(curves)
        for curve in curves:
            law = sides.law(curve)
            if law and law.saturation:
                sizes.setdefault(pattern, []).append((names[curve.id], law.saturation, curve.at[-1]))
    if len(sizes) > 1:
        sizes.pop(messages.LATENCY, None)
    for pattern, named in sizes.items():
        yield Saturated(noun=messages.counted(pattern), sizes=tuple(named))


def decisive(sides: Sides, pair: CurvePair) -> PairPoint:
    """Return the point at which two curves are compared in words.

    For messages it is the largest size, for their times the smallest. For other curves it is the point with the
    widest difference that is certain or has no samples, else the largest value.
    """
    curve = sides.curves[pair.a]
    if isinstance(curve, MessageCurve):
        return pair.points[0 if curve.better == "lower" else -1]
    candidates = [each for each in pair.points if relation(each.comparison) != "open"]
    return max(candidates[::-1], key=width, default=pair.points[-1])


def difference(sides: Sides, pair: CurvePair, point: PairPoint) -> Difference:
    """Return the statement on two curves at one value of their axis."""
    curve, base = sides.curves[pair.a], sides.curves[pair.b]
    a, b = (_named(sides, pair, each, point.at) for each in (curve, base))
    more, less, ratio = upright(point.comparison, a, b)
    of_messages = isinstance(curve, MessageCurve)
    timed = of_messages and curve.better == "lower"
    apart = point.difference if more is a else _negative(point.difference)
    return Difference(
        kind="time" if timed else "rate" if of_messages else "curve",
        more=more,
        less=less,
        ratio=ratio,
        relation=relation(point.comparison),
        noun=_noun(sides, pair),
        context=sides.context(pair) if of_messages else "",
        at=value(curve, point.at),
        message=_message(curve, point.at) if timed else "",
        apart=apart if timed and apart.value > 0 else None,
        comparison=point.comparison,
        plural=pair.differ == PLACE,
    )


def _named(sides: Sides, pair: CurvePair, curve: Curve, at: int) -> Named:
    name = sides.subject(pair, curve)
    return Named(name, sides.at(curve, at), _by(sides, pair, name))


def _noun(sides: Sides, pair: CurvePair) -> str:
    """The quantity, within a sentence; with what both curves share if they are not of messages."""
    curve = sides.curves[pair.a]
    if isinstance(curve, MessageCurve):
        return messages.counted(curve.pattern)
    noun: str = known(curve.metric)
    if curve.kernel != curve.metric:
        noun = text("{kernel} {metric}", kernel=curve.kernel, metric=noun)
    return joined(", ", (noun, sides.context(pair)))


def _message(curve: Curve, at: int) -> str:
    """`a message of 8 B`, with its pattern unless it waits for an answer."""
    message = text("a message of {size}", size=value(curve, at)) if at else text("an empty message")
    if isinstance(curve, MessageCurve) and curve.pattern != messages.LATENCY:
        return text("{value} ({basis})", value=message, basis=messages.counted(curve.pattern))
    return message


def _by(sides: Sides, pair: CurvePair, subject: str) -> Text:
    """`on hpcdiy-gbe`, `between two sockets`, `with mpi mpich`."""
    if pair.differ == RUN and not sides.factor:
        return text("on {system}", system=subject)
    if pair.differ == PROGRAM:
        return text("by {program}", program=subject)
    if pair.differ == PLACE:
        return text("between {partners}", partners=subject)
    return text("with {level}", level=subject)


def _negative(apart: Quantity) -> Quantity:
    return msgspec.structs.replace(apart, value=-apart.value, lo=-apart.hi, hi=-apart.lo)


def _crossing(sides: Sides, pair: CurvePair, each: Crossover) -> Crossing:
    curve = sides.curves[pair.a]
    ratios = {point.at: point.comparison.value for point in pair.points}
    low, high = (ratios[int(end)] for end in (each.at.lo, each.at.hi))
    if (each.before == pair.a) != (curve.better == "higher"):
        low, high = low.inverse(""), high.inverse("")
    before, after = (sides.subject(pair, sides.curves[name]) for name in (each.before, each.after))
    return Crossing(
        crossover=each,
        before=before,
        after=after,
        low=low,
        high=high,
        noun=_noun(sides, pair),
        near=near(each.at.value) if unit(curve) == "B" else value(curve, each.at.value),
        ends=(value(curve, each.at.lo), value(curve, each.at.hi)),
        context=sides.context(pair) if isinstance(curve, MessageCurve) else "",
        plural=pair.differ == PLACE,
    )


def jump(sides: Sides, each: CurveStep) -> Jump:
    """Return the statement on a jump: at which size the time of a message jumps, by how much, possible causes."""
    curve = sides.of_messages[each.curve]
    law = sides.law(curve)
    after = next(point.value for point in law.points if point.at[BYTES] == each.bytes) if law else exact(0.0, "s")
    context = location(sides.label(curve.run), sides.place(curve))
    return Jump(step=each, after=after, noun=messages.counted(curve.pattern), context=context)


def _largest(sides: Sides) -> Iterator[CurveStep]:
    """The step with the largest factor of each run and pattern, between nodes and inside one."""

    def key(each: CurveStep) -> tuple[str, str, bool]:
        curve = sides.of_messages[each.curve]
        return curve.run, curve.pattern, curve.between

    for members in selection.grouped(sides.found.steps, key).values():
        yield max(members, key=lambda each: each.factor.value)
