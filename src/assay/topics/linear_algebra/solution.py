"""The section of a benchmark that solves whole problems: the rate of each solution, and where its time goes."""

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
        cell: what it says of a solution.
        figure: whether it holds figures.
    """

    head: str
    cell: Callable[[Scene, Estimate], str]
    figure: bool = True


#: What every table of solutions says of a rate.
RATE = (
    Column(text("Rate"), lambda _scene, e: formatting.shown(e).plain),
    Column(text("Interval"), lambda _scene, e: formatting.shown(e).ends),
)
OF_LIMIT = Column(text("Of limit"), lambda _scene, e: formatting.share_cell(e))


def level(head: str, axis: str) -> Column:
    """The value on an axis; empty where a figure of others does not say it."""
    return Column(head, lambda _scene, e: str(e.params.get(axis, "")))


def time(operations: Callable[[Estimate], float]) -> Column:
    """The seconds of a solution, from its operations as its rate counts them."""
    return Column(text("Time"), lambda _scene, e: formatting.seconds(operations(e) / e.median) if e.median else "")


def placed(e: Estimate, layout: str = "") -> str:
    """`all cores, 1 x 2 ranks, openblas`: where and how a problem was solved; `layout`: how ranks share it."""
    where = (places.cores(e.placement.label), places.memory(e.placement.policy))
    return joined(", ", [*where, layout, *e.factors.values(), selection.state(e)])


def phase_seconds(scene: Scene, solution: Estimate) -> dict[str, float]:
    """Phase -> its median seconds, of the case and the state of a solution."""
    return {e.kernel: e.median for e in _same(scene, solution) if e.median and roles.role(e) == "phase-time"}


def phase_shares(scene: Scene, solution: Estimate) -> dict[str, float]:
    """Phase -> its share of the time of all; empty where no phases are known."""
    seconds = phase_seconds(scene, solution)
    return {phase: each / sum(seconds.values()) for phase, each in seconds.items()}


def most(scene: Scene, messages: str, name: Callable[[Estimate], str]) -> str:
    """Which solution spends the largest share of its time in the phase of messages; empty where none has it."""
    found = ((phase_shares(scene, e).get(messages, 0.0), e) for e in scene.measured)
    share, solution = max(found, key=lambda each: each[0], default=(0.0, None))
    if not share or not solution:
        return ""
    return text(
        "Messages take the largest share of the time in {name}: {share}.",
        name=name(solution),
        share=formatting.percent(share),
    )


def metrics(scene: Scene, solution: Estimate) -> dict[str, Estimate]:
    """Metric -> its figure, of the case and the state of a solution, without those of phases."""
    return {e.metric: e for e in _same(scene, solution) if e.median and roles.role(e) != "phase-time"}


def _same(scene: Scene, solution: Estimate) -> Iterable[Estimate]:
    return (e for e in scene.analysis.estimates if (e.case, e.state) == (solution.case, solution.state))


class Solutions(msgspec.Struct, frozen=True, kw_only=True):
    """The declaration of such a section.

    Attributes:
        order: see `Declared`; so are `id`, `benchmark` and `introduction`.
        counts: which solutions it is of.
        name: what tells a solution from the others.
        series: the same without the size of the problem, where rates are a curve along it.
        label: of a solution on the first page.
        told: what the first page says of a solution beside its rate.
        first: solutions of the first page: the best one, where it does not say.
        chart: title of the chart of rates.
        phases: phase -> what people call it, in the order of the parts.
        phases_caption: how to read where the time goes.
        caption: of the table of solutions.
        solution: heading of its first column.
        columns: the others, left out where all of their cells are empty.
        sentences: on the best solution.
        charts: after those of rates and phases.
        tables: after that of the solutions.
    """

    order: int
    id: str
    benchmark: str
    introduction: str
    counts: Callable[[Estimate], bool] = lambda _e: True
    name: Callable[[Estimate], str]
    series: Callable[[Estimate], str] | None = None
    label: Callable[[Estimate], str]
    told: Callable[[Scene, Estimate], str] = lambda _scene, _e: ""
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
        """The section."""
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
            headlines=lambda scene: [Headline(self.label(e), e, self.told(scene, e)) for e in self.first(scene)],
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
        """The bar of a solution, in the order of the phases; none where one phase is all."""
        seconds, begin = phase_seconds(scene, e), 0.0
        for phase, name in self.phases.items() if len(seconds) > 1 else ():
            if phase in seconds:
                share = 100 * seconds[phase] / sum(seconds.values())
                figure = f"{share:.1f} %, {formatting.seconds(seconds[phase])}"
                yield Share(self.name(e), name, begin, begin + share, figure)
                begin += share
