"""Dry air in a plane: its rate against what memory allows, the time of a step, and where that goes."""

from collections.abc import Iterable

from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, phases, selection
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, Headline, headings

_PHASE = {"tendencies": text("computing"), "halo": text("messages"), "other": text("other")}
_INDEPENDENT = "independent"


def _plane(e: Estimate) -> str:
    columns = int(e.params["nx"])
    return f"{columns} x {columns // 2}"


def _name(e: Estimate) -> str:
    """`1600 x 800, all`: what tells a figure from others."""
    copies = text("independent copies") if e.params["coupling"] == _INDEPENDENT else ""
    return joined(", ", [_plane(e), formatting.placed(e), copies, *e.factors.values(), selection.state(e)])


def _charts(scene: Scene) -> Iterable[Figure]:
    if not scene.measured:
        return
    yield figures.placements(scene.measured, "figure-weather", text("Rate of the weather"), row=_name)
    caption = text(
        "Where the time of a solution goes, mean over the ranks. Waiting for neighbours counts as messages, "
        "and waiting of threads for each other as other."
    )
    bars = ((_name(e), phases.seconds_of(scene.analysis, e)) for e in scene.measured)
    yield from phases.figure("figure-weather-phases", caption, bars, _PHASE)


def _others(scene: Scene, rate: Estimate) -> dict[str, Estimate]:
    """What else was found of the same solutions: metric -> estimate."""
    return {
        e.metric: e
        for e in scene.analysis.estimates
        if (e.case, e.state, e.kernel) == (rate.case, rate.state, rate.kernel) and e.median
    }


def _cells(scene: Scene, e: Estimate) -> tuple[str, ...]:
    figure, others = formatting.shown(e), _others(scene, e)
    told = (formatting.shown(others.get(metric)).plain for metric in ("step", "arithmetic", "traffic"))
    return (_name(e), str(e.params["time-steps"]), figure.plain, figure.ends, *told, formatting.share_cell(e))


def _sentences(scene: Scene) -> str:
    if scene.best is None:
        return text("It could not be measured.")
    found = [(e, phases.seconds_of(scene.analysis, e)) for e in scene.measured]
    waiting = [(seconds["halo"] / sum(seconds.values()), e) for e, seconds in found if "halo" in seconds]
    said = [
        text(
            "The best rate is {figure}: {name}.", figure=formatting.shown(scene.best).short, name=_name(scene.best)
        )
    ]
    if waiting:
        share, most = max(waiting, key=lambda each: each[0])
        said.append(
            text(
                "Messages take the largest share of the time in {name}: {share}.",
                name=_name(most),
                share=formatting.percent(share),
            )
        )
    return joined(" ", said)


def _headlines(scene: Scene) -> Iterable[Headline]:
    if scene.best:
        yield Headline(text("Weather, {where}", where=_name(scene.best)), scene.best)


declared = Declared(
    order=49,
    id="weather",
    introduction=text(
        "A bubble of warm air rises in a vertical plane, computed as codes of weather do: cells hold dry air, "
        "which flows through their borders. A step is a sweep along x and one along z, of three stages each. In "
        "each stage along x neighbours pass each other two columns. A stage reads and writes all cells, so memory "
        "decides where caches do not hold them. Mass, energy, symmetry and the first steps are checked: a "
        "solution that fails yields no figure."
    ),
    benchmark="weather",
    select=lambda _analysis, every: tuple(e for e in every if e.kernel == "rate" and e.metric == "rate"),
    sentences=_sentences,
    charts=_charts,
    shared_tables=(
        Listing(
            text("Solutions, each verified"),
            headings("Plane", "Steps", "Rate", "Interval", "Time of a step", "Operations", "Traffic", "Of limit"),
            lambda scene: (_cells(scene, e) for e in scene.measured),
            {1, 2, 3, 4, 5, 6, 7},
            optional={7},
        ),
    ),
    listed=False,
    headlines=_headlines,
)
