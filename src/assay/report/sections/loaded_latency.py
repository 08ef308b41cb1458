"""What a load takes while other cores draw bandwidth."""

from assay.model.result import Analysis
from assay.model.run import Run
from assay.model.text import joined, text
from assay.model.units import format_size
from assay.report import choose, figures, fitted, words
from assay.report.charts.lines import LinePoint, lines
from assay.report.fitted import Fitted
from assay.report.section import Figure, Headline, Section, Table, headings

order = 27
claims = frozenset({"loaded_latency"})

LAW = "loaded-latency"

_WHY = text(
    "A memory that is busy answers late. One core walks through memory while the others draw bandwidth, from "
    "little to all they can. The curve stays flat as long as requests do not queue; where it turns up, the "
    "memory is full."
)


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where it was not planned."""
    estimates = choose.middle(choose.headline_metric(choose.of_benchmark(analysis, "loaded_latency")))
    if not estimates:
        return None
    found = tuple(each for each in fitted.fitted(analysis, LAW) if "bandwidth" in each.model.parameters)
    busy = tuple(each.estimate(each.model.points[-1]) for each in found)
    return Section(
        id="loaded-latency",
        title=text("Latency under load"),
        meaning=(joined(" ", (_WHY, _meaning(found))),),
        figures=(_figure(found, analysis),) if found else (),
        tables=tables(run, analysis),
        estimates=estimates,
        headlines=tuple(Headline(text("One load from busy memory"), e) for e in busy[:1]),
        benchmarks=claims,
    )


def tables(_run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """Idle and loaded latency, their ratio, and the bandwidth drawn beside it."""
    found = fitted.fitted(analysis, LAW)
    names = fitted.labels(found)
    rows = []
    for each in found:
        idle, loaded = (each.model.parameters[name][0] for name in ("idle", "loaded"))
        drawn = each.shown("bandwidth", "B/s").short if "bandwidth" in each.model.parameters else text("not known")
        shown = (each.shown("idle", "s").short, each.shown("loaded", "s").short)
        rows.append(
            (names[each.model.id] or words.placed(each.estimates[0]), *shown, f"{loaded / idle:.2f}", drawn)
        )
    columns = headings("Placement", "Idle", "Loaded", "Ratio", "Bandwidth beside it")
    return (
        Table(text("One load from idle and from busy memory"), columns, tuple(rows), frozenset({1, 2, 3, 4})),
    ) * bool(rows)


def _figure(found: tuple[Fitted, ...], analysis: Analysis) -> Figure:
    names = fitted.labels(found)
    beside = {
        (e.case, e.placement.hosts, e.state): e
        for e in choose.of_benchmark(analysis, "loaded_latency")
        if e.unit == "B/s" and e.median is not None
    }
    factor, unit = figures.scaled(fitted.of(found))
    across, across_unit = figures.scaled(beside.values())
    points = []
    for each in found:
        for number, point in enumerate(each.model.points):
            estimate = each.estimate(point)
            load = beside.get((estimate.case, estimate.placement.hosts, estimate.state))
            ends = (load.lo, load.hi) if load else (None, None)
            drawn = float(point.at.get("bandwidth", 0.0))
            x_lo, x_hi = (across * (drawn if end is None else end) for end in ends)
            value, lo, hi = (factor * end for end in point.value)
            figure = words.shown(estimate)
            short, basis = (figure.short, figure.basis) if figure else ("", "")
            name = names[each.model.id] or text("one load")
            place = text("{rate} drawn", rate=words.quantity(drawn, "B/s"))
            points.append(LinePoint(across * drawn, name, value, lo, hi, short, basis, place, number, x_lo, x_hi))
    caption = joined(
        " ",
        (
            text("Time of one load against the bandwidth that other cores draw."),
            figures.whiskers(fitted.of(found)),
            text("Points are joined in the order of the load that was asked for."),
        ),
    )
    result = joined(
        "; ",
        [
            text("{series}: {figure} beside {load}", series=point.series, figure=point.text, load=point.place)
            for point in points
        ],
    )
    titles = (
        text("bandwidth beside it ({unit})", unit=across_unit),
        text("time of one load ({unit})", unit=unit),
    )
    return Figure("figure-loaded-latency", caption, result, lines(points, titles))


def _meaning(found: tuple[Fitted, ...]) -> str:
    told = []
    for each in found:
        idle, loaded = (each.shown(name, "s") for name in ("idle", "loaded"))
        ratio = each.model.parameters["loaded"][0] / each.model.parameters["idle"][0]
        beside = each.shown("bandwidth", "B/s").short
        told.append(
            text(
                "A load takes {idle} from idle memory and {loaded}, {ratio} times as long, while the others draw "
                "all they can, {beside}.",
                idle=idle.full,
                loaded=loaded.full,
                ratio=f"{ratio:.2f}",
                beside=beside,
            )
        )
    small = [e for each in found for e in each.estimates if e.params.get("pages") == "small"]
    if small:
        told.append(
            text(
                "The walk goes through {size} in small pages, so that the look-up of an address (TLB miss) is "
                "part of each load.",
                size=format_size(int(small[0].params["bytes"])),
            )
        )
    return joined(" ", told)
