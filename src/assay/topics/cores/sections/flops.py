"""Operations per second in registers, by precision, width and mix, and the clock of the cores."""

from collections.abc import Iterable

from assay.analyse.bounds import CLOCK_SHARE, run_clock
from assay.analyse.curves import states_of
from assay.model import places
from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import figures, formatting, provenance, selection
from assay.report.charts.heatmap import Cell, heatmap
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, Headline, headings
from assay.topics.cores.models.operations_per_cycle import OperationsPerCycle

#: Axes of the heat map.
_AXES = ("mix", "width", "format")
_RATE, _CLOCK, _LOADED = "flop/s", "Hz", "loaded-clock"


def _peaks(scene: Scene) -> list[Estimate]:
    """Return the best rate of each placement and precision, in each state where there are several."""
    found: dict[str, Estimate] = {}
    groups = selection.grouped(scene.measured, lambda e: (e.placement.label, e.params.get("format", "")))
    for members in groups.values():
        for state in states_of(members):
            best = selection.best(e for e in members if e.state in {None, state})
            found |= {best.id: best} if best else {}
    return list(found.values())


def _best(scene: Scene) -> Estimate | None:
    """Return the best rate in double precision on the most cores."""
    double = [e for e in scene.cached(_peaks) if e.params.get("format", "fp64") == "fp64"]
    return max(double, key=lambda e: len(e.placement.cpus[0]), default=None)


def _how(e: Estimate) -> str:
    width, mix = (str(e.params.get(axis, "")) for axis in ("width", "mix"))
    return text("{bits}-bit {mix}", bits=width, mix=mix) if width.isdigit() else f"{width} {mix}".strip()


def _charts(scene: Scene) -> Iterable[Figure]:
    """Draw a heat map: flop per cycle by operation, width and precision; the rate where no clock was measured."""
    a_cycle = [(each.estimate(point), point.value) for each in scene.found for point in each.model.points]
    found = a_cycle or [(e, e.value) for e in scene.measured if e.value]
    if not found:
        return
    found.sort(key=lambda each: _rank(each[0]))
    every = [e for e, _ in found]
    factor, unit = (1.0, "") if a_cycle else figures.scaled(every)
    title = text("flop per cycle of a core") if a_cycle else text("rate ({unit})", unit=unit)
    names = [name for name in selection.varied(every) if name not in _AXES]
    several = len({e.placement.label for e in every}) > 1
    cells = []
    for e, value in found:
        shown, (mix, width, form) = factor * value.value, (str(e.params.get(axis, "")) for axis in _AXES)
        where = [places.cores(e.placement.label) if several else "", selection.levels(e, names)]
        row = joined(", ", [_MIXES.get(mix, mix), *where, selection.state(e)])
        ends = formatting.interval(value.scaled(factor, unit), formatting.basis(e))
        cells.append(
            Cell(
                row=row,
                column=f"{form} {width}".strip(),
                value=shown,
                text=formatting.factor(shown),
                ratio="",
                basis=joined(", ", [ends.ends, ends.basis, formatting.share_text(e)]),
            )
        )
    caption = text(
        "Arithmetic by operation and by precision and width of the instructions (bits): {counted}. A fused "
        "multiply-add counts as two operations. The scale of the colours is logarithmic.",
        counted=title,
    )
    result = figures.alternative_text((cell.row, cell.column, cell.text) for cell in cells)
    spec = heatmap(cells, (text("operation"), text("precision and width"), title))
    yield Figure("figure-flops", caption, result, spec)


def _rank(estimate: Estimate) -> tuple[int, ...]:
    """Sort by number of cpus, then by operation, precision and width in the order of the declaration."""
    axes = {axis.name: axis.values for axis in estimate.declared.axes}
    params = ((axes.get(name, ()), estimate.params.get(name)) for name in ("mix", "format", "width"))
    places = (values.index(value) if value in values else len(values) for values, value in params)
    return len(estimate.placement.cpus[0]) if estimate.placement.cpus else 0, *places


_MIXES = {
    "fma": text("fused multiply-add"),
    "add": text("add"),
    "multiply": text("multiply"),
    "divide": text("divide"),
    "sqrt": text("square root"),
}


def _clocks(scene: Scene) -> list[tuple[str, ...]]:
    """Return the rows of clocks: the facts of the machine, then the clocks of each placement over its cases."""
    machine = next(iter(scene.run.machines.values()), None)
    clocks, _ = scene.cached(_kept_and_refused)
    known = {
        name: fact
        for part in ("processor", "frequency")
        for name, fact in (machine.facts.get(part, {}) if machine and clocks else {}).items()
        if fact.known and fact.unit == _CLOCK
    }
    rows: list[tuple[str, ...]] = [
        (text("{name} (a fact)", name=name), provenance.fact(fact), "", fact.origin)
        for name, fact in known.items()
    ]
    groups = selection.grouped(clocks, lambda e: (e.placement.label, e.kernel, selection.state(e)))
    for (label, kernel, state), members in groups.items():
        ordered = sorted(members, key=lambda e: e.median or 0.0)
        least, most = (formatting.shown(e).short for e in (ordered[0], ordered[-1]))
        how = text("during the work") if kernel == _LOADED else text("alone")
        cases = formatting.count(len(members), "case", "cases")
        rows.append((joined(", ", [label, how, state]), least, most if len(members) > 1 else "", cases))
    return rows


def _sentences(scene: Scene) -> str:
    if scene.cached(_best) is None:
        return text("Nothing could be measured.")
    _, refused = scene.cached(_kept_and_refused)
    hidden = text(
        "{count} clock is impossibly low and not shown; a finding explains why.|{count} clocks are "
        "impossibly low and not shown; a finding explains why.",
        count=len(refused),
    )
    return joined(" ", (hidden if refused else "", _nominal(scene.run)))


def _nominal(run: Run) -> str:
    """Say that the nominal clock is unknown, and what is therefore unknown, too; empty where it is known."""
    facts = (machine.fact("processor", "nominal frequency") for machine in run.machines.values())
    unknown = next((fact for fact in facts if not fact.known), None)
    if unknown is None:
        return ""
    return text(
        "The nominal clock is unknown ({why}), so the share of it and the use of turbo are unknown."
        if unknown.unavailable
        else "The nominal clock is unknown, so the share of it and the use of turbo are unknown.",
        why=unknown.unavailable,
    )


def _kept_and_refused(scene: Scene) -> tuple[tuple[Estimate, ...], tuple[Estimate, ...]]:
    """Return the clocks, and the figures that cannot be clocks."""
    least = CLOCK_SHARE * run_clock(scene.analysis.estimates)
    clocks = (e for e in selection.measured(scene.headline) if e.unit == _CLOCK)
    parts = selection.grouped(clocks, lambda e: (e.median or 0.0) < least)
    return parts.get(False, ()), parts.get(True, ())


def _headlines(scene: Scene) -> Iterable[Headline]:
    best = scene.cached(_best)
    if best:
        where, form = places.cores(best.placement.label), str(best.params.get("format", ""))
        yield Headline(text("Floating-point peak, {where}, {form}", where=where, form=form), best)


def _best_rates(scene: Scene) -> Iterable[tuple[str, ...]]:
    for e in scene.cached(_peaks):
        figure = formatting.shown(e)
        name = joined(", ", [e.placement.label, str(e.params.get("format", "")), selection.state(e)])
        yield name, figure.plain, figure.ends, formatting.against(e), _how(e)


def _a_cycle(scene: Scene) -> Iterable[tuple[str, ...]]:
    """List the single operations of each placement and precision, each in its best width."""
    for each in scene.found:
        ascending = sorted(each.model.points, key=lambda point: point.value.value)
        best = {str(point.at["mix"]): point for point in ascending}
        for mix in (name for name in _MIXES if name in best):
            e, value = each.estimate(best[mix]), best[mix].value
            where = joined(", ", [e.placement.label, str(e.params.get("format", "")), each.state])
            figure = formatting.interval(value, each.basis)
            yield where, _how(e), formatting.shown(e).short, figure.plain, figure.ends


declared = Declared(
    order=40,
    id="flops",
    introduction=text(
        "The rate of the arithmetic units without memory traffic: independent chains of operations in "
        "registers. Wider instructions do more operations at once. Divisions and square roots are slow. A fused "
        "multiply-add counts as two operations."
    ),
    benchmark="flops",
    law=OperationsPerCycle,
    select=lambda _analysis, every: tuple(e for e in every if e.unit == _RATE),
    applies=lambda scene: scene.headline,
    sentences=_sentences,
    charts=_charts,
    shared_tables=(
        Listing(
            text("Best rate of each placement and precision"),
            headings("Peak of", "Rate", "Interval", "Of limit", "By"),
            _best_rates,
            {1, 2, 3},
        ),
        Listing(text("Clock of the cores"), headings("Clock", "Least", "Most", "Over"), _clocks, {1, 2}),
    ),
    terminal_tables=(
        Listing(
            text("Operations that one core completes in a cycle of its measured clock, in the best width"),
            headings("On", "Operation", "Rate", "Per cycle", "Interval"),
            _a_cycle,
            {2, 3, 4},
        ),
    ),
    headlines=_headlines,
)
