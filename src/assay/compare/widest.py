"""The first lines on several systems: the widest difference of each quantity that they share."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import structs

from assay.compare import statements, tables
from assay.compare.phrases import figure, value
from assay.compare.records import RUN
from assay.compare.sides import Sides
from assay.model.grouping import grouped
from assay.model.result import Comparison
from assay.model.text import joined, listed, text
from assay.report import formatting, verdicts
from assay.report.section import Table, headings, trimmed

#: Rows of the table, and differences in the sentence before it.
_ROWS, _IN_SENTENCE = 4, 1


class SpeedDifference(NamedTuple):
    """A system compared with the first one.

    Attributes:
        what: the quantity.
        at: the quantity with the value of the axis.
        system: id of the run that is compared with the first one.
        figures: of the first one, and of this one.
        speed: its ratio to the first one, in words.
        claimed: whether samples allow the claim, or there are no samples.
    """

    what: str
    at: str
    system: str
    figures: tuple[str, str]
    speed: str
    claimed: bool


def _differences(sides: Sides) -> list[SpeedDifference]:
    """One for each quantity: first of curves, the widest difference first, then of other figures."""
    once: dict[str, SpeedDifference] = {}
    for each in (*_of_curves(sides), *_of_figures(sides)):
        once.setdefault(each.what, each)
    return list(once.values())


def conclusion(sides: Sides) -> str:
    """Return the widest difference, and how many are beyond chance, in two sentences; empty if none is shared."""
    found = _differences(sides)
    base = sides.sides[0].label
    claimed = grouped([each for each in found if each.claimed][:_IN_SENTENCE], lambda each: each.system)
    sentences = [
        text(
            "{system} against {base}: {differences}.",
            base=base,
            system=sides.label(system),
            differences=listed(text("{speed} ({what})", speed=each.speed, what=each.at) for each in of),
        )
        for system, of in claimed.items()
    ]
    points = [point.comparison for pair in sides.found.pairs if pair.differ == RUN for point in pair.points]
    tested = [each for each in points if each.confidence]
    counted = text(
        "{sure} of {count} tested difference is beyond chance.|{sure} of {count} tested differences are beyond "
        "chance.",
        sure=sum(each.verdict in verdicts.CLAIMS for each in tested),
        count=len(tested),
    )
    sentences = sentences or [text("No difference is certain.")]
    return joined(" ", (*sentences, counted if tested else "")) if found else ""


def widest(sides: Sides) -> Table | None:
    """Return the widest differences, four at most; None if nothing is shared."""
    base, *others = (side.label for side in sides.sides)
    rows = [
        (each.at, each.figures[0], sides.label(each.system) if others[1:] else "", each.figures[1], each.speed)
        for each in _differences(sides)
    ]
    other = others[0] if len(others) == 1 else text("The other")
    columns = (*headings("What"), base, *headings("System"), other, text("Compared with {base}", base=base))
    caption = text("The widest differences in speed from {base}", base=base)
    table = Table(caption, columns, tuple(rows[:_ROWS]), frozenset({1, 3, 4}))
    return trimmed(table, {2}) if rows else None


def _of_curves(sides: Sides) -> Iterator[SpeedDifference]:
    for pair in statements.widest(sides):
        of, base, found = sides.curves[pair.a], sides.curves[pair.b], statements.decisive(sides, pair)
        if pair.differ == RUN and base.run == sides.found.runs[0]:
            what = tables.heading(sides, base)
            at = joined(", ", (what, value(base, found.at)))
            figures = figure(sides.at(base, found.at)), figure(sides.at(of, found.at))
            yield SpeedDifference(what, at, of.run, figures, *_compared(found.comparison, base.better))


def _of_figures(sides: Sides) -> Iterator[SpeedDifference]:
    for shared in sides.found.shared:
        (run, name), *others = shared.of
        base = sides.estimate(run, name)
        for other, its in others:
            of = sides.estimate(other, its)
            if run == sides.found.runs[0] and base.median and of.median:
                ratio = of.median / base.median if base.better == "higher" else base.median / of.median
                what = tables.named(base)
                claimed = "imported" in {base.basis, of.basis}
                yield SpeedDifference(what, what, other, (figure(base), figure(of)), _speed(ratio), claimed)


def _compared(found: Comparison, better: str) -> tuple[str, bool]:
    """The speed ratio to the base in words, and whether samples allow the claim, or there are none."""
    each = verdicts.speeds(found, better)
    if each.confidence and each.verdict not in verdicts.CLAIMS:
        return text("{ratio} {verdict}", ratio=verdicts.plain_ends(each), verdict=verdicts.word(each)), False
    upright = each if each.ratio >= 1 else structs.replace(each, value=each.value.inverse(each.value.unit))
    speed = _speed(each.ratio)
    return (joined(" ", (speed, verdicts.plain_ends(upright))) if each.lo < each.hi else speed), True


def _speed(ratio: float) -> str:
    """A ratio of speeds in words: `28.7 times slower`, `1.52 times as fast`."""
    if ratio < 1:
        return text("{factor} times slower", factor=formatting.factor(1 / ratio))
    return text("{factor} times as fast", factor=formatting.factor(ratio))
