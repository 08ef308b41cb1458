"""The quality of predictions that were made before the launches: errors, and how often intervals held."""

from collections.abc import Iterable

import msgspec

from assay.analyse.statistics import median_interval, share_of
from assay.model.declaration import ParamValue
from assay.model.quantity import Quantity, distance
from assay.model.result import Analysis
from assay.model.run import Run


class Score(msgspec.Struct, frozen=True):
    """One prediction and the measured figure.

    Attributes:
        run: id.
        case: that was predicted.
        benchmark: of it.
        placement: word of it.
        problem: params of the problem, and levels of factors.
        metric: of it.
        predicted: before its first launch.
        measured: None if the case has no figure.
        error: measured over predicted, less 1; None without a figure.
        held: whether the measured ends and the predicted ones overlap; None without a figure.
        disturbed: how many launches of the figure were disturbed.
    """

    run: str
    case: str
    benchmark: str
    placement: str
    problem: dict[str, ParamValue]
    metric: str
    predicted: Quantity
    measured: Quantity | None = None
    error: float | None = None
    held: bool | None = None
    disturbed: int = 0


class Scores(msgspec.Struct, frozen=True):
    """All predictions of several runs.

    Attributes:
        schema: version of this record.
        entries: oldest run first; none is left out.
        error: median size of the error, without its sign; None without a figure.
        coverage: share of the intervals that held, with its exact ends; None without a figure. Predictions of one
            run are not independent of each other: for them the ends are too narrow.
    """

    schema: int
    entries: tuple[Score, ...]
    error: Quantity | None
    coverage: Quantity | None


def scores(run: Run, analysis: Analysis) -> Iterable[Score]:
    """Yield the scores of the predictions of a run; one for each state if the figure is given by state."""
    for each in run.predictions:
        predicted, case = Quantity(*each.parts, each.unit, each.basis), run.plan.case(each.of)
        names = run.plan.declared(case.benchmark).scaled or case.params
        problem = {name: value for name, value in case.params.items() if name in names} | case.factors
        of = run.info.id, each.of, case.benchmark, case.placement.label, problem, each.metric
        figures = [
            (estimate.value, estimate.disturbed)
            for estimate in analysis.estimates
            if (estimate.case, estimate.metric) == (each.of, each.metric)
            and estimate.value
            and estimate.value.value
        ]
        for value, disturbed in figures:
            error, held = value.value / each.value - 1, not distance(value, predicted)
            yield Score(*of, predicted, value, error, held, disturbed)
        if not figures:
            yield Score(*of, predicted)


def together(entries: Iterable[Score]) -> Scores:
    """Summarise the scores."""
    every = tuple(entries)
    errors = [abs(each.error) for each in every if each.error is not None]
    held = sum(bool(each.held) for each in every)
    return Scores(
        1,
        every,
        median_interval(errors) if errors else None,
        share_of(held, len(errors)) if errors else None,
    )
