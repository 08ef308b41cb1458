"""Memory bandwidth: by placement, by kind of store, by kernel, by node."""

from collections.abc import Iterable

from assay.model import places
from assay.model.result import Analysis, Estimate
from assay.model.text import joined, text
from assay.model.units import format_size
from assay.report import figures, formatting, selection
from assay.report.charts.curve import Boundary, CurvePoint, Guides, curve
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, Headline, headings
from assay.topics.memory.sections import numa, saturation, touch

#: Placements of imports, which state no cpus, in the order of their size; 2 for any other part of a machine.
_OTHERS = {"one-core": 1, "half": 3, "all": 4}


def _by_placement(analysis: Analysis, every: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Select the triad, without the figures that other sections show."""
    matrix = numa.cells(analysis)
    touched = (e for members in touch.groups(analysis).values() for e in members)
    # Parallel first touch without a memory policy is the plain figure of a placement.
    options = {e.id for e in touched if e.placement.memory != "first-touch" or not selection.is_usual(e, "touch")}
    triad = selection.headline_kernel(every)
    return _of_memory(e for e in triad if e.id not in matrix | options and not saturation.is_counted(e))


def _of_memory(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """Select the largest arrays of each placement: smaller ones, where a study has them, measure caches."""
    places = selection.grouped(estimates, lambda e: (e.placement.label, e.placement.hosts))
    largest = {place: max(_elements(e) for e in members) for place, members in places.items()}
    return tuple(e for place, members in places.items() for e in members if _elements(e) == largest[place])


def _elements(estimate: Estimate) -> int:
    return int(estimate.params.get("elements", 0))


def _by_cpus(estimates: tuple[Estimate, ...]) -> list[tuple[Estimate, ...]]:
    """Group by number of cpus, fewest first; imports state the word of a placement instead of cpus."""
    by_cpus = selection.grouped(estimates, lambda e: e.placement.ranks or _OTHERS.get(e.placement.label, 2))
    return [members for _, members in sorted(by_cpus.items())]


def _prevailing(estimates: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Select the state of the machine with most launches: a headline does not rest on a single launch."""
    states = selection.grouped(estimates, lambda e: e.state)
    return max(states.values(), key=lambda members: sum(e.launches for e in members), default=())


def _headlines(scene: Scene) -> Iterable[Headline]:
    """Show the most cpus, another placement where it is clearly better, and the fewest cpus."""
    triad = scene.measured
    ordered, best = _by_cpus(triad), selection.best(_prevailing(triad))
    top, single = (
        (selection.best(_prevailing(part)) for part in (ordered[-1], ordered[0])) if ordered else (None, None)
    )
    if top is None or single is None or best is None:
        return
    shown = {top.placement.label: top}
    if (
        best.placement.label != single.placement.label
        and best.value
        and top.value
        and best.value.lo > top.value.hi
    ):
        shown.setdefault(best.placement.label, best)
    shown.setdefault(single.placement.label, single)
    for label, estimate in shown.items():
        name = text("STREAM {kernel}, {where}", kernel=estimate.kernel, where=places.cores(label))
        yield Headline(name, estimate, text("memory bandwidth"))


def _charts(scene: Scene) -> Iterable[Figure]:
    if not scene.measured:
        return
    yield figures.placements(scene.measured, "figure-bandwidth", text("Triad bandwidth"))
    usual = _usual(_by_cpus(selection.measured(scene.headline))[-1])
    if len({e.kernel for e in usual}) > 1:
        title = text("Bandwidth on {label} by kernel", label=usual[0].placement.label)
        yield figures.placements(usual, "figure-bandwidth-kernels", title, row=lambda e: e.kernel)
    yield from _sizes_drawn(scene)


def _usual(estimates: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Select the memory policy of the first estimate and parallel first touch."""
    return tuple(
        e
        for e in estimates
        if e.placement.memory == estimates[0].placement.memory and selection.is_usual(e, but=("stores",))
    )


def _sentences(scene: Scene) -> str:
    triad = scene.measured
    if not triad:
        return text(
            'No memory bandwidth could be measured. The section "What was not measured" lists the reasons.'
        )
    counted = selection.meaning(triad[0])
    return text("The rate counts {what}.", what=counted) if counted else ""


def _sizes(scene: Scene) -> Iterable[tuple[str, ...]]:
    """List the rates that chose the sizes of arrays, where caches claim more than they hold."""
    for host, machine in scene.run.machines.items():
        held = machine.topology.held_bytes
        for size, rate in sorted(machine.topology.held_rates):
            here = text("memory") if size >= held else text("partly caches")
            yield host, format_size(size), formatting.quantity(rate, "B/s"), here


_BY_SIZE = text("Rate of all cores by working set, measured before the run to choose the sizes of its arrays")


def _sizes_drawn(scene: Scene) -> Iterable[Figure]:
    """Draw the same as a curve, with the size from which on memory answers."""
    points: list[CurvePoint] = []
    held: dict[int, str] = {}
    for host, machine in scene.run.machines.items():
        for size, rate in sorted(machine.topology.held_rates):
            shown, value = format_size(size), rate / 1e9
            figure = formatting.quantity(rate, "B/s")
            points.append(CurvePoint(size, host, "", value, value, value, figure, text("one measurement"), shown))
        if machine.topology.held_rates and machine.topology.held_bytes:
            known = machine.topology.held_bytes
            held[known] = text("memory from {size} on", size=format_size(known))
    if points:
        boundaries = tuple(Boundary(size, label, label) for size, label in held.items())
        titles = text("Working set"), joined(" ", (text("Rate"), "(GB/s)"))
        result = joined("; ", held.values()) or joined(" ", (points[-1].size, points[-1].text))
        yield Figure("figure-bandwidth-sizes", _BY_SIZE, result, curve(points, titles, Guides(boundaries)))


declared = Declared(
    order=10,
    id="memory-bandwidth",
    introduction=text(
        "Most programs with large arrays run at the speed of memory, not of the processor. The triad a[i] = "
        "b[i] + s·c[i] on arrays much larger than the caches measures this speed."
    ),
    benchmark="stream",
    select=_by_placement,
    sentences=_sentences,
    charts=_charts,
    headlines=_headlines,
    page_tables=(
        Listing(
            _BY_SIZE,
            headings("Host", "Working set", "Rate", "From"),
            _sizes,
            {2},
        ),
    ),
)
