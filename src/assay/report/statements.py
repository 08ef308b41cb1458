"""Statements on two figures that are compared: records that become a sentence once, at the edge."""

from typing import Literal

import msgspec

from assay.model.comparison import Comparison
from assay.model.quantity import Quantity
from assay.model.result import Estimate
from assay.model.text import Text, filled, joined, text
from assay.model.units import decimals, scale
from assay.report import formatting, verdicts

#: `more`: certain and beyond the margin; `trivial`: certain, within the margin; `same`: proven within the margin;
#: `open`: seen, but not certain; `printed`: figures without samples, which cannot be tested.
Relation = Literal["more", "trivial", "same", "open", "printed"]
_RELATIONS: dict[str, Relation] = {
    "faster": "more", "slower": "more", "trivially different": "trivial", "equivalent": "same",
}  # fmt: skip
#: Units of figures that are neither a rate nor a time.
NO_SPEED = ("", "share", "B")
#: What a ratio is of, and the verb -> the words of the ratio.
_CLAIMS: dict[tuple[str, str], Text] = {
    ("speed", "is"): text("{a} is {times} as fast as {b}"),
    ("speed", "are"): text("{a} are {times} as fast as {b}"),
    ("speed", "seen"): text("{a} ran {times} as fast as {b}"),
    ("time", "is"): text("{a} takes {times} as long as {b}"),
    ("time", "are"): text("{a} take {times} as long as {b}"),
    ("time", "seen"): text("{a} took {times} as long as {b}"),
    ("number", "is"): text("{a} is {times} as large as {b}"),
    ("number", "are"): text("{a} are {times} as large as {b}"),
    ("number", "seen"): text("{a} came out {times} as large as {b}"),
}
#: Ratios nearer to 1 are written with three decimals.
_NEAR = 0.02
#: From here on a time in µs is written with two digits.
_MANY = 10.0
#: Ratios that differ by less are printed alike.
_ROUNDED = 1e-6


class Named(msgspec.Struct, frozen=True):
    """A figure under the words in which it differs from the other one.

    Attributes:
        name: `network SCI`, `two sockets`; of the base of a ratio, too.
        estimate: the figure.
        by: the same after a verb, `with network SCI`, `between two sockets`; of times of messages only.
    """

    name: str
    estimate: Estimate
    by: str = ""

    @property
    def value(self) -> Quantity:
        """The figure with its ends."""
        return self.estimate.value or Quantity(0.0, 0.0, 0.0)


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of two figures of the same quantity.

    Attributes:
        kind: heading of its group on a page.
        more: the one that is said to be faster; of times, to take longer; else to be larger.
        less: the other one, the base of the ratio.
        ratio: more / less.
        relation: how certain that is.
        noun: the quantity, within a sentence.
        context: what both share, before the sentence.
        at: the value of the axis at which both are compared, in words.
        message: the message that takes a time, `a message of 8 B`; empty for other quantities.
        apart: more - less, in their unit; of times of messages.
        comparison: whose ratio it is; None for figures that no test can compare.
        plural: whether the names are plural.
        of_speeds: whether a time is said as a speed: `more` is then the shorter one, and the ratio that of speeds.
    """

    kind: str
    more: Named
    less: Named
    ratio: Quantity
    relation: Relation
    noun: str
    context: str = ""
    at: str = ""
    message: str = ""
    apart: Quantity | None = None
    comparison: Comparison | None = None
    plural: bool = False
    of_speeds: bool = False

    @property
    def medians(self) -> float:
        """The ratio of the two medians, as the ratio is meant."""
        ratio = self.more.value.value / self.less.value.value
        return 1 / ratio if self.of_speeds and self.more.estimate.better == "lower" else ratio

    @property
    def is_unlike_medians(self) -> bool:
        """Whether the ratio of the two medians, which the sentence shows, does not look like the ratio.

        It is outside its ends, or in the other direction although the words have one. A ratio of one pair of
        launches has no ends: it is that of the medians unless these have more launches.
        """
        if not self.ratio.has_ends:
            paired = self.comparison is not None and self.comparison.blocks > 0
            return paired and abs(self.medians / self.ratio.value - 1) > _ROUNDED
        turned = self.medians < 1 and self.relation != "same"
        return turned or not self.ratio.lo <= self.medians <= self.ratio.hi

    @property
    def is_equal(self) -> bool:
        """Whether two figures without samples are printed alike."""
        return self.relation == "printed" and _shown(self.more) == _shown(self.less)

    @property
    def text(self) -> str:
        """The sentence."""
        values = text("{a} against {b}", a=_shown(self.more), b=_shown(self.less))
        sentence: str
        if self.kind == "figure":
            sentence = text("{noun}: {claim}; {values}", noun=self.noun, claim=self.claim, values=values)
        elif self.message:
            sentence = text("{claim}: {values}", claim=self._of_message(), values=values)
        else:
            sentence = text(
                "{claim} at {size} ({noun}): {values}",
                claim=self.claim,
                size=self.at,
                noun=self.noun,
                values=values,
            )
        if self.is_unlike_medians:
            paired = bool(self.comparison and self.comparison.blocks)
            note = text("the ratio is of pairs of launches") if paired else text("the ratio is of all launches")
            sentence = joined("; ", (sentence, note))
        return formatting.sentence(joined("; ", (joined(", ", (self.context, sentence)), self._doubt())))

    def _doubt(self) -> str:
        """What limits the statement: the margin, or what is missing for a claim."""
        margin = formatting.percent(self.comparison.margin if self.comparison else 0.0)
        if self.relation == "trivial":
            return text("that is less than the margin of {margin}", margin=margin)
        if self.relation == "open" and self.comparison:
            return text("not certain: {missing}", missing=verdicts.missing(self.comparison))
        return ""

    @property
    def claim(self) -> str:
        """The ratio in words, without the figures: `network SCI is 25.0 times as fast as network gbe`."""
        words = {"a": self.more.name, "b": self.less.name}
        if self.relation == "same" and self.comparison:
            margin = formatting.percent(self.comparison.margin)
            return text("{a} and {b} are the same within {margin}", margin=margin, **words)
        if self.is_equal:
            return text("{a} and {b} have equal figures", **words)
        verb = "seen" if self.relation == "open" else "are" if self.plural else "is"
        unit = "speed" if self.of_speeds else unit_of(self.more.estimate)
        return filled(_CLAIMS[unit, verb], {**words, "times": times(self.ratio)})

    def _of_message(self) -> str:
        words = {"message": self.message, "a": self.more.by, "b": self.less.by}
        if self.relation == "same" and self.comparison:
            margin = formatting.percent(self.comparison.margin)
            return text("{message} takes the same time {a} and {b} within {margin}", margin=margin, **words)
        if self.is_equal:
            return text("{message} takes equal times {a} and {b}", **words)
        words["times"] = times(self.ratio)
        claim: str = (
            text("{message} took {times} as long {a} as {b}", **words)
            if self.relation == "open"
            else text("{message} takes {times} as long {a} as {b}", **words)
        )
        if self.apart is None or self.relation == "open":
            return claim
        return text("{claim}, about {time} more", claim=claim, time=roughly(self.apart.value))


def difference(comparison: Comparison, a: Named, b: Named, noun: str, *, of_speeds: bool = False) -> Difference:
    """Return the statement on two figures of a comparison.

    Args:
        comparison: of `a` with `b`.
        a: the judged one.
        b: the base.
        noun: the quantity, and what both share.
        of_speeds: whether a time is said as a speed.
    """
    shown = verdicts.speeds(comparison, a.estimate.better) if of_speeds else comparison
    more, less, ratio = upright(shown, a, b)
    return Difference(
        kind="figure",
        more=more,
        less=less,
        ratio=ratio,
        relation=relation(comparison),
        noun=noun,
        comparison=comparison,
        of_speeds=of_speeds,
    )


def upright(comparison: Comparison, a: Named, b: Named) -> tuple[Named, Named, Quantity]:
    """Return the figure that is said to be larger, the other one, and the ratio of the two, which is 1 or more."""
    ratio = comparison.value
    return (a, b, ratio) if ratio.value >= 1 else (b, a, ratio.inverse(ratio.unit))


def relation(comparison: Comparison) -> Relation:
    """Return how certain the ratio of a comparison is."""
    if verdicts.has_no_samples(comparison):
        return "printed"
    return _RELATIONS.get(comparison.verdict, "open")


def unit_of(estimate: Estimate) -> str:
    """Return whether a figure is a `speed`, a `time`, or a `number`, as shares, counts and sizes are."""
    if estimate.unit == "s":
        return "time"
    return "number" if estimate.unit in NO_SPEED or estimate.better == "lower" else "speed"


def times(ratio: Quantity) -> str:
    """Return a ratio with its ends: `28.7 times`, `2.25 [2.21, 2.29] times`, `2.25 (2.1 to 2.4) times`."""
    digits = 3 if 0 < abs(ratio.value - 1) < _NEAR else decimals(ratio.value)
    value, lo, hi = (f"{each:.{digits}f}" for each in ratio)
    if ratio.has_interval:
        value = f"{value} [{lo}, {hi}]"
    elif ratio.has_ends and ratio.lo < ratio.hi:
        value = text("{value} ({basis})", value=value, basis=text("{low} to {high}", low=lo, high=hi))
    # Plural forms are chosen by a whole number; in Russian a fraction has the form of 2: 28,7 раза, 136 раз.
    whole = 2 if digits else round(ratio.value)
    return text("{factor} times|{factor} times", factor=value, count=whole)


def roughly(seconds: float) -> str:
    """Return a time to a tenth of a microsecond, from 100 µs on to three digits: `0.6 µs`, `24 µs`, `136 µs`."""
    micros = 1e6 * seconds
    if 0.1 <= micros < _MANY:  # noqa: PLR2004 (the last digit that is written)
        return f"{micros:.1f} µs"
    digits = 3 if micros >= _MANY**2 else 2
    value, unit = scale(float(f"{seconds:.{digits}g}"), "s")
    return f"{value:g} {unit}"


def _shown(named: Named) -> str:
    return formatting.shown(named.estimate).short
