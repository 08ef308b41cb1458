"""The time of one load by working set: a staircase whose steps are the caches, memory, and the TLB."""

import re
import statistics

from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import Phrase, joined, text
from assay.model.units import format_size
from assay.report import choose, figures, fitted, words
from assay.report.charts.curve import Boundary, Guides, Step
from assay.report.fitted import Fitted
from assay.report.section import Figure, Headline, Section, Table, headings
from assay.report.sections import numa

order = 25
claims = frozenset({"latency"})

LAW = "latency-levels"
_PART = re.compile(r"(latency|boundary) (\d+)(?: \(([^,)]*)[^)]*\))?")
#: Fewer sizes make no curve.
_CURVE = 4
#: Steps of two walks that are called alike and differ by less share one label.
_ALIKE = 1.15
#: Ends of a TLB that are nearer are one: the sizes of a walk stand an eighth of an octave apart.
_ONE_KNEE = 1.25

_WHY = text(
    "Each load waits for the one before, along a random cycle through the working set, so that nothing can be "
    "fetched ahead. While the working set fits a cache, every load takes what that cache takes; beyond it the "
    "time rises to the next step. Where small pages are slower than huge ones, the processor looks up addresses "
    "(TLB misses)."
)


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where no walk but those of the memory nodes was planned."""
    estimates = _walks(analysis)
    if not estimates:
        return None
    measured = choose.measured(estimates)
    found = fitted.fitted(analysis, LAW)
    drawn = _figure(run, measured, found)
    return Section(
        id="load-latency",
        title=text("Load latency by working set"),
        meaning=_meaning(found) if measured else (joined(" ", (_WHY, text("None could be measured."))),),
        figures=(drawn,) if drawn else (),
        tables=tables(run, analysis),
        estimates=estimates,
        headlines=_headlines(measured),
        benchmarks=claims,
    )


def tables(_run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """Each step of each walk: time of a load, and the working set up to which it holds."""
    found = fitted.fitted(analysis, LAW)
    names = fitted.labels(found)
    rows = [row for each in found for row in _rows(each, names[each.model.id])]
    columns = headings("Walk", "Level", "One load", "Interval", "Up to", "Interval")
    caption = text("Levels of the load latency: time of one load, and the working set at which it ends")
    return (Table(caption, columns, tuple(rows), frozenset({2, 3, 4, 5})),) if rows else ()


def _walks(analysis: Analysis) -> tuple[Estimate, ...]:
    """Headline estimates that are no cell of a matrix of memory nodes."""
    cells = numa.cells(analysis)
    headline = choose.middle(choose.headline_metric(choose.of_benchmark(analysis, "latency")))
    return tuple(estimate for estimate in headline if estimate.id not in cells)


def _levels(each: Fitted) -> list[tuple[str, str, str]]:
    """(number, name of the level, name of its parameter) from the smallest working set on."""
    parts = [(match, name) for name in each.model.parameters if (match := _PART.fullmatch(name))]
    return [(match[2], _level(match[3], match[2]), name) for match, name in parts if match[1] == "latency"]


def _level(told: str | None, number: str) -> str:
    """A level of a walk as its model names it: `L2`, `memory beyond the TLB`; by its number where it has none."""
    name, beyond, _ = (told or "").partition(" beyond")
    if not name:
        return text("level {number}", number=number)
    where = text("memory") if name == "memory" else name
    return text("{level} beyond the TLB", level=where) if beyond else where


def _ends(each: Fitted) -> dict[str, tuple[str, str]]:
    """Number of a level -> (parameter of its boundary, what the boundary is)."""
    parts = [(match, name) for name in each.model.parameters if (match := _PART.fullmatch(name))]
    return {match[2]: (name, match[3] or "") for match, name in parts if match[1] == "boundary"}


def _rows(each: Fitted, walk: str) -> list[tuple[str, ...]]:
    ends = _ends(each)
    rows: list[tuple[str, ...]] = []
    for number, level, name in _levels(each):
        figure = each.shown(name, "s")
        size, between = "", ""
        if number in ends:
            parameter, knee = ends[number]
            value, lo, hi = each.model.parameters[parameter]
            size = format_size(value) + (f" ({knee})" if knee == "TLB" else "")
            between = text("{low} to {high}", low=format_size(lo), high=format_size(hi))
        rows.append((walk, level, f"{figure.value} {figure.unit}", figure.ends, size, between))
    return rows


def _figure(run: Run, measured: tuple[Estimate, ...], found: tuple[Fitted, ...]) -> Figure | None:
    series = figures.series_of(measured, "bytes")
    groups = choose.grouped(measured, series)
    curves = tuple(each for members in groups.values() if len(members) >= _CURVE for each in members)
    if not curves:
        return figures.placements(measured, "figure-latency", text("Time of one load")) if measured else None
    drawn: set[str] = {joined(", ", (series(e), choose.state(e))) for e in curves}
    factor, _ = figures.scaled(curves)
    guides = Guides(_boundaries(run, curves, found), _steps(found, drawn, series, factor))
    return figures.curves(curves, "figure-latency", text("Time of one load"), guides, series)


def _steps(found: tuple[Fitted, ...], drawn: set[str], series: figures.Name, factor: float) -> tuple[Step, ...]:
    steps: list[Step] = []
    for each in found:
        plain = series(each.estimates[0])
        own = joined(", ", (plain, each.state))
        name = own if each.state and own in drawn else plain
        for number, level, parameter in _levels(each):
            sizes = [float(p.at["bytes"]) for p in each.model.points if p.at.get("level") == int(number)]
            if not sizes or name not in drawn:
                continue
            value = each.model.parameters[parameter][0]
            told = words.quantity(value, "s")
            label: str = joined("  ", (level, told))
            short: str = joined("  ", (_plain(level), told))
            if any(_alike(step, level, factor * value) for step in steps):
                label = short = ""
            steps.append(Step(min(sizes), max(sizes), factor * value, name, label, short))
    return tuple(steps)


def _alike(step: Step, level: str, value: float) -> bool:
    return step.label.startswith(f"{level}  ") and 1 / _ALIKE < step.y / value < _ALIKE


def _plain(level: str) -> str:
    """A level without what is beyond it."""
    beyond = isinstance(level, Phrase) and "level" in level.parameters
    return str(level.parameters["level"]) if beyond and isinstance(level, Phrase) else level


def _boundaries(run: Run, curves: tuple[Estimate, ...], found: tuple[Fitted, ...]) -> tuple[Boundary, ...]:
    """Sizes of the data caches of the core that walked, and where a TLB ends."""
    machine = next(iter(run.machines.values()), None)
    cpu, largest = curves[0].placement.cpus[0][0], max(float(e.params["bytes"]) for e in curves)
    sizes = {
        f"L{cache.level}": float(cache.size_bytes)
        for cache in (machine.topology.caches if machine else ())
        if cache.kind != "instruction" and cpu in cache.cpus and 0 < cache.size_bytes < largest
    }
    lines = [Boundary(size, f"{name} = {format_size(size)}", name) for name, size in sizes.items()]
    lines += [Boundary(size, text("TLB ends, {size}", size=format_size(size)), "TLB") for size in _knees(found)]
    return tuple(sorted(lines, key=lambda line: line.x))


def _knees(found: tuple[Fitted, ...]) -> list[float]:
    """Where walks left a TLB, of each level of it once: walks that agree are one mark, between them."""
    knees = sorted(
        each.model.parameters[name][0] for each in found for name, what in _ends(each).values() if what == "TLB"
    )
    groups: list[list[float]] = []
    for knee in knees:
        if groups and knee / groups[-1][-1] < _ONE_KNEE:
            groups[-1].append(knee)
        else:
            groups.append([knee])
    return [statistics.geometric_mean(group) for group in groups]


def _meaning(found: tuple[Fitted, ...]) -> tuple[str, ...]:
    said: list[str] = [_WHY]
    names = fitted.labels(found)
    for each in found:
        levels = _levels(each)
        if levels:
            told = words.listed(
                text("{time} from {level}", time=each.shown(name, "s").short, level=level)
                for _, level, name in levels
            )
            walk = names[each.model.id]
            said.append(
                text("With {walk} a load takes {times}.", walk=walk, times=told)
                if walk
                else text("A load takes {times}.", times=told)
            )
    reading: str = text(
        "Broad strokes are the levels that the fit found; the broken upright lines mark what the machine says of "
        "its caches, and where the fit found the end of a TLB."
    )
    if any(" step " in level for each in found for _, level, _ in _levels(each)):
        reading = joined(
            " ",
            (
                reading,
                text(
                    "“Step 2” of a cache is a second level within the size that the machine says of it: a part of "
                    "it that is farther away, or one that others use."
                ),
            ),
        )
    return (joined(" ", said), reading)


def _headlines(measured: tuple[Estimate, ...]) -> tuple[Headline, ...]:
    """One load from the largest working set: memory."""
    usual = tuple(e for e in measured if e.placement.memory == "first-touch") or measured
    if not usual:
        return ()
    largest = max(float(e.params["bytes"]) for e in usual)
    last = choose.best(e for e in usual if float(e.params["bytes"]) == largest)
    return (Headline(text("One load from {size}", size=format_size(largest)), last),) if last else ()
