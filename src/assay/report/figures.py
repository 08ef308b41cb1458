"""Charts of estimates of any benchmark, for every section."""

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypedDict

from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.model.units import scale
from assay.report import formatting, selection
from assay.report.charts.curve import CurvePoint, Guides, curve
from assay.report.charts.intervals import Point, intervals
from assay.report.section import Figure

Name = Callable[[Estimate], str]

_KINDS = {
    "interval": text("95 % intervals of the median"),
    "range": text("min to max of the launches (not a confidence interval)"),
    "single": text("none if there is one launch"),
}


def scaled(estimates: Iterable[Estimate]) -> tuple[float, str]:
    """Return the factor and unit that fit the largest of the estimates."""
    largest = max((abs(e.median) for e in estimates if e.median), default=1.0)
    unit = next(iter(estimates)).unit
    value, prefixed = scale(largest, unit)
    return value / largest, prefixed


def scaled_middle(estimates: Iterable[Estimate]) -> tuple[float, str]:
    """Return the factor and unit that fit the middle of the range of a logarithmic axis."""
    estimates = tuple(estimates)
    ends = [abs(e.median) for e in estimates if e.median]
    middle = math.sqrt(min(ends) * max(ends)) if ends else 1.0
    value, prefixed = scale(middle, estimates[0].unit)
    return value / middle, prefixed


def whiskers(estimates: Iterable[Estimate]) -> str:
    """Return the meaning of points and whiskers of a figure, from the bases of its intervals."""
    made = dict.fromkeys(e.basis for e in estimates if e.basis)
    if made.keys() == {"imported"}:
        return text(
            "Points are figures as printed in their source. They have no samples, so they have no whiskers."
        )
    kinds = formatting.listed(_KINDS[method] for method in made if method in _KINDS)
    return text("Points are medians over launches; whiskers are {kinds}.", kinds=kinds)


class Ends(TypedDict):
    """Common fields of marks: value and ends in the scaled unit, the same in words, and their basis."""

    value: float
    lo: float
    hi: float
    text: str
    basis: str


def ends(estimate: Estimate, factor: float, *, positive: bool = False) -> Ends:
    """Return the ends of a measured estimate; `factor`: of the scaled unit; `positive`: for an axis without 0."""
    figure, median = formatting.shown(estimate), estimate.median or 0.0
    parts = (median, estimate.lo, estimate.hi)
    value, lo, hi = (factor * (median if end is None or (positive and not end) else end) for end in parts)
    return {"value": value, "lo": lo, "hi": hi, "text": figure.short, "basis": figure.basis}


def titled(title: str, unit: str) -> str:
    """Return the title of an axis: `Rate (GB/s)`; bare numbers have no unit."""
    return text("{title} ({unit})", title=title, unit=unit) if unit else title


def alternative_text(rows: Iterable[tuple[str, str, str]]) -> str:
    """Return row, series and figure of each mark in words, for readers who do not see the chart."""
    return joined(
        "; ", [text("{row}, {series}: {figure}", row=row, series=of, figure=value) for row, of, value in rows]
    )


def placements(
    estimates: tuple[Estimate, ...],
    figure_id: str,
    title: str,
    row: Name = formatting.placed,
    series: Name | None = None,
) -> Figure:
    """Return a forest plot: a row for each placement, a series for each combination of levels.

    `row` and `series` can name them differently; a series without a name has the title.
    """
    estimates = selection.measured(estimates)
    factor, unit = scaled(estimates)
    names = selection.varied(estimates)
    points = [
        Point(
            row=row(estimate),
            series=(series(estimate) if series else selection.series(estimate, names)) or title,
            limit=factor * estimate.limit.value if estimate.limit else None,
            short=formatting.shown(estimate).plain,
            **ends(estimate, factor),
            limit_text=formatting.limit_text(estimate.limit, estimate.unit),
        )
        for estimate in estimates
    ]
    what = (
        text("{title} by placement.", title=title) if row is formatting.placed else text("{title}.", title=title)
    )
    sentences: list[str] = [what, whiskers(estimates)]
    if any(e.limit for e in estimates):
        sentences.append(text("The vertical line in a row is the limit of that figure."))
    if estimates[0].better == "lower":
        sentences.append(text("Left is better."))
    caption = joined(" ", sentences)
    result = alternative_text((point.row, point.series, point.text) for point in points)
    return Figure(figure_id, caption, result, intervals(points, titled(title, unit)))


class Title(NamedTuple):
    """The quantity of a chart, and the part that only its caption names."""

    counted: str
    part: str = ""


def curves(
    estimates: tuple[Estimate, ...],
    figure_id: str,
    title: str | Title,
    guides: Guides | None = None,
    series: Name | None = None,
) -> Figure:
    """Return curves along the swept axis of the benchmark, a series for each combination of the other levels.

    A logarithmic axis has no 0: figures of empty messages are in tables only.
    """
    title = title if isinstance(title, Title) else Title(title)
    whole = joined(": ", title)
    axis = estimates[0].declared.swept
    measured = selection.measured(estimates)
    estimates = tuple(e for e in measured if e.params[axis])
    axis_unit = estimates[0].declared.units.get(axis, "")
    name = series or series_of(estimates, axis)
    factor, value_unit = scaled_middle(estimates)
    points = [
        CurvePoint(
            x=float(e.params[axis]),
            curve=name(e) or whole,
            state=selection.state(e),
            size=formatting.param(e.params[axis], axis_unit),
            **ends(e, factor, positive=True),
        )
        for e in estimates
        if e.median
    ]
    names = dict.fromkeys(point.series for point in points)
    result = joined("; ", [_curve_result(points, label, estimates[0].better) for label in names])
    meaning = selection.axis_meaning(estimates[0].declared, axis)
    spec = curve(
        points,
        (meaning, titled(title.counted, value_unit)),
        guides or Guides(),
        sizes=axis_unit == "B",
    )
    sentences: list[str] = [
        text("{title} against {axis}; both axes are logarithmic.", title=whole, axis=meaning),
        whiskers(estimates),
    ]
    if len(estimates) < len(measured):
        sentences.append(
            text("{size} does not fit this axis; the table shows it.", size=formatting.param(0, axis_unit))
        )
    if any(point.state for point in points):
        sentences.append(
            text(
                "A line connects points of one machine state. Points without a state hold for all states. Gaps "
                "were not measured."
            )
        )
    caption = joined(" ", sentences)
    return Figure(figure_id, caption, result, spec, factor)


def series_of(estimates: tuple[Estimate, ...], axis: str) -> Name:
    """Return the names of curves along `axis`: the placement if there are several, and the levels that vary."""
    names = tuple(name for name in selection.varied(estimates) if name != axis)
    where = len({formatting.placed(e) for e in estimates}) > 1

    def name(estimate: Estimate) -> str:
        return joined(", ", [formatting.placed(estimate) if where else "", selection.levels(estimate, names)])

    return name


def _curve_result(points: list[CurvePoint], series: str, better: str) -> str:
    of_series = [point for point in points if point.series == series]
    pick = min if better == "lower" else max
    best, last = pick(of_series, key=lambda point: point.value), max(of_series, key=lambda point: point.x)
    return text(
        "{series}: minimum {best} at {size}, {last} at {largest}"
        if better == "lower"
        else "{series}: maximum {best} at {size}, {last} at {largest}",
        series=series,
        best=best.text,
        size=best.size,
        last=last.text,
        largest=last.size,
    )
