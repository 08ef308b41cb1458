"""Sections as declarations: their estimates, sentences, tables and charts; one engine draws them."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from assay.model.law import Model, Point
from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.model.units import decimals
from assay.report import figures, fitted, selection
from assay.report.charts.heatmap import Cell, heatmap
from assay.report.fitted import Fitted
from assay.report.section import Figure, Headline, Section, Table, trimmed

Made = TypeVar("Made")


class Scene(msgspec.Struct, frozen=True, dict=True):
    """The input of a section.

    Attributes:
        run: as it was stored.
        analysis: of it.
        headline: headline figures of the section's benchmark, else those that its law was fitted to; of several
            nodes those of the median node.
        estimates: the headline figures that the section selects.
        found: models of its law.
    """

    run: Run
    analysis: Analysis
    headline: tuple[Estimate, ...]
    estimates: tuple[Estimate, ...]
    found: tuple[Fitted[Any], ...]
    _cached: dict[object, Any] = msgspec.field(default_factory=dict)

    def cached(self, make: Callable[["Scene"], Made]) -> Made:
        """Return the result of a function of the scene, which is called once."""
        if make not in self._cached:
            self._cached[make] = make(self)
        made: Made = self._cached[make]
        return made

    @cached_property
    def measured(self) -> tuple[Estimate, ...]:
        """Estimates that have a figure."""
        return selection.measured(self.estimates)

    @cached_property
    def best(self) -> Estimate | None:
        """The best of its estimates."""
        return selection.best(self.measured)

    @cached_property
    def names(self) -> dict[str, str]:
        """Model id -> its label among the models."""
        return fitted.labels(self.found)

    def name(self, each: Fitted[Any]) -> str:
        """Return the label of a model among the others; empty if it is the only one."""
        return self.names[each.model.id]


class Listing(msgspec.Struct, frozen=True):
    """A table.

    Attributes:
        caption: what it contains.
        heads: of its columns; the first one names the row.
        rows: cells of each row.
        figures: indices of the columns of figures.
        optional: indices of columns that are left out if all of their cells are empty.
        short: see `Table`.
    """

    caption: str
    heads: tuple[str, ...]
    rows: Callable[[Scene], Iterable[tuple[str, ...]]]
    figures: Collection[int]
    optional: Collection[int] = ()
    short: str = ""

    def __call__(self, scene: Scene) -> tuple[Table, ...]:
        """Return the table; none without rows."""
        rows = tuple(self.rows(scene))
        table = Table(self.caption, self.heads, rows, frozenset(self.figures), short=self.short)
        return (trimmed(table, self.optional),) if rows else ()


#: Maximum number of rows of a matrix; with more it is drawn in groups, whose maximum is the second number.
_MOST, _GROUPS = 64, 32


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """A heat map for each model of a law whose points are pairs.

    Attributes:
        anchor: of the figure.
        ends: coordinates of rows and columns.
        heads: titles of rows, columns and values, from the model and the unit.
        caption: of the figure, from its cells and their unit.
        result: the figure in words.
        note: third line of a cell.
        kind: words that the tooltip adds to the figure.
        mirrored: whether each pair is on both sides of the diagonal.
        least: a matrix with fewer rows is not drawn.
        digits: decimals, at most.
        ratio: whether a cell has its ratio.
        order: of rows and columns.
    """

    anchor: str
    ends: tuple[str, str] = ("a", "b")
    heads: Callable[[Fitted[Any], str], tuple[str, str, str]]
    caption: Callable[[Scene, Fitted[Any], Sequence[Cell], str], str]
    result: Callable[[Scene, Fitted[Any], Sequence[Cell], str], str]
    note: Callable[[Point], str]
    kind: Callable[[Point], str] = lambda _point: ""
    mirrored: bool = True
    least: int = 3
    digits: int = 9
    ratio: bool = True
    order: Callable[[Scene], Callable[[str], tuple[int, str]]] = lambda _scene: lambda name: (len(name), name)

    def figures(self, scene: Scene) -> tuple[Figure, ...]:
        """Return one figure for each model with enough rows."""
        wide = [each for each in scene.found if len(self._names(scene, each, 0)) >= self.least]
        return tuple(self._figure(scene, each, number) for number, each in enumerate(wide))

    def _names(self, scene: Scene, each: Fitted[Any], end: int) -> list[str]:
        """The names of rows (0) or columns (1)."""
        wanted = self.ends if self.mirrored else self.ends[end : end + 1]
        return sorted(
            {str(point.at[name]) for point in each.model.points for name in wanted}, key=self.order(scene)
        )

    def _figure(self, scene: Scene, each: Fitted[Any], number: int) -> Figure:
        factor, unit = figures.scaled(each.estimates)
        points = {(str(point.at[self.ends[0]]), str(point.at[self.ends[1]])): point for point in each.model.points}
        rows, columns = (self._names(scene, each, end) for end in (0, 1))
        groups = _groups(rows) if self.mirrored and len(rows) > _MOST else {}
        if groups:
            points = _slowest(points, groups, each.estimates[0].better)
            rows = columns = [*dict.fromkeys(groups.values())]
        points |= {(column, row): point for (row, column), point in points.items()} if self.mirrored else {}
        cells = [
            self._cell(each, points[row, column], (row, column), factor, named=bool(groups))
            for row in rows
            for column in columns
            if (row, column) in points
        ]
        caption, result = (made(scene, each, cells, unit) for made in (self.caption, self.result))
        caption = joined(" ", (caption, _grouping(groups))) if groups else caption
        names = rows if self.mirrored else None
        spec = heatmap(cells, self.heads(each, unit), each.estimates[0].better, names)
        return Figure(f"{self.anchor}-{number}" if number else self.anchor, caption, result, spec)

    def _cell(self, each: Fitted[Any], point: Point, at: tuple[str, str], factor: float, *, named: bool) -> Cell:
        """The cell of a point; `named`: it names its pair, which does not follow from row and column."""
        value, *_ = (factor * part for part in point.value)
        shown = each.figure(point)
        ratio = f"×{point.ratio:.2f}" if self.ratio and point.ratio is not None else ""  # noqa: RUF001 (a factor)
        basis = joined("; ", (joined(", ", (f"{shown.ends} {shown.unit}", shown.basis)), self.kind(point)))
        local = not self.mirrored and at[0] == at[1]
        number = f"{value:.{min(self.digits, decimals(value))}f}"
        first, second = (str(point.at[end]) for end in self.ends)
        pair = text("{a} with {b}", a=first, b=second) if named else ""
        return Cell(*at, value, number, ratio, basis, local, joined(", ", (pair, self.note(point))))


def _groups(names: Sequence[str]) -> dict[str, str]:
    """Name -> name of the group of it and its neighbours."""
    size = math.ceil(len(names) / _GROUPS)
    groups = [names[at : at + size] for at in range(0, len(names), size)]
    return {name: f"{group[0]}-{group[-1]}" if len(group) > 1 else name for group in groups for name in group}


def _slowest(
    points: Mapping[tuple[str, str], Point], groups: Mapping[str, str], better: str
) -> dict[tuple[str, str], Point]:
    """The slowest pair of each two groups, and inside each group."""
    order = [*dict.fromkeys(groups.values())]
    place = {name: order.index(group) for name, group in groups.items()}
    found: dict[tuple[str, str], Point] = {}
    for (first, second), point in points.items():
        low, high = sorted((place[first], place[second]))
        at = order[low], order[high]
        slower = at not in found or (point.value.value > found[at].value.value) == (better == "lower")
        if slower:
            found[at] = point
    return found


def _grouping(groups: Mapping[str, str]) -> str:
    rows = len(set(groups.values()))
    return text(
        "The {count} rows are in {rows} groups, in the order of their names. Each cell is the slowest pair of two "
        "groups.",
        count=len(groups),
        rows=rows,
    )


#: A `Listing`, or a function that makes tables.
Tables = Callable[[Scene], Iterable[Table]]


def _nothing(_scene: Scene) -> tuple[()]:
    return ()


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """A section of the report; it is not drawn if a run has nothing for it.

    Attributes:
        order: its place among the sections.
        id: anchor.
        title: heading; that of the benchmark if empty.
        introduction: its purpose, in words for a reader who does not know the field.
        sentences: the results, after the introduction; further paragraphs.
        benchmark: that it draws, which then has no general section; empty for none.
        also: further benchmarks without a general section.
        law: whose results it draws.
        select: selects its estimates among the headline figures.
        applies: whether a run has something for it.
        charts: figures.
        shared_tables: tables of the page and of the terminal.
        page_tables: tables of the page only.
        terminal_tables: tables of the terminal only, after the shared ones.
        headlines: figures of the first page.
        rules: names of rules whose findings belong here in any case.
        exclusive: ids of estimates that are drawn only here.
        listed: whether the section lists its figures.
    """

    order: int
    id: str
    title: str = ""
    introduction: str = ""
    sentences: Callable[[Scene], str | tuple[str, ...]] = _nothing
    benchmark: str = ""
    also: frozenset[str] = frozenset()
    law: type[Model] | None = None
    select: Callable[[Analysis, tuple[Estimate, ...]], tuple[Estimate, ...]] = lambda _analysis, every: every
    applies: Callable[[Scene], object] = lambda scene: scene.estimates
    charts: Callable[[Scene], Iterable[Figure]] = _nothing
    shared_tables: tuple[Tables, ...] = ()
    page_tables: tuple[Tables, ...] = ()
    terminal_tables: tuple[Tables, ...] = ()
    headlines: Callable[[Scene], Iterable[Headline]] = _nothing
    rules: frozenset[str] = frozenset()
    exclusive: Callable[[Analysis], frozenset[str]] = lambda _analysis: frozenset()
    listed: bool = True

    @property
    def claims(self) -> frozenset[str]:
        """Benchmarks that have no general section because of this one."""
        return frozenset({self.benchmark} - {""}) | self.also

    def section(self, run: Run, analysis: Analysis) -> Section | None:
        """Return the section; None if the run has nothing for it."""
        scene = self._scene(run, analysis)
        if not self.applies(scene):
            return None
        sentences = self.sentences(scene)
        first, *others = (sentences,) if isinstance(sentences, str) else sentences or ("",)
        return Section(
            id=self.id,
            title=self.title or selection.title(run.plan.declared(self.benchmark)),
            meaning=(joined(" ", (self.introduction, first)), *others),
            figures=tuple(self.charts(scene)),
            tables=tuple(table for made in (*self.shared_tables, *self.page_tables) for table in made(scene)),
            estimates=scene.estimates if self.listed else (),
            headlines=tuple(self.headlines(scene)),
            benchmarks=self.claims,
            rules=self.rules,
        )

    def tables(self, run: Run, analysis: Analysis) -> tuple[Table, ...]:
        """Return its tables for a terminal."""
        makers = (*self.shared_tables, *self.terminal_tables)
        scene = self._scene(run, analysis) if makers else None
        return tuple(table for made in makers for table in made(scene)) if scene else ()

    def _scene(self, run: Run, analysis: Analysis) -> Scene:
        found: tuple[Fitted[Any], ...] = fitted.fitted(analysis, self.law) if self.law else ()
        own = selection.headline_metric(selection.of_benchmark(analysis, self.benchmark))
        headline = selection.middle(own if self.benchmark else fitted.of(found))
        return Scene(run, analysis, headline, self.select(analysis, headline), found)
