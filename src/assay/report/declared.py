"""Sections as declarations: what they are of, their sentences, tables and charts; read by one engine."""

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
    """What a section is drawn from.

    Attributes:
        run: as it was stored.
        analysis: of it.
        headline: headline figures of the section's benchmark, else those that its law was fitted to; of several
            nodes those of the one in the middle.
        estimates: those of them that the section is of.
        found: models of its law.
    """

    run: Run
    analysis: Analysis
    headline: tuple[Estimate, ...]
    estimates: tuple[Estimate, ...]
    found: tuple[Fitted[Any], ...]
    _cached: dict[object, Any] = msgspec.field(default_factory=dict)

    def cached(self, make: Callable[["Scene"], Made]) -> Made:
        """What a function makes of the scene, made once."""
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
        """The best of them."""
        return selection.best(self.measured)

    @cached_property
    def names(self) -> dict[str, str]:
        """Model id -> what tells it from the others."""
        return fitted.labels(self.found)

    def name(self, each: Fitted[Any]) -> str:
        """What tells a model from the others; empty where it is alone."""
        return self.names[each.model.id]


class Listing(msgspec.Struct, frozen=True):
    """A table.

    Attributes:
        caption: what it holds.
        heads: of its columns; the first one names the row.
        rows: their cells.
        figures: indices of the columns that hold figures.
        optional: indices of those that are left out where all of their cells are empty.
        short: see `Table`.
    """

    caption: str
    heads: tuple[str, ...]
    rows: Callable[[Scene], Iterable[tuple[str, ...]]]
    figures: Collection[int]
    optional: Collection[int] = ()
    short: str = ""

    def __call__(self, scene: Scene) -> tuple[Table, ...]:
        """The table; none without rows."""
        rows = tuple(self.rows(scene))
        table = Table(self.caption, self.heads, rows, frozenset(self.figures), short=self.short)
        return (trimmed(table, self.optional),) if rows else ()


#: A matrix of more rows than these is drawn in so many groups at most.
_MOST, _GROUPS = 64, 32


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """A heat map for each model of a law whose points are pairs.

    Attributes:
        anchor: of the figure.
        ends: coordinates of rows and columns.
        heads: titles of rows, columns and values, the last with a place for the unit.
        caption: of the figure; gets its cells and their unit.
        result: what it shows, in words.
        note: third line of a cell.
        kind: what its tooltip adds to the figure.
        mirrored: whether each pair stands on both sides of the diagonal.
        least: rows and columns, fewer of which make no matrix.
        digits: places after the point, at most.
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
        """One for each model with enough rows."""
        wide = [each for each in scene.found if len(self._names(scene, each, 0)) >= self.least]
        return tuple(self._figure(scene, each, number) for number, each in enumerate(wide))

    def _names(self, scene: Scene, each: Fitted[Any], end: int) -> list[str]:
        """Of rows (0) or columns (1)."""
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
        """The cell of a point; `named`: of which pair it is does not follow from its row and column."""
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
    """Name -> what the row is called that stands for it and its neighbours."""
    size = math.ceil(len(names) / _GROUPS)
    groups = [names[at : at + size] for at in range(0, len(names), size)]
    return {name: f"{group[0]}-{group[-1]}" if len(group) > 1 else name for group in groups for name in group}


def _slowest(
    points: Mapping[tuple[str, str], Point], groups: Mapping[str, str], better: str
) -> dict[tuple[str, str], Point]:
    """The slowest pair of each two groups, and of each group within itself."""
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
        "The {count} rows stand in {rows} groups, in the order of their names. Each cell is the slowest pair of "
        "two groups.",
        count=len(groups),
        rows=rows,
    )


#: What makes tables: a `Listing`, or a function.
Tables = Callable[[Scene], Iterable[Table]]


def _nothing(_scene: Scene) -> tuple[()]:
    return ()


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """A section of the report; it is not drawn where a run has nothing for it.

    Attributes:
        order: where it stands.
        id: anchor.
        title: heading; that of the benchmark where empty.
        introduction: what it is good for, in words for a reader who does not know the field.
        sentences: what was found, in sentences after the introduction; further paragraphs.
        benchmark: that it draws, which needs no general section because of it; none where empty.
        also: further benchmarks that need none.
        law: whose results it draws.
        select: which of the headline figures it is of.
        applies: whether a run has something for it.
        charts: figures.
        shared_tables: what makes its tables, which a terminal shows too.
        page_tables: what makes the tables of the page alone.
        terminal_tables: what makes the tables of a terminal alone, after the shared ones.
        headlines: what the first page shows.
        rules: names of rules whose findings belong here before all.
        exclusive: ids of estimates that are drawn here and nowhere else.
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
        """Benchmarks that need no general section because of it."""
        return frozenset({self.benchmark} - {""}) | self.also

    def section(self, run: Run, analysis: Analysis) -> Section | None:
        """The section, None when the run has nothing for it."""
        scene = self._scene(run, analysis)
        if not self.applies(scene):
            return None
        said = self.sentences(scene)
        first, *others = (said,) if isinstance(said, str) else said or ("",)
        return Section(
            id=self.id,
            title=self.title or selection.title(self.benchmark),
            meaning=(joined(" ", (self.introduction, first)), *others),
            figures=tuple(self.charts(scene)),
            tables=tuple(table for made in (*self.shared_tables, *self.page_tables) for table in made(scene)),
            estimates=scene.estimates if self.listed else (),
            headlines=tuple(self.headlines(scene)),
            benchmarks=self.claims,
            rules=self.rules,
        )

    def tables(self, run: Run, analysis: Analysis) -> tuple[Table, ...]:
        """What a terminal shows of it."""
        makers = (*self.shared_tables, *self.terminal_tables)
        scene = self._scene(run, analysis) if makers else None
        return tuple(table for made in makers for table in made(scene)) if scene else ()

    def _scene(self, run: Run, analysis: Analysis) -> Scene:
        found: tuple[Fitted[Any], ...] = fitted.fitted(analysis, self.law) if self.law else ()
        own = selection.headline_metric(selection.of_benchmark(analysis, self.benchmark))
        headline = selection.middle(own if self.benchmark else fitted.of(found))
        return Scene(run, analysis, headline, self.select(analysis, headline), found)
