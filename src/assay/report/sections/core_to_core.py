"""How long a cache line takes from one core to another, for all pairs or a sample of them."""

from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import choose, figures, fitted, words
from assay.report.charts.heatmap import Cell, heatmap
from assay.report.fitted import Fitted
from assay.report.section import Figure, Headline, Section, Table, headings

order = 60
claims = frozenset({"core_to_core"})

LAW = "core-to-core"
#: Fewer cpus make no matrix.
_MATRIX = 3

_WHY = text(
    "When one core writes what another waits for, such as a lock, a flag of a barrier or a message between "
    "processes, the cache line has to travel. How far it travels sets the least time of all that."
)


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where no pair was planned."""
    estimates = choose.middle(choose.headline_metric(choose.of_benchmark(analysis, "core_to_core")))
    if not estimates:
        return None
    measured = choose.measured(estimates)
    found = fitted.fitted(analysis, LAW)
    best = choose.best(measured)
    return Section(
        id="core-to-core",
        title=text("Core to core"),
        meaning=(joined(" ", (_WHY, _meaning(found))),)
        if measured
        else (joined(" ", (_WHY, text("No pair could be measured."))),),
        figures=tuple(
            _figure(run, each, number) for number, each in enumerate(found) if len(_cpus(each)) >= _MATRIX
        )
        or (
            (figures.placements(measured, "figure-core-to-core", text("Hand-over, one way")),) if measured else ()
        ),
        tables=tables(run, analysis),
        estimates=estimates,
        headlines=(Headline(text("Nearest two cores, one way"), best),) if best else (),
        benchmarks=claims,
    )


def tables(_run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """Each kind of pair with its median and the nearest and farthest pair."""
    found = fitted.fitted(analysis, LAW)
    names = fitted.labels(found)
    rows = [
        (
            joined(", ", [kind, names[each.model.id]]),
            f"{sum(point.at['class'] == kind for point in each.model.points):,}",
            words.quantity(middle, "s"),
            words.quantity(low, "s"),
            words.quantity(high, "s"),
        )
        for each in found
        for kind, (middle, low, high) in each.model.parameters.items()
    ]
    caption = text("Hand-over of a cache line, one way, by what the two cores share: medians of pairs")
    columns = headings("The two cores share", "Pairs", "Median", "Least pair", "Largest pair")
    return (Table(caption, columns, tuple(rows), frozenset({1, 2, 3, 4})),) if rows else ()


def _cpus(each: Fitted) -> list[int]:
    return sorted({int(point.at[end]) for point in each.model.points for end in ("a", "b")})


def _figure(run: Run, each: Fitted, number: int) -> Figure:
    machine = next(iter(run.machines.values()), None)
    place = {cpu: core.index for core in (machine.topology.cores if machine else ()) for cpu in core.cpus}
    cpus = sorted(_cpus(each), key=lambda cpu: (place.get(cpu, cpu), cpu))
    factor, unit = figures.scaled(each.estimates)
    pairs = {(int(point.at["a"]), int(point.at["b"])): point for point in each.model.points}
    cells = []
    for row in cpus:
        for column in cpus:
            point = pairs.get((row, column)) or pairs.get((column, row))
            if point is None:
                continue
            estimate: Estimate = each.estimate(point)
            figure = words.shown(estimate)
            value = factor * point.value[0]
            basis = joined(", ", (f"{figure.ends} {figure.unit}", figure.basis)) if figure else ""
            short = f"{value:.{min(1, words.decimals(value))}f}"
            cells.append(Cell(f"{row}", f"{column}", value, short, "", basis, note=_word(point.at["class"])))
    possible = len(cpus) * (len(cpus) - 1) // 2
    caption = joined(
        " ",
        (
            text(
                "Hand-over of a cache line between two cpus, one way, in {unit}. Each pair was measured once and "
                "stands on both sides of the diagonal.",
                unit=unit,
            ),
            text(
                "Measured are {pairs} of the {all} pairs of these cpus, a sample with pairs of every kind; empty "
                "cells were not measured.",
                pairs=len(pairs),
                all=possible,
            )
            if len(pairs) < possible
            else "",
            text("Intervals are in the table."),
        ),
    )
    result = _meaning((each,))
    spec = heatmap(
        cells, (text("cpu"), text("cpu"), text("one way ({unit})", unit=unit)), "lower", [f"{cpu}" for cpu in cpus]
    )
    return Figure(f"figure-core-to-core{f'-{number}' if number else ''}", caption, result, spec)


def _meaning(found: tuple[Fitted, ...]) -> str:
    told = []
    for each in found:
        if len(each.model.points) == 1:
            told.append(_only(each))
            continue
        kinds = words.listed(
            text(
                "{time} ({kind}; {low} to {high})",
                time=words.quantity(middle, "s"),
                kind=kind,
                low=words.quantity(low, "s"),
                high=words.quantity(high, "s"),
            )
            for kind, (middle, low, high) in each.model.parameters.items()
        )
        if each.state:
            told.append(
                text(
                    "The median pair takes {kinds} with {state}; in brackets the nearest and the farthest pair.",
                    kinds=kinds,
                    state=each.state,
                )
            )
        else:
            told.append(
                text("The median pair takes {kinds}; in brackets the nearest and the farthest pair.", kinds=kinds)
            )
    return joined(" ", told)


def _only(each: Fitted) -> str:
    """What is said where two cores are all there are."""
    (point,) = each.model.points
    figure = words.shown(each.estimate(point))
    return text(
        "The pair takes {time} ({kind}).", time=figure.full if figure else "", kind=_word(point.at["class"])
    )


def _word(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value}"
