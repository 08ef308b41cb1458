"""The quality of predictions that were made before the launches: errors, widths, and how often intervals held."""

import math
from collections.abc import Iterable
from typing import Literal

import msgspec

from assay.analyse.statistics import median_interval, share_of
from assay.model.declaration import ParamValue
from assay.model.law import interval_score, is_too_wide, log_width
from assay.model.quantity import Quantity, distance
from assay.model.record import Prediction, Refusal
from assay.model.result import Analysis
from assay.model.run import Run


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """One prediction and the measured figure.

    Attributes:
        run: id.
        case: that was predicted.
        benchmark: of it.
        placement: word of it.
        problem: params of the problem, and levels of factors.
        metric: of it.
        predicted: before its first launch.
        refused: why it counts as no prediction; None if it counts.
        width: natural logarithm of the upper end over the lower one, 0.1 is about 10 %; None if an end is not
            above 0.
        measured: None if the case has no figure, or if the prediction does not count.
        error: measured over predicted, less 1; None without a figure.
        held: whether the measured ends and the predicted ones overlap; None without a figure.
        score: interval score, in the unit of the width; None without a figure.
        disturbed: how many launches of the figure were disturbed.
        disturbed_inputs: how many launches of the figures were disturbed from which it was predicted.
    """

    run: str
    case: str
    benchmark: str
    placement: str
    problem: dict[str, ParamValue]
    metric: str
    predicted: Quantity
    refused: Refusal | Literal["too wide"] | None = None
    width: float | None = None
    measured: Quantity | None = None
    error: float | None = None
    held: bool | None = None
    score: float | None = None
    disturbed: int = 0
    disturbed_inputs: int = 0


class Scores(msgspec.Struct, frozen=True):
    """All predictions of several runs.

    Attributes:
        schema: version of this record.
        entries: oldest run first; none is left out.
        error: median size of the error, without its sign; None without a figure.
        coverage: share of the intervals that held, with its exact ends; None without a figure. Predictions of one
            run are not independent of each other: for them the ends are too narrow.
        width: median width of the intervals of these figures; None without a figure.
        score: mean interval score of these figures; None without a figure.
    """

    schema: int
    entries: tuple[Score, ...]
    error: Quantity | None
    coverage: Quantity | None
    width: Quantity | None = None
    score: float | None = None


def scores(run: Run, analysis: Analysis) -> Iterable[Score]:
    """Yield the scores of the predictions of a run; one for each state if the figure is given by state."""
    for each in run.predictions:
        bare = _bare(run, each, None)
        figures = [
            estimate
            for estimate in analysis.estimates
            if (estimate.case, estimate.metric) == (each.of, each.metric) and estimate.median
        ]
        if bare.refused or not figures:
            yield bare
            continue
        inputs = disturbed_inputs(each, analysis)
        for estimate in figures:
            value = estimate.value or bare.predicted
            yield msgspec.structs.replace(
                bare,
                measured=value,
                error=value.value / each.value - 1,
                held=not distance(value, bare.predicted),
                score=interval_score(bare.predicted, value.value),
                disturbed=estimate.disturbed,
                disturbed_inputs=inputs,
            )
    for refused in run.refused:
        yield _bare(run, refused.prediction, refused.why)


def _bare(run: Run, prediction: Prediction, why: Refusal | None) -> Score:
    """Return a prediction without its figure."""
    case = next((each for each in run.plan.cases if each.id == prediction.of), None)
    names = (run.plan.declared(case.benchmark).scaled or case.params) if case else ()
    predicted = Quantity(*prediction.parts, prediction.unit, prediction.basis)
    width = log_width(predicted)
    problem = {name: value for name, value in case.params.items() if name in names} if case else {}
    return Score(
        run=run.info.id,
        case=prediction.of,
        benchmark=case.benchmark if case else "",
        placement=case.placement.label if case else "",
        problem={**problem, **(case.factors if case else {})},
        metric=prediction.metric,
        predicted=predicted,
        refused=why or ("too wide" if is_too_wide(predicted) else None),
        width=width if math.isfinite(width) else None,
    )


def disturbed_inputs(prediction: Prediction, analysis: Analysis) -> int:
    """Return how many launches of the estimates were disturbed that a prediction follows from."""
    of = {source for model in analysis.models if model.id in prediction.models for source in model.of}
    sources = of | set(prediction.models)
    return sum(each.disturbed for each in analysis.estimates if each.id in sources)


def together(entries: Iterable[Score]) -> Scores:
    """Summarise the scores of predictions that count and have a figure."""
    every = tuple(entries)
    errors = [abs(each.error) for each in every if each.error is not None]
    points = [each.score for each in every if each.score is not None]
    if not errors:
        return Scores(2, every, None, None)
    return Scores(
        2,
        every,
        median_interval(errors),
        share_of(sum(bool(each.held) for each in every), len(errors)),
        median_interval([each.width for each in every if each.score is not None and each.width is not None]),
        sum(points) / len(points),
    )
