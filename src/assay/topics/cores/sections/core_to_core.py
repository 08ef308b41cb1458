"""Time of a cache-line transfer between two cores, for all pairs or a sample of them."""

from collections.abc import Callable, Iterable, Sequence

from assay.model.text import joined, text
from assay.report import figures, formatting
from assay.report.charts.heatmap import Cell
from assay.report.declared import Declared, Listing, Matrix, Scene
from assay.report.fitted import Fitted
from assay.report.section import Figure, Headline, headings
from assay.topics.cores.models.core_to_core import CoreToCore, PairClass


def _by_core(scene: Scene) -> Callable[[str], tuple[int, str]]:
    """Sort cpus in the order of their cores."""
    machine = next(iter(scene.run.machines.values()), None)
    place = {cpu: core.index for core in (machine.topology.cores if machine else ()) for cpu in core.cpus}
    return lambda cpu: (place.get(int(cpu), int(cpu)), f"{int(cpu):9}")


def _caption(_scene: Scene, each: Fitted[CoreToCore], cells: Sequence[Cell], unit: str) -> str:
    count = len({cell.row for cell in cells})
    possible = count * (count - 1) // 2
    sample = text(
        "{pairs} of the {all} pairs of these cpus were measured, a sample with pairs of every kind. Empty cells "
        "were not measured.",
        pairs=len(each.model.points),
        all=possible,
    )
    whole = text(
        "Cache-line transfer between two cpus, one way, in {unit}. Each pair was measured once and appears on "
        "both sides of the diagonal.",
        unit=unit,
    )
    intervals = text("Intervals are in the table.")
    return joined(" ", (whole, sample if len(each.model.points) < possible else "", intervals))


_MATRIX = Matrix(
    anchor="figure-core-to-core",
    heads=lambda _each, unit: (text("cpu"), text("cpu"), text("one way ({unit})", unit=unit)),
    caption=_caption,
    result=lambda _scene, each, _cells, _unit: _meaning(each),
    note=lambda point: _word(point.at["class"]),
    digits=1,
    ratio=False,
    order=_by_core,
)


def _charts(scene: Scene) -> tuple[Figure, ...]:
    one = (
        (figures.placements(scene.measured, _MATRIX.anchor, text("Cache-line transfer, one way")),)
        if scene.measured
        else ()
    )
    return _MATRIX.figures(scene) or one


def _meaning(each: Fitted[CoreToCore]) -> str:
    if len(each.model.points) == 1:  # the machine has two cores
        (point,) = each.model.points
        return text("The pair takes {time} ({kind}).", time=each.figure(point).full, kind=_word(point.at["class"]))
    kinds = formatting.listed(
        text("{time} ({kind}; {low} to {high})", time=middle, kind=kind, low=low, high=high)
        for kind, (middle, low, high) in ((pairs.name, _times(pairs)) for pairs in each.model.classes)
    )
    return text(
        "The median pair takes {kinds} in state {state}; the brackets show the fastest and the slowest pair."
        if each.state
        else "The median pair takes {kinds}; the brackets show the fastest and the slowest pair.",
        kinds=kinds,
        state=each.state,
    )


def _times(pairs: PairClass) -> list[str]:
    """Return the times of the median, the fastest and the slowest pair."""
    return [formatting.quantity(value, "s") for value in pairs.time]


def _word(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value}"


def _rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    for each in scene.found:
        for pairs in each.model.classes:
            count = sum(point.at["class"] == pairs.name for point in each.model.points)
            middle, fastest, slowest = _times(pairs)
            ends = each.shown(pairs.median).ends
            yield (joined(", ", (pairs.name, scene.name(each))), f"{count:,}", middle, ends, fastest, slowest)


declared = Declared(
    order=60,
    id="core-to-core",
    title=text("Core-to-core latency"),
    introduction=text(
        "When a core writes data that another core waits for, such as a lock, a barrier flag or a message, the "
        "cache line moves between them. The distance sets the minimum time of these operations."
    ),
    benchmark="core_to_core",
    law=CoreToCore,
    sentences=lambda scene: (
        joined(" ", map(_meaning, scene.found)) if scene.measured else text("No pair could be measured.")
    ),
    charts=_charts,
    shared_tables=(
        Listing(
            text("Cache-line transfer, one way, by what the two cores share: medians of pairs"),
            headings("The two cores share", "Pairs", "Median", "Interval", "Fastest pair", "Slowest pair"),
            _rows,
            {1, 2, 3, 4, 5},
        ),
    ),
    headlines=lambda scene: (
        [Headline(text("Core-to-core latency, one way, fastest pair"), scene.best)] if scene.best else []
    ),
)
