"""The section of a benchmark that solves whole problems: the rate of each solution, and the time of its phases."""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from assay.model import places, roles
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, selection
from assay.report.charts.shares import Share, shares
from assay.report.declared import Declared, Listing, Scene, Tables
from assay.report.section import Figure, Headline


class Column(msgspec.Struct, frozen=True):
    """A column of a table of solutions.

    Attributes:
        head: its heading.
        cell: its cell for a solution.
        figure: whether its cells are figures.
    """

    head: str
    cell: Callable[[Scene, Estimate], str]
    figure: bool = True


#: Columns of a rate in every table of solutions.
RATE = (
    Column(text("Rate"), lambda _scene, e: formatting.shown(e).plain),
    Column(text("Interval"), lambda _scene, e: formatting.shown(e).ends),
)
OF_LIMIT = Column(text("Of limit"), lambda _scene, e: formatting.share_cell(e))


def level(head: str, axis: str) -> Column:
    """Return the column of an axis, which names rows; it is empty where a published figure states no value."""
    return Column(head, lambda _scene, e: str(e.params.get(axis, "")), figure=False)


def time(operations: Callable[[Estimate], float]) -> Column:
    """Return the column of the seconds of a solution, as its program states them.

    They are those of the solution whose rate is nearest to the median; of an import, those that its rate implies.

    Args:
        operations: that its rate counts.
    """

    def cell(scene: Scene, e: Estimate) -> str:
        return formatting.seconds(stated_seconds(scene, e) or operations(e) / e.median) if e.median else ""

    return Column(text("Time"), cell)


def stated_seconds(scene: Scene, solution: Estimate) -> float | None:
    """Return the seconds that the program states for the solution nearest to the median; None for an import."""
    cases = (case for launch in scene.run.launches for case in launch.cases if case.header.case == solution.case)
    every = (figure for case in cases for figure in case.figures if figure.name == solution.kernel)
    stated = [(abs(figure.value - (solution.median or 0.0)), figure.seconds) for figure in every if figure.seconds]
    return min(stated)[1] if stated else None


def placed(e: Estimate, layout: str = "") -> str:
    """Return `all cores, 1 x 2 ranks, openblas`; `layout`: the grid of the ranks."""
    nodes = e.placement.nodes if e.placement.word.over else 0
    where = (places.cores(e.placement.label, nodes), places.memory(e.placement.policy))
    return joined(", ", [*where, layout, *e.factors.values(), selection.state(e)])


def phase_seconds(scene: Scene, solution: Estimate) -> dict[str, float]:
    """Return the median seconds of each phase, of the case and state of a solution."""
    return {e.kernel: e.median for e in _same(scene, solution) if e.median and roles.role(e) == "phase-time"}


def phase_shares(scene: Scene, solution: Estimate) -> dict[str, float]:
    """Return the share of each phase in their total time; empty where no phases are known."""
    seconds = phase_seconds(scene, solution)
    return {phase: each / sum(seconds.values()) for phase, each in seconds.items()}


def largest_share(scene: Scene, messages: str, name: Callable[[Estimate], str]) -> str:
    """Name the solution with the largest share of its time in the phase `messages`; empty where none has it."""
    all_shares = ((phase_shares(scene, e).get(messages, 0.0), e) for e in scene.measured)
    share, solution = max(all_shares, key=lambda each: each[0], default=(0.0, None))
    if not share or not solution:
        return ""
    return text(
        "Messages take the largest share of the time in {name}: {share}.",
        name=name(solution),
        share=formatting.percent(share),
    )


def metrics(scene: Scene, solution: Estimate) -> dict[str, Estimate]:
    """Return the estimate of each metric, of the case and state of a solution, without times of phases."""
    return {e.metric: e for e in _same(scene, solution) if e.median and roles.role(e) != "phase-time"}


def _same(scene: Scene, solution: Estimate) -> Iterable[Estimate]:
    return (e for e in scene.analysis.estimates if (e.case, e.state) == (solution.case, solution.state))


class Solutions(msgspec.Struct, frozen=True, kw_only=True):
    """The declaration of such a section.

    Attributes:
        order: see `Declared`; also for `id`, `benchmark` and `introduction`.
        counts: whether a solution belongs to the section.
        name: name of a solution, different for each.
        series: the name without the size of the problem, where the rates are a curve over sizes.
        label: label of a solution on the first page.
        detail: text after the rate of a solution on the first page.
        first: solutions of the first page; by default the best one.
        chart: title of the chart of rates.
        phases: phase -> its usual name, in the order of the parts.
        phases_caption: caption of the chart of phases.
        caption: caption of the table of solutions.
        solution: heading of its first column.
        columns: the other columns, left out where all of their cells are empty.
        sentences: sentences on the best solution.
        charts: charts after those of rates and phases.
        tables: tables after that of the solutions.
    """

    order: int
    id: str
    benchmark: str
    introduction: str
    counts: Callable[[Estimate], bool] = lambda _e: True
    name: Callable[[Estimate], str]
    series: Callable[[Estimate], str] | None = None
    label: Callable[[Estimate], str]
    detail: Callable[[Scene, Estimate], str] = lambda _scene, _e: ""
    first: Callable[[Scene], Iterable[Estimate]] = lambda scene: [scene.best] if scene.best else []
    chart: str
    phases: Mapping[str, str]
    phases_caption: str
    caption: str
    solution: str = text("Solution")
    columns: tuple[Column, ...]
    sentences: Callable[[Scene, Estimate], Iterable[str]]
    charts: Callable[[Scene], Iterable[Figure]] = lambda _scene: ()
    tables: tuple[Tables, ...] = ()

    def declared(self) -> Declared:
        """Return the section."""
        row = self.series or self.name
        columns = (Column(self.solution, lambda _scene, e: row(e), figure=False), *self.columns)
        table = Listing(
            self.caption,
            tuple(column.head for column in columns),
            lambda scene: (tuple(column.cell(scene, e) for column in columns) for e in scene.measured),
            {at for at, column in enumerate(columns) if column.figure},
            optional=range(1, len(columns)),
        )
        return Declared(
            order=self.order,
            id=self.id,
            benchmark=self.benchmark,
            introduction=self.introduction,
            select=lambda _analysis, every: tuple(filter(self.counts, selection.headline_kernel(every))),
            sentences=self._sentences,
            charts=self._charts,
            shared_tables=(table, *self.tables),
            headlines=lambda scene: [Headline(self.label(e), e, self.detail(scene, e)) for e in self.first(scene)],
            listed=False,
        )

    def _sentences(self, scene: Scene) -> str:
        if scene.best is None:
            return text("It could not be measured.")
        return joined(" ", self.sentences(scene, scene.best))

    def _charts(self, scene: Scene) -> Iterable[Figure]:
        anchor = f"figure-{self.id}"
        if scene.measured and self.series:
            yield figures.curves(scene.measured, anchor, self.chart, series=self.series)
        elif scene.measured:
            yield figures.placements(scene.measured, anchor, self.chart, row=self.name)
        parts = [part for e in scene.measured for part in self._parts(scene, e)]
        if parts:
            result = figures.alternative_text((part.row, part.series, part.text) for part in parts)
            spec = shares(parts, text("share of the time (%)"))
            yield Figure(f"{anchor}-phases", self.phases_caption, result, spec)
        yield from self.charts(scene)

    def _parts(self, scene: Scene, e: Estimate) -> Iterable[Share]:
        """Yield the parts of the bar of a solution, in the order of the phases; none of a single phase."""
        seconds, begin = phase_seconds(scene, e), 0.0
        for phase, name in self.phases.items() if len(seconds) > 1 else ():
            if phase in seconds:
                share = 100 * seconds[phase] / sum(seconds.values())
                figure = f"{share:.1f} %, {formatting.seconds(seconds[phase])}"
                yield Share(self.name(e), name, begin, begin + share, figure)
                begin += share
