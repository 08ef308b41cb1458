"""A matrix as a heat map. Each cell carries its figure and its ratio to the local one: colour only helps."""

from dataclasses import dataclass

from assay.report.charts.theme import INK, Spec, chart

#: Dark is slow, light is fast: a single hue that survives grey print and every colour vision.
_RAMP = ["#123a5c", "#1f5f8b", "#4a90b8", "#8fc1da", "#d6eaf3"]
_CELL = 46


@dataclass(frozen=True)
class Cell:
    """One cell: row, column, value in the scaled unit, its text, ratio to the row's local value, and its basis."""

    row: str
    column: str
    value: float
    text: str
    ratio: str
    basis: str
    local: bool


def heatmap(cells: list[Cell], titles: tuple[str, str, str]) -> Spec:
    """The matrix of `cells`; `titles` of rows, columns and value (with its unit)."""
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    low, high = min(cell.value for cell in cells), max(cell.value for cell in cells)
    middle = (low + high) / 2
    axis = {"domain": False, "ticks": False, "labelColor": INK, "labelAngle": 0}
    on_light, on_dark = "#0b2236", "#ffffff"
    ink: Spec = {"condition": {"test": f"datum.value > {middle}", "value": on_light}, "value": on_dark}
    tooltip = [
        {"field": "row", "title": titles[0]},
        {"field": "column", "title": titles[1]},
        {"field": "text", "title": titles[2]},
        {"field": "ratio", "title": "ratio to local"},
        {"field": "basis", "title": "basis"},
    ]
    fill: Spec = {
        "field": "value",
        "type": "quantitative",
        "scale": {"domain": [low, high] if high > low else [0, high], "range": _RAMP},
        "legend": {"title": titles[2], "gradientLength": 160, "direction": "horizontal", "tickCount": 4},
    }
    layer: list[Spec] = [
        {
            "mark": {"type": "rect", "stroke": "var(--paper)", "strokeWidth": 2},
            "encoding": {"color": fill, "tooltip": tooltip},
        },
        {
            "mark": {"type": "text", "dy": {"expr": "narrow ? 0 : -5"}, "fontSize": {"expr": "narrow ? 9 : 11"}},
            "encoding": {"text": {"field": "text"}, "color": ink},
        },
        {
            "mark": {"type": "text", "dy": 8, "fontSize": 9, "opacity": {"expr": "narrow ? 0 : 0.9"}},
            "encoding": {"text": {"field": "ratio"}, "color": ink},
        },
    ]
    return chart(
        [vars(cell) for cell in cells],
        layer,
        width=max(3, len(columns)) * (_CELL + 14),
        height=len(rows) * (_CELL - 8),
        encoding={
            "x": {
                "field": "column",
                "type": "nominal",
                "sort": columns,
                "axis": {**axis, "title": titles[1], "orient": "top"},
            },
            "y": {"field": "row", "type": "nominal", "sort": rows, "axis": {**axis, "title": titles[0]}},
        },
        usermeta={"narrow": 270},
    )
