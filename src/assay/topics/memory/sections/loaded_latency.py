"""The time of a load while other cores draw bandwidth."""

from collections.abc import Hashable, Iterable

from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.model.units import format_size
from assay.report import figures, fitted, formatting, selection
from assay.report.charts.lines import LinePoint, lines
from assay.report.declared import Declared, Listing, Scene
from assay.report.fitted import Fitted
from assay.report.section import Figure, Headline, headings
from assay.topics.memory.models.loaded_latency import LoadedLatency


def _drawing(scene: Scene) -> tuple[Fitted[LoadedLatency], ...]:
    """Return the models with a known bandwidth of the other cores."""
    return tuple(each for each in scene.found if each.model.bandwidth)


def _loads(scene: Scene) -> dict[Hashable, Estimate]:
    """Return the bandwidth of the other cores at each point."""
    found = selection.measured(selection.of_benchmark(scene.analysis, declared.benchmark))
    return {_key(each): each for each in found if each.unit == "B/s"}


def _key(estimate: Estimate) -> Hashable:
    return estimate.case, estimate.placement.hosts, estimate.state


def _charts(scene: Scene) -> tuple[Figure, ...]:
    found = _drawing(scene)
    if not found:
        return ()
    loads = scene.cached(_loads)
    factor, unit = figures.scaled(fitted.of(found))
    across, across_title = _load_axis(tuple(loads.values()))
    points = []
    for each, point in ((model, point) for model in found for point in model.model.points):
        estimate = each.estimate(point)
        load = loads.get(_key(estimate))
        drawn = float(point.at.get("bandwidth", 0.0))
        ends = (load.lo, load.hi) if load else (None, None)
        x, x_lo, x_hi = (across * (drawn if end is None else end) for end in (drawn, *ends))
        place = text("{rate} load", rate=formatting.quantity(drawn, "B/s"))
        name = scene.name(each) or text("one load")
        points.append(
            LinePoint(x=x, x_lo=x_lo, x_hi=x_hi, series=name, place=place, **figures.ends(estimate, factor))
        )
    caption = (
        text("Time of one load against the bandwidth of the other cores."),
        figures.whiskers(fitted.of(found)),
        text("The line joins the points in the order of the requested load."),
    )
    result = [
        text("{series}: {figure} at {load}", series=point.series, figure=point.text, load=point.place)
        for point in points
    ]
    titles = across_title, text("time of one load ({unit})", unit=unit)
    return (Figure("figure-loaded-latency", joined(" ", caption), joined("; ", result), lines(points, titles)),)


def _load_axis(loads: tuple[Estimate, ...]) -> tuple[float, str]:
    """Return the factor on bandwidths, and the title: shares of the limit where all have the same limit."""
    limits = {load.limit.value if load.limit else 0.0 for load in loads}
    if len(limits) == 1 and 0.0 not in limits:
        return 100 / limits.pop(), text("load: share of the memory bandwidth (%)")
    factor, unit = figures.scaled(loads)
    return factor, text("load bandwidth ({unit})", unit=unit)


def _sentences(scene: Scene) -> str:
    estimates = fitted.of(_drawing(scene))
    small = next((e for e in estimates if e.params.get("pages") == "small"), None)
    if small is None:
        return ""
    return text(
        "The pointer chase covers {size} in small pages, so each load includes a TLB miss.",
        size=format_size(int(small.params["bytes"])),
    )


def _rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    loads = scene.cached(_loads)
    for each in scene.found:
        yield (
            scene.name(each) or formatting.placed(each.estimates[0]),
            each.shown(each.model.idle).short if each.model.idle else "",
            "" if each.model.idle else each.shown(each.model.lightest).short,
            each.shown(each.model.loaded).short,
            f"{each.model.loaded.value / each.model.base.value:.2f}",
            each.shown(each.model.bandwidth).short if each.model.bandwidth else text("not known"),
            formatting.share_text(load) if (load := loads.get(_key(each.estimate(each.model.points[-1])))) else "",
        )


declared = Declared(
    order=27,
    id="loaded-latency",
    title=text("Memory latency under load"),
    introduction=text(
        "Memory latency grows under load. One core chases pointers through memory while the others read with "
        "increasing bandwidth. The curve is flat while requests do not queue; where it rises, they wait for each "
        "other."
    ),
    benchmark="loaded_latency",
    law=LoadedLatency,
    sentences=_sentences,
    charts=_charts,
    shared_tables=(
        Listing(
            text("Memory latency without load (of the walk alone, if measured) and under full load"),
            headings("Placement", "Idle", "Lightest load", "Full load", "Ratio", "Load bandwidth", "Of limit"),
            _rows,
            {1, 2, 3, 4, 5, 6},
            optional={1, 2},
        ),
    ),
    headlines=lambda scene: [
        Headline(text("Memory latency under load"), each.estimate(each.model.points[-1]))
        for each in _drawing(scene)[:1]
    ],
)
