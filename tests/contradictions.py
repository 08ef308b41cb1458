"""Finds statements that contradict their own numbers: words, direction, ratio, interval, difference, maximum.

Each check takes the numbers from the record of a line, never from its prose.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

from assay.compare.contrast_statements import Spread
from assay.compare.records import RUN
from assay.compare.sides import Sides
from assay.compare.statements import Crossing, Jump, Saturated, Statement, statements
from assay.compare.widest import Widest, differences
from assay.model.compared import ComparedPair
from assay.model.comparison import Comparison
from assay.model.quantity import Quantity
from assay.report import verdicts
from assay.report.statements import Difference, Named, difference, relation

#: Two intervals that are disjoint, with a factor of at least this, cannot be called equal.
FACTOR = 1.1
#: Rounding of numbers that follow from each other.
NEAR = 1e-6
#: What a sentence on figures that are not proven equal must not say.
EQUAL = ("no difference", "no certain difference", "the same", "equivalent", "equally")


def of_sides(sides: Sides) -> list[str]:
    """All contradictions in the statements of several runs, or of one, and in the widest differences."""
    found = [line for each in statements(sides) for line in of_statement(each)]
    widest = differences(sides) if len(sides.sides) > 1 else []
    found += [line for each in widest for line in of_statement(each.said)]
    return [*found, *of_widest(widest, sides)]


def of_statement(said: Statement) -> list[str]:
    """The contradictions in one statement."""
    if isinstance(said, Difference):
        found = list(_difference(said))
    elif isinstance(said, Spread):
        found = list(_spread(said))
    elif isinstance(said, Crossing):
        found = list(_crossing(said))
    elif isinstance(said, Jump):
        found = list(_jump(said))
    else:
        found = list(_saturated(said))
    return [f"{why}: {said.text}" for why in found]


def _difference(said: Difference) -> Iterator[str]:
    more, less, ratio = said.more.value, said.less.value, said.ratio
    inverse = said.of_speeds and said.more.estimate.better == "lower"
    larger, smaller = (less, more) if inverse else (more, less)
    if ratio.value < 1 or larger.hi < smaller.lo:
        yield "the direction of the words is not that of the ratio"
    if not ratio.has_ends and not said.is_unlike_medians and abs(said.medians / ratio.value - 1) > NEAR:
        yield "the ratio is not that of the figures"
    yield from _words(said)
    if said.comparison and said.relation != "printed":
        yield from _interval(said.comparison, ratio, (more, less))
    if said.apart:
        yield from _apart(said.apart, more, less)


def _words(said: Difference) -> Iterator[str]:
    """What the words claim against what the comparison allows."""
    if said.more.estimate.unit != said.less.estimate.unit:
        yield "two units"
    if said.is_unlike_medians and said.text.count("the ratio is of") != 1:
        yield "the ratio is not that of the medians, and no word says why"
    if said.comparison and said.relation != relation(said.comparison):
        yield f"the words say '{said.relation}', the verdict is '{said.comparison.verdict}'"
    if said.comparison is None and said.relation != "printed":
        yield "a claim without a comparison"
    if said.relation != "same" and any(word in said.text for word in EQUAL):
        yield "equality without proof"
    if said.relation == "open" and not (said.comparison and verdicts.missing(said.comparison)):
        yield "neither a claim nor what it lacks"


def _interval(comparison: Comparison, ratio: Quantity, values: tuple[Quantity, Quantity]) -> Iterator[str]:
    """The verdict against the interval of the ratio, and against the intervals of the two figures."""
    margin, verdict = 1 + comparison.margin, comparison.verdict
    beyond = ratio.lo > margin or ratio.hi < 1 / margin
    if verdict in verdicts.CLAIMS and not (ratio.has_interval and beyond):
        yield f"'{verdict}' beside an interval that is not beyond the margin"
    if verdict in {"equivalent", "trivially different"} and not (
        ratio.has_interval and 1 / margin <= ratio.lo and ratio.hi <= margin
    ):
        yield f"'{verdict}' beside an interval that is not inside the margin"
    if verdict == "trivially different" and ratio.lo <= 1 <= ratio.hi:
        yield "'trivially different' beside an interval that contains 1"
    apart = _are_apart(*values)
    if verdict == "equivalent" and apart:
        yield "'equivalent' beside disjoint intervals"
    lack = comparison.lack
    if verdict == "inconclusive" and not (lack and lack.why and verdicts.missing(comparison)):
        yield "'inconclusive' without what is missing"
    if lack and "margin" in lack.why and beyond and ratio.has_interval:
        yield "'reaches into the margin' beside an interval beyond it"
    if lack and lack.why == ("among",) and not beyond:
        yield "'only among many' beside an interval that is not beyond the margin"
    if lack and lack.why and verdict in verdicts.CLAIMS:
        yield "a claim that lacks something"


def _are_apart(one: Quantity, other: Quantity) -> bool:
    """Whether both have intervals, which are disjoint, with a factor."""
    low, high = sorted((one, other), key=lambda each: each.value)
    disjoint = one.has_interval and other.has_interval and low.hi < high.lo
    return disjoint and high.value >= FACTOR * low.value


def _apart(apart: Quantity, more: Quantity, less: Quantity) -> Iterator[str]:
    """The sign of a difference, and whether it is one of these two figures, at their size."""
    if apart.value <= 0:
        yield "the sign of the difference is not that of the words"
    least, most = more.lo - less.hi, more.hi - less.lo
    slack = NEAR * max(abs(most), more.value)
    if apart.hi < least - slack or apart.lo > most + slack:
        yield "the difference is not one of these two figures"


def _spread(said: Spread) -> Iterator[str]:
    figures = [each.median or 0.0 for _, of in said.groups for each in of]
    if figures != sorted(figures, reverse=True):
        yield "the largest does not come first"
    if abs(max(figures) / min(figures) / said.ratio - 1) > NEAR:
        yield "the ratio is not that of the largest to the smallest"
    by = {name: of[0].median or 0.0 for name, of in said.groups}
    if said.share is not None and abs(by["MPI"] / by["TCP"] / said.share - 1) > NEAR:
        yield "the share is not that of the figures"
    if any(word in said.text for word in EQUAL):
        yield "equality without proof"


def _crossing(said: Crossing) -> Iterator[str]:
    where = said.crossover.at
    if not said.low.value > 1 > said.high.value:
        yield "the ratios on both sides do not change their direction"
    if said.crossover.certain and not (said.low.lo > 1 and said.high.hi < 1):
        yield "certain, but an interval contains 1"
    if not where.lo <= where.value <= where.hi:
        yield "the crossing is not between its ends"


def _jump(said: Jump) -> Iterator[str]:
    factor, after = said.step.factor, said.after.value
    if factor.value <= 1 or (factor.has_interval and factor.lo <= 1):
        yield "a jump whose factor is not above 1"
    if abs(after * (1 - 1 / factor.value) / said.step.seconds - 1) > NEAR:
        yield "the factor and the difference are not of the same size"


def _saturated(said: Saturated) -> Iterator[str]:
    if any(not 0 < size.value <= last for _, size, last in said.sizes):
        yield "saturated beyond the sizes measured"


def of_widest(found: Sequence[Widest], sides: Sides) -> list[str]:
    """Whether the widest differences are the widest of all values of their axes, and come first."""
    widths = [each.said.ratio.value for each in found]
    lines = [] if widths == sorted(widths, reverse=True) else ["the widest difference does not come first"]
    base = sides.found.runs[0]
    points = [
        point.comparison.ratio
        for pair in sides.found.pairs
        if pair.differ == RUN and sides.curves[pair.b].run == base
        for point in pair.points
    ]
    shared = [each.ratio for of in sides.found.shared if of.of[0][0] == base for each in of.comparisons.values()]
    most = max((math.exp(abs(math.log(each))) for each in (*points, *shared)), default=None)
    if most and (not widths or abs(widths[0] / most - 1) > NEAR):
        lines.append(f"the widest difference is {most:.3g}, not {widths[0] if widths else None}")
    return lines


def of_pairs(pairs: Iterable[ComparedPair]) -> list[str]:
    """The contradictions in the rows of comparisons: verdict, interval, both figures."""
    found = []
    for pair in pairs:
        each, better = pair.comparison, pair.a.better
        if each.is_control or verdicts.has_no_samples(each) or pair.a.value is None or pair.b.value is None:
            continue
        speeds = verdicts.speeds(each, better).value
        lines = [*_interval(each, speeds, (pair.a.value, pair.b.value)), *_row(each, speeds)]
        found += [f"{why}: {each.id}, {each.verdict}, {speeds}" for why in lines]
        sides = Named("a", pair.a), Named("b", pair.b)
        for of_speeds in (True, False):
            found += of_statement(difference(each, *sides, "what", of_speeds=of_speeds))
    return found


def _row(each: Comparison, speeds: Quantity) -> Iterator[str]:
    if (each.verdict == "faster" and speeds.value <= 1) or (each.verdict == "slower" and speeds.value >= 1):
        yield "the direction of the verdict is not that of the ratio"
    if each.verdict in {"faster", "slower"} and (each.adjusted_p is None or each.adjusted_p > 0.05):
        yield "a claim with an adjusted p above 5 %"
