"""How many cores it takes to fill the bandwidth of memory."""

from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import choose, figures, fitted, words
from assay.report.charts.lines import Level, LinePoint, Mark, lines
from assay.report.fitted import Fitted
from assay.report.section import Figure, Section, Table, headings

order = 12
claims: frozenset[str] = frozenset()

LAW = "saturation"
_FILLED = 0.95

_WHY = text(
    "One core alone rarely draws all that memory can give, and often not all cores are needed. The curve adds "
    "cores one by one: “compact” fills one last-level cache group after another, “spread” deals them over all "
    "groups. Cores beyond the saturation point add nothing to programs that wait for memory."
)


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where bandwidth was not measured at several numbers of cores."""
    found = fitted.fitted(analysis, LAW)
    if not found:
        return None
    return Section(
        id="saturation",
        title=text("How many cores fill the memory"),
        meaning=(joined(" ", (_WHY, _meaning(found))),),
        figures=(_figure(found),),
        tables=tables(run, analysis),
        estimates=choose.middle(fitted.of(found)),
        rules=frozenset({"half_cores", "saturation"}),
    )


def tables(_run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """Each order of adding cores: one core, the most that any number reaches, and where it saturates."""
    found = fitted.fitted(analysis, LAW)
    names = fitted.labels(found)
    rows = [
        (
            names[each.model.id],
            each.shown("one core", "B/s").short if "one core" in each.model.parameters else "",
            each.shown("maximum", "B/s").short,
            _cores(each, "cores at maximum"),
            _cores(each, "cores"),
        )
        for each in found
    ]
    columns = headings("Cores added", "One core", "Most", "With cores", "95 % with cores")
    caption = text(
        "Saturation of memory bandwidth: the fewest cores that reach 95 % of the most that any number gets"
    )
    return (Table(caption, columns, tuple(rows), frozenset({1, 2, 3, 4})),) if rows else ()


def is_counted(estimate: Estimate) -> bool:
    """Whether an estimate was placed on a number of cores, for the curve alone."""
    return estimate.placement.label.startswith(("cores:", "spread:"))


def _cores(each: Fitted, name: str) -> str:
    value, lo, hi = (f"{number:.0f}" for number in each.model.parameters[name])
    return f"{value} [{lo}, {hi}]" if "interval" in each.basis else f"{value} ({lo} to {hi})"


def _figure(found: tuple[Fitted, ...]) -> Figure:
    names = fitted.labels(found)
    factor, unit = figures.scaled(fitted.of(found))
    points, marks = [], []
    for each in found:
        name = names[each.model.id]
        points += [_point(each, number, name, factor) for number in range(len(each.model.points))]
        cores, lo, hi = each.model.parameters["cores"]
        value = next(p.value[0] for p in each.model.points if float(p.at["cores"]) == cores)
        marks.append(Mark(cores, factor * value, lo, hi, name, words.count(round(cores), "core", "cores")))
    title = text("Triad bandwidth ({unit})", unit=unit)
    levels = _limits(found, factor)
    spec = lines(points, (text("cores"), title), tuple(marks), levels)
    caption = joined(
        " ",
        (
            text("Triad bandwidth by number of cores."),
            figures.whiskers(fitted.of(found)),
            text(
                "A ring marks the fewest cores that reach {share} of the most; the grey band is where it may lie.",
                share=words.percent(_FILLED),
            ),
            text("The red line is the limit.") if levels else "",
        ),
    )
    result = joined("; ", [_result(points, mark) for mark in marks])
    return Figure("figure-saturation", caption, result, spec)


def _result(points: list[LinePoint], mark: Mark) -> str:
    """Where a line saturates, and the most that it reaches."""
    best = max((point for point in points if point.series == mark.series), key=lambda point: point.value)
    return text(
        "{series}: {share} with {cores}, most {best} with {place}",
        series=mark.series,
        share=words.percent(_FILLED),
        cores=mark.label,
        best=best.text,
        place=best.place,
    )


def _point(each: Fitted, number: int, name: str, factor: float) -> LinePoint:
    point = each.model.points[number]
    value, lo, hi = (factor * end for end in point.value)
    estimate = each.estimate(point)
    figure = words.shown(estimate)
    cores = float(point.at["cores"])
    text, basis = (figure.short, figure.basis) if figure else ("", "")
    place = words.count(round(cores), "core", "cores")
    return LinePoint(cores, name, value, lo, hi, text, basis, place, number, cores, cores)


def _limits(found: tuple[Fitted, ...], factor: float) -> tuple[Level, ...]:
    """The limit of the largest number of cores."""
    widest = max(fitted.of(found), key=lambda e: len(e.placement.cpus[0]))
    if widest.limit is None or widest.limit.source == "measured":
        return ()
    return (
        Level(
            factor * widest.limit.value, text("limit {limit}", limit=words.limit_text(widest.limit, widest.unit))
        ),
    )


def _meaning(found: tuple[Fitted, ...]) -> str:
    names = fitted.labels(found)
    told = [
        text(
            "{name}: {cores} cores reach {share} of {most}.",
            name=names[each.model.id],
            cores=_cores(each, "cores"),
            share=words.percent(_FILLED),
            most=each.shown("maximum", "B/s").full,
        )
        for each in found
    ]
    return joined(" ", told)
