"""Curves beside each other as sections of a page: a figure, a ratio, tables, for each pattern and reach."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

from assay.model.text import text
from assay.report import choose, vega
from assay.report.plotters import Plotters
from assay.report.section import Section, Table
from assay.report.several import origins, overlay, tables
from assay.report.several.statements import NO_SAMPLES, Statement, statements
from assay.report.several.together import Together

#: Of more systems than these figures are drawn once: a phone without scripts shows them small.
_TWICE = 12
#: Sentences on the first page of an import.
_FIRST = 10


@dataclass(frozen=True)
class Topic:
    """A section of the page."""

    id: str
    title: str
    drawing: tuple[Future[vega.Drawn], ...]
    tables: tuple[Table, ...]

    @property
    def drawn(self) -> tuple[vega.Drawn, ...]:
        """Its figures, waited for."""
        return tuple(each.result() for each in self.drawing)


def topics(together: Together, plotters: Plotters) -> list[Topic]:
    """One for each pattern between nodes and inside a node, with its curves, ratios and tables."""
    found = []
    for number, ((pattern, reach), ways) in enumerate(tables.groups(together).items()):
        title = tables.title(pattern, reach)
        besides = tables.against_base(together, ways)
        figures = [
            overlay.overlay(together, title, f"figure-curves-{number}", ways),
            overlay.ratio_curves(together, title, f"figure-ratio-{number}", besides) if besides else None,
        ]
        told = [tables.side_by_side(together, title, ways)]
        told += [tables.ratios(together, title, besides)] if besides else []
        twice = len(together.sides) <= _TWICE
        drawing = tuple(plotters.draw(figure, twice=twice) for figure in figures if figure)
        found.append(Topic(f"curves-{number}", title, drawing, tuple(told)))
    return found


def own(together: Together) -> Section | None:
    """What the ways of a single run that nobody here measured show beside each other; None without any two."""
    said = statements(together)
    if not said:
        return None
    figures, told = [], []
    for number, ((pattern, reach), ways) in enumerate(tables.groups(together).items()):
        title = tables.title(pattern, reach)
        besides = tables.against_base(together, ways)
        if besides:
            figures.append(overlay.ratio_curves(together, title, f"figure-ways-{number}", besides))
            told.append(tables.ratios(together, title, besides))
    return Section(
        id="ways",
        title=text("One way beside another"),
        meaning=(NO_SAMPLES,),
        figures=tuple(figure for figure in figures if figure),
        tables=(*told, *tables.laws(together), *origins.conclusions(together)),
        told=tuple(each.text for each in said),
        summary=tuple(_first(said)),
    )


def _first(said: Sequence[Statement]) -> Iterator[str]:
    """The widest differences of each kind in turn, by kind."""
    kinds = choose.grouped(said, lambda each: each.kind).values()
    taken = set(islice((each.text for each in chain(*zip_longest(*kinds)) if each), _FIRST))
    return (each.text for each in said if each.text in taken)
