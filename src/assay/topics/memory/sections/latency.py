"""The time of one load by working set: a staircase whose steps are the caches, memory, and the TLB."""

import statistics
from collections.abc import Iterable

from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.model.units import format_size
from assay.report import figures, formatting, selection
from assay.report.charts.curve import Boundary, Guides, Plateau
from assay.report.declared import Declared, Listing, Scene
from assay.report.fitted import Fitted
from assay.report.section import Figure, Headline, headings
from assay.topics.memory.models.latency_levels import MEMORY, TLB, LatencyLevel, LatencyLevels
from assay.topics.memory.sections import numa

#: Fewer sizes make no curve.
_CURVE = 4
#: Steps of two walks with the same name share one label if they differ by less.
_SAME_STEP = 1.15
#: Ends of one cache or TLB that are nearer count as one: the sizes of a walk are an eighth of an octave apart.
_ONE_KNEE = 1.25


def _name(level: LatencyLevel, number: int) -> str:
    """`L2`, `memory step 2`, `memory beyond the TLB`; a number where it is not known what answers."""
    name = _plain(level, number)
    return text("{level} beyond the TLB", level=name) if level.beyond_tlb else name


def _plain(level: LatencyLevel, number: int) -> str:
    """Name a level without the TLB."""
    if not level.answered_by:
        return text("level {number}", number=str(number))
    if level.step > 1 and not level.beyond_tlb:
        return f"{level.answered_by} step {level.step}"
    return text("memory") if level.answered_by == MEMORY else level.answered_by


def _rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    for each in scene.found:
        for number, level in enumerate(each.model.levels, 1):
            figure, size, between = each.shown(level.latency), "", ""
            if level.end:
                value, lo, hi = map(format_size, level.end.size)
                size = f"{value} ({TLB})" if level.end.cause == TLB else value
                between = text("{low} to {high}", low=lo, high=hi)
            name = _name(level, number)
            cycles = formatting.interval(level.cycles, "").plain if level.cycles else ""
            yield scene.name(each), name, figure.plain, figure.ends, cycles, size, between


def _charts(scene: Scene) -> tuple[Figure, ...]:
    measured, found = scene.measured, scene.found
    if not measured:
        return ()
    series = figures.series_of(measured, "bytes")
    groups = selection.grouped(measured, series)
    curves = tuple(each for members in groups.values() if len(members) >= _CURVE for each in members)
    if not curves:
        return (figures.placements(measured, "figure-latency", text("Time of one load")),)
    drawn: set[str] = {joined(", ", (series(e), selection.state(e))) for e in curves}
    factor, _ = figures.scaled(curves)
    lines = _boundaries(scene.run, curves, found)
    guides = Guides(lines, _steps(found, drawn, series, factor), _cycles(found, factor))
    return (figures.curves(curves, "figure-latency", text("Time of one load"), guides, series),)


def _cycles(found: tuple[Fitted[LatencyLevels], ...], factor: float) -> tuple[str, float] | None:
    """Return the title of the axis of cycles, and cycles per unit of time; None where no clock was measured."""
    levels = (level for each in found for level in each.model.levels)
    clock = next((level.cycles.value / level.latency.value for level in levels if level.cycles), None)
    if clock is None:
        return None
    return text("cycles at {clock}, measured", clock=formatting.quantity(clock, "Hz")), clock / factor


def _steps(
    found: tuple[Fitted[LatencyLevels], ...], drawn: set[str], series: figures.Name, factor: float
) -> tuple[Plateau, ...]:
    steps: list[Plateau] = []
    labelled: dict[str, list[float]] = {}
    for each in found:
        plain = series(each.estimates[0])
        own = joined(", ", (plain, each.state))
        name = own if each.state and own in drawn else plain
        for number, level in enumerate(each.model.levels, 1):
            sizes = [float(p.at["bytes"]) for p in each.model.points if p.at.get("level") == number]
            if not sizes or name not in drawn:
                continue
            value, whole = level.latency.value, _name(level, number)
            time = formatting.quantity(value, "s")
            label: str = joined("  ", (whole, time))
            short: str = joined("  ", (_plain(level, number), time))
            of_level = labelled.setdefault(whole, [])
            if any(1 / _SAME_STEP < other / value < _SAME_STEP for other in of_level):
                label = short = ""
            else:
                of_level.append(value)
            steps.append(Plateau(min(sizes), max(sizes), factor * value, name, label, short))
    return tuple(steps)


def _boundaries(
    run: Run, curves: tuple[Estimate, ...], found: tuple[Fitted[LatencyLevels], ...]
) -> tuple[Boundary, ...]:
    """Mark the claimed sizes of the data caches of the core, and the measured reach of caches and TLB."""
    machine = next(iter(run.machines.values()), None)
    largest = max(float(e.params["bytes"]) for e in curves)
    caches = machine.topology.data_caches(curves[0].placement.cpus[0][:1]) if machine else ()
    sizes = {f"L{each.level}": float(each.size_bytes) for each in caches if 0 < each.size_bytes < largest}
    lines = [Boundary(size, f"{name} = {format_size(size)}", name) for name, size in sizes.items()]
    lines += [
        Boundary(
            size,
            text("{level} holds {size}", level=cause, size=format_size(size)),
            text("{level} ends", level=cause),
            measured=True,
        )
        for cause, size in _knees(found)
    ]
    return tuple(sorted(lines, key=lambda line: line.x))


def _knees(found: tuple[Fitted[LatencyLevels], ...]) -> Iterable[tuple[str, float]]:
    """Return where walks left a cache or a TLB; walks that agree give one mark, between them."""
    ends = [level.end for each in found for level in each.model.levels if level.end]
    for cause, members in selection.grouped((end for end in ends if end.cause), lambda end: end.cause).items():
        groups: list[list[float]] = []
        for knee in sorted(end.size.value for end in members):
            if groups and knee / groups[-1][-1] < _ONE_KNEE:
                groups[-1].append(knee)
            else:
                groups.append([knee])
        yield from ((cause, statistics.geometric_mean(group)) for group in groups)


def _sentences(scene: Scene) -> str:
    if not scene.measured:
        return text("Nothing could be measured.")
    reading = text(
        "Thick lines are the fitted levels. Dashed vertical lines are the sizes that the system states of the "
        "caches; solid ones are measured: the working set at which a load leaves a cache or a TLB."
    )
    second = text(
        "“Step 2” is a second level of a cache or of memory: a more distant part, a part that others use, or "
        "slower translation of addresses."
    )
    levels = (level for each in scene.found for level in each.model.levels)
    steps = any(level.step > 1 and not level.beyond_tlb for level in levels)
    return joined(" ", (reading, second if steps else ""))


def _headlines(scene: Scene) -> Iterable[Headline]:
    """Show one load from the largest working set, which is memory."""
    usual = tuple(e for e in scene.measured if e.placement.memory == "first-touch") or scene.measured
    largest = max((float(e.params["bytes"]) for e in usual), default=0.0)
    last = selection.best(e for e in usual if float(e.params["bytes"]) == largest)
    if last:
        yield Headline(text("Memory latency, working set {size}", size=format_size(largest)), last)


declared = Declared(
    order=25,
    id="load-latency",
    title=text("Memory latency by working set"),
    introduction=text(
        "Each load waits for the previous one, along a random cycle through the working set, so prefetching "
        "does not help. While the working set fits a cache, a load takes the latency of this cache; beyond it "
        "the time rises to the next level. If small pages are slower than huge pages, TLB misses cost time."
    ),
    benchmark="latency",
    law=LatencyLevels,
    # The cells of the matrix of memory nodes have a section of their own.
    select=lambda analysis, every: tuple(e for e in every if e.id not in numa.cells(analysis)),
    sentences=_sentences,
    charts=_charts,
    shared_tables=(
        Listing(
            text(
                "Levels of the load latency: time of one load, cycles of the clock measured under load, and the "
                "working set at which the level ends"
            ),
            headings("Walk", "Level", "One load", "Interval", "Cycles", "Up to", "Interval"),
            _rows,
            {2, 3, 4, 5, 6},
            optional={4},
        ),
    ),
    headlines=_headlines,
)
