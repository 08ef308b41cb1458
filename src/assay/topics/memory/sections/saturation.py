"""How many cores saturate the memory bandwidth."""

from collections.abc import Iterable

from assay.model.law import Point
from assay.model.quantity import Quantity
from assay.model.result import Analysis, Estimate
from assay.model.text import joined, text
from assay.report import figures, fitted, formatting
from assay.report.charts.lines import Level, LinePoint, Mark, lines
from assay.report.declared import Declared, Listing, Scene
from assay.report.fitted import Fitted
from assay.report.section import Figure, headings
from assay.topics.memory.models.saturation import REACHES, Saturation

#: With fewer cores the curve shows no more than the bandwidths of one core and of all cores.
_FEWEST_CORES = 4


def cells(analysis: Analysis) -> frozenset[str]:
    """Return the ids of the estimates that the curve over the number of cores shows."""
    return frozenset(each.id for each in analysis.estimates if is_counted(each))


def is_counted(estimate: Estimate) -> bool:
    """Whether an estimate was placed on a number of cores, which only the curve shows."""
    return estimate.placement.word.count is not None


def _cores(cores: Quantity) -> str:
    value, lo, hi = (f"{number:.0f}" for number in cores)
    return f"{value} [{lo}, {hi}]" if cores.has_interval else f"{value} ({lo} to {hi})"


def _charts(scene: Scene) -> tuple[Figure, ...]:
    factor, unit = figures.scaled(fitted.of(scene.found))
    points, marks = [], []
    for each in scene.found:
        name = scene.name(each)
        drawn = [_point(each, point, name, factor) for point in each.model.points]
        points += drawn
        cores, lo, hi = each.model.cores
        value = min(drawn, key=lambda point: abs(point.x - cores)).value
        marks.append(Mark(cores, value, lo, hi, name, formatting.count(round(cores), "core", "cores")))
    widest = max(fitted.of(scene.found), key=lambda e: len(e.placement.cpus[0]))
    limit = widest.limit if widest.limit and not widest.limit.measured_by else None
    levels = (
        (Level(factor * limit.value, text("limit {limit}", limit=formatting.limit_text(limit, widest.unit))),)
        if limit
        else ()
    )
    titles = text("cores"), text("Triad bandwidth ({unit})", unit=unit)
    caption = (
        text("Triad bandwidth by number of cores."),
        figures.whiskers(fitted.of(scene.found)),
        text(
            "The ring marks the smallest number of cores that reaches {share} of the maximum; the grey band is "
            "its uncertainty.",
            share=formatting.percent(REACHES),
        ),
        text("The horizontal line is the limit.") if levels else "",
    )
    result = joined("; ", [_result(points, mark) for mark in marks])
    return (
        Figure("figure-saturation", joined(" ", caption), result, lines(points, titles, tuple(marks), levels)),
    )


def _result(points: list[LinePoint], mark: Mark) -> str:
    """Say where a line saturates, and its maximum."""
    best = max((point for point in points if point.series == mark.series), key=lambda point: point.value)
    return text(
        "{series}: {share} with {cores}, maximum {best} with {place}",
        series=mark.series,
        share=formatting.percent(REACHES),
        cores=mark.label,
        best=best.text,
        place=best.place,
    )


def _point(each: Fitted[Saturation], point: Point, name: str, factor: float) -> LinePoint:
    cores = float(point.at["cores"])
    place = formatting.count(round(cores), "core", "cores")
    ends = figures.ends(each.estimate(point), factor)
    return LinePoint(x=cores, x_lo=cores, x_hi=cores, series=name, place=place, **ends)


def _applies(scene: Scene) -> bool:
    return any(point.at["cores"] >= _FEWEST_CORES for each in scene.found for point in each.model.points)


def _rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    for each in scene.found if _applies(scene) else ():
        yield (
            scene.name(each),
            each.shown(each.model.one_core).short if each.model.one_core else "",
            each.shown(each.model.maximum).short,
            _cores(each.model.cores_at_maximum),
            _cores(each.model.cores),
        )


declared = Declared(
    order=12,
    id="saturation",
    title=text("How many cores saturate memory"),
    introduction=text(
        "One core rarely saturates memory, and often a part of the cores is enough. The curve adds cores one by "
        "one: “compact” fills one last-level cache group after another, “spread” distributes the cores over all "
        "groups. Cores beyond the saturation point do not speed up memory-bound programs."
    ),
    law=Saturation,
    applies=_applies,
    charts=_charts,
    shared_tables=(
        Listing(
            text("Saturation of memory bandwidth: the smallest number of cores that reaches 95 % of the maximum"),
            headings("Cores added", "One core", "Most", "With cores", "Cores for 95 %"),
            _rows,
            {1, 2, 3, 4},
        ),
    ),
    rules=frozenset({"half_cores", "saturation"}),
    exclusive=cells,
)
