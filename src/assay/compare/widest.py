"""The first lines on several systems: the widest difference of each quantity that they share."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import structs

from assay.compare import statements, tables
from assay.compare.phrases import figure, value
from assay.compare.records import RUN
from assay.compare.sides import Sides
from assay.model.grouping import grouped
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report.section import Table, headings, trimmed
from assay.report.statements import Difference, Named, difference, relation

#: Rows of the table.
_ROWS = 4


class Widest(NamedTuple):
    """The widest difference of a quantity between a system and the first one.

    Attributes:
        what: the quantity.
        system: id of the run that is compared with the first one.
        figures: of the first one, and of this one.
        said: the statement.
    """

    what: str
    system: str
    figures: tuple[Estimate, Estimate]
    said: Difference


def differences(sides: Sides) -> list[Widest]:
    """Return one for each quantity, of all values of its axis and all systems; the widest first."""
    found = sorted((*_of_curves(sides), *_of_figures(sides)), key=lambda each: -each.said.ratio.value)
    return [of[0] for of in grouped(found, lambda each: each.what).values()]


def conclusion(sides: Sides) -> str:
    """Return the widest difference, and how many are certain, in two sentences; empty if none is shared."""
    found = [each.said for each in differences(sides)]
    if not found:
        return ""
    said = next((each for each in found if each.relation in {"more", "printed"}), found[0])
    begin = (
        text("The widest certain difference: {difference}", difference=said.text)
        if said.relation == "more"
        else text("The widest difference: {difference}", difference=said.text)
    )
    relations = [relation(pair.comparison) for each in sides.compared for pair in each.pairs]
    tested = len(relations) - relations.count("printed")
    counted = text(
        "{sure} of {count} tested difference is certain.|{sure} of {count} tested differences are certain.",
        sure=relations.count("more"),
        count=tested,
    )
    return joined(" ", (begin, counted if tested else ""))


def widest(sides: Sides) -> Table | None:
    """Return the widest differences, four at most; None if nothing is shared."""
    base, *others = (side.label for side in sides.sides)
    rows = [
        (
            each.said.noun,
            figure(each.figures[0]),
            sides.label(each.system) if others[1:] else "",
            figure(each.figures[1]),
            each.said.claim,
        )
        for each in differences(sides)
    ]
    other = others[0] if len(others) == 1 else text("The other")
    columns = (*headings("What"), base, *headings("System"), other, *headings("Difference"))
    caption = text("The widest difference of each quantity, the widest first")
    table = Table(caption, columns, tuple(rows[:_ROWS]), frozenset({1, 3}))
    return trimmed(table, {2}) if rows else None


def _of_curves(sides: Sides) -> Iterator[Widest]:
    for pair in sides.found.pairs:
        of, base = sides.curves[pair.a], sides.curves[pair.b]
        if pair.differ == RUN and base.run == sides.found.runs[0]:
            what = tables.heading(sides, base)
            for point in pair.points:
                noun = joined(", ", (what, value(base, point.at)))
                found = statements.difference(sides, pair, point)
                said = structs.replace(found, kind="figure", noun=noun, context="", at="", message="")
                yield Widest(what, of.run, (sides.at(base, point.at), sides.at(of, point.at)), said)


def _of_figures(sides: Sides) -> Iterator[Widest]:
    for shared in sides.found.shared:
        (run, name), *others = shared.of
        base, what = sides.estimate(run, name), tables.named(sides.estimate(run, name))
        for other, its in others:
            if run == sides.found.runs[0] and (comparison := shared.comparisons.get(other)):
                of = sides.estimate(other, its)
                own, bases = Named(sides.label(other), of), Named(sides.label(run), base)
                yield Widest(what, other, (base, of), difference(comparison, own, bases, what))
