"""Cores of each memory node against the memory of every node: bandwidth, latency, and what firmware says."""

from assay.model.result import Analysis, Point
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import choose, figures, fitted, words
from assay.report.charts.heatmap import Cell, heatmap
from assay.report.fitted import Fitted
from assay.report.section import Figure, Section, Table, headings

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
            distances = ", ".join(map(str, away)) or text("none given")
            rows.append((names[each.model.id], kind, distances, f"{len(points)}", value, spread))
    columns = headings("What", "Between", "Distance", "Pairs", "Median", "Ratio to local")
    caption = text(
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
    measure = text("Latency of a load") if latency else text("Triad bandwidth")
    what = text("{what} in {unit}", what=measure, unit=unit)
    if name not in {"", fitted.kind(each)}:
        what = text("{value} ({basis})", value=what, basis=name)
    caption = joined(
        " ",
        (
            text("{what}: cores of the memory node of a row against the memory of a column.", what=what),
            text(
                "Below each figure stand its ratio to the same cores' own memory and the distance that firmware "
                "gives."
                if any(cell.note for cell in drawn)
                else "Below each figure stand its ratio to the same cores' own memory."
            ),
            text("Dark is slow. Intervals are in the table."),
        ),
    )
    result = joined(
        "; ",
        [
            text(
                "cores of node {row} with memory of node {column}: {figure} {ratio}",
                row=cell.row,
                column=cell.column,
                figure=f"{cell.text} {unit}",
                ratio=cell.ratio,
            )
            for cell in drawn
        ],
    )
    title = text("latency ({unit})", unit=unit) if latency else text("bandwidth ({unit})", unit=unit)
    spec = heatmap(drawn, (text("cores of node"), text("memory of node"), title), "lower" if latency else "higher")
    return Figure(f"figure-numa-{number}", caption, result, spec)


def _cell(each: Fitted, point: Point, factor: float) -> Cell:
    figure = words.shown(each.estimate(point))
    value = factor * point.value[0]
    distance = text("distance {distance}", distance=str(point.at["distance"])) if "distance" in point.at else ""
    return Cell(
        row=f"{point.at['cpu node']}",
        column=f"{point.at['memory node']}",
        value=value,
        text=f"{value:.{words.decimals(value)}f}",
        ratio=f"×{point.ratio:.2f}" if point.ratio is not None else "",  # noqa: RUF001 (a factor)
        basis=_basis(figure, point) if figure else "",
        local=point.at["cpu node"] == point.at["memory node"],
        note=distance,
    )


def _basis(figure: words.Shown, point: Point) -> str:
    kind = point.at["class"]
    ends = joined(", ", (f"{figure.ends} {figure.unit}", figure.basis))
    return joined("; ", (ends, kind if isinstance(kind, str) else f"{kind}"))


def _meaning(found: tuple[Fitted, ...]) -> str:
    names = fitted.labels(found)
    told = []
    for each in found:
        kinds = [name for name in each.model.parameters if f"{name}{_VALUE}" in each.model.parameters]
        unit = each.estimates[0].unit
        parts = words.listed(
            text(
                "{value} for {kind} ({ratio})",
                value=words.quantity(each.model.parameters[f"{kind}{_VALUE}"][0], unit),
                kind=kind,
                ratio=f"×{each.model.parameters[kind][0]:.2f}",  # noqa: RUF001 (a factor)
            )
            for kind in kinds
        )
        told.append(text("Median {what}: {figures}.", what=names[each.model.id], figures=parts))
    return joined(" ", told)


def _agreement(found: tuple[Fitted, ...]) -> str:
    """Whether firmware's distances rank the pairs as they were measured."""
    names = fitted.labels(found)
    told = []
    for each in found:
        if "tau" not in each.model.parameters:
            continue
        tau, p = each.model.parameters["tau"][0], each.model.parameters["tau p"][0]
        if p > _SURE:
            sure = text("firmware's distance cannot be told to agree or not with so few pairs")
        elif tau > 0:
            sure = text("firmware's distance ranks the pairs as they were measured")
        else:
            sure = text("firmware's distance does not rank the pairs as they were measured")
        told.append(
            text(
                "{what}: {verdict} (Kendall's τ {tau}, p = {p})",
                what=names[each.model.id],
                verdict=sure,
                tau=f"{tau:.2f}",
                p=f"{p:.2g}",
            )
        )
    if not told:
        return text("Firmware gives no distances that differ, so there is no rank to agree with.")
    return text("{sentence}.", sentence=joined("; ", told))
