"""Cores of each memory node against the memory of every node: bandwidth, latency, and what firmware says."""

from assay.model.result import Analysis, Point
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import choose, figures, fitted, words
from assay.report.charts.heatmap import Cell, heatmap
from assay.report.fitted import Fitted
from assay.report.section import Figure, Section, Table

order = 20
claims: frozenset[str] = frozenset()

LAW = "numa-matrix"
_VALUE = " value"
_TAU = ("tau", "tau p")
_SURE = 0.05

_WHY = text(
    "Memory that hangs at another die or socket is reached over a link, which is slower than the cores' own."
)


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where memory was not bound to several nodes."""
    found = fitted.fitted(analysis, LAW)
    if not found:
        return None
    return Section(
        id="memory-nodes",
        title=text("Near and far memory"),
        meaning=(joined(" ", (_WHY, _meaning(_whole(found) or found))), _agreement(found)),
        figures=tuple(_figure(each, found, number) for number, each in enumerate(_whole(found))),
        tables=tables(run, analysis),
        estimates=choose.middle(fitted.of(found)),
        rules=frozenset({"numa_penalty", "numa_distances"}),
    )


def tables(_run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """Each class of pairs of nodes: firmware's distances, figures, and their ratios to local memory."""
    found = fitted.fitted(analysis, LAW)
    names = fitted.labels(found)
    rows = []
    for each in found:
        unit = each.estimates[0].unit
        for kind in [name for name in each.model.parameters if not name.endswith(_VALUE) and name not in _TAU]:
            points = [point for point in each.model.points if point.at["class"] == kind]
            away = sorted({int(point.at["distance"]) for point in points if "distance" in point.at})
            middle, low, high = each.model.parameters[kind]
            value = words.quantity(each.model.parameters[f"{kind}{_VALUE}"][0], unit)
            spread = f"{middle:.2f}" if len(points) == 1 else f"{middle:.2f} ({low:.2f} to {high:.2f})"
            distances = ", ".join(map(str, away)) or "none given"
            rows.append((names[each.model.id], kind, distances, f"{len(points)}", value, spread))
    columns = ("What", "Between", "Distance", "Pairs", "Median", "Ratio to local")
    caption = (
        "Classes of pairs of memory nodes: median over the pairs, and their ratios to the same cores' own memory"
    )
    return (Table(caption, columns, tuple(rows), frozenset({2, 3, 4, 5})),) if rows else ()


def _whole(found: tuple[Fitted, ...]) -> tuple[Fitted, ...]:
    """Those with the cores of several nodes: one row is no matrix."""
    return tuple(each for each in found if len({point.at["cpu node"] for point in each.model.points}) > 1)


def cells(analysis: Analysis) -> frozenset[str]:
    """Ids of the estimates that a matrix of memory nodes shows."""
    return frozenset(name for model in analysis.models if model.law == LAW for name in model.of)


def _figure(each: Fitted, found: tuple[Fitted, ...], number: int) -> Figure:
    factor, unit = figures.scaled(each.estimates)
    points = sorted(each.model.points, key=lambda point: (int(point.at["cpu node"]), int(point.at["memory node"])))
    drawn = [_cell(each, point, factor) for point in points]
    name = fitted.labels(found)[each.model.id]
    latency = each.estimates[0].better == "lower"
    told = f" ({name})" if name not in {"", fitted.kind(each)} else ""
    what = "Latency of a load" if latency else "Triad bandwidth"
    notes = " and the distance that firmware gives" if any(cell.note for cell in drawn) else ""
    caption = (
        f"{what} in {unit}{told}: cores of the memory node of a row against the memory of a column. Below each "
        f"figure stand its ratio to the same cores' own memory{notes}. Dark is slow. Intervals are in the table."
    )
    result = "; ".join(f"{cell.row} with {cell.column}: {cell.text} {unit} {cell.ratio}" for cell in drawn)
    title = text("latency ({unit})", unit=unit) if latency else text("bandwidth ({unit})", unit=unit)
    spec = heatmap(drawn, ("cores of", "memory of", title), "lower" if latency else "higher")
    return Figure(f"figure-numa-{number}", caption, result, spec)


def _cell(each: Fitted, point: Point, factor: float) -> Cell:
    figure = words.shown(each.estimate(point))
    value = factor * point.value[0]
    distance = f"distance {point.at['distance']}" if "distance" in point.at else ""
    return Cell(
        row=f"node {point.at['cpu node']}",
        column=f"node {point.at['memory node']}",
        value=value,
        text=f"{value:.{words.decimals(value)}f}",
        ratio=f"×{point.ratio:.2f}" if point.ratio is not None else "",  # noqa: RUF001 (a factor)
        basis=f"{figure.ends} {figure.unit}, {figure.basis}; {point.at['class']}" if figure else "",
        local=point.at["cpu node"] == point.at["memory node"],
        note=distance,
    )


def _meaning(found: tuple[Fitted, ...]) -> str:
    names = fitted.labels(found)
    told = []
    for each in found:
        kinds = [name for name in each.model.parameters if f"{name}{_VALUE}" in each.model.parameters]
        unit = each.estimates[0].unit
        parts = words.listed(
            f"{words.quantity(each.model.parameters[f'{kind}{_VALUE}'][0], unit)} for {kind} "
            f"(×{each.model.parameters[kind][0]:.2f})"  # noqa: RUF001 (a factor)
            for kind in kinds
        )
        told.append(words.sentence(f"median {names[each.model.id]}: {parts}"))
    return " ".join(told)


def _agreement(found: tuple[Fitted, ...]) -> str:
    """Whether firmware's distances rank the pairs as they were measured."""
    names = fitted.labels(found)
    told = []
    for each in found:
        if "tau" not in each.model.parameters:
            continue
        tau, p = each.model.parameters["tau"][0], each.model.parameters["tau p"][0]
        agrees = (
            "ranks the pairs as they were measured" if tau > 0 else "does not rank the pairs as they were measured"
        )
        sure = agrees if p <= _SURE else "cannot be told to agree or not with so few pairs"
        told.append(f"{names[each.model.id]}: firmware's distance {sure} (Kendall's τ {tau:.2f}, p = {p:.2g})")
    return (
        words.sentence("; ".join(told))
        if told
        else "Firmware gives no distances that differ, so there is no rank to agree with."
    )
