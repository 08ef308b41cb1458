"""A matrix as a heat map. Where there is room each cell carries its figure and its ratio: colour only helps."""

from dataclasses import dataclass
from typing import Literal

from assay.report.charts.theme import INK, Spec, chart

#: Dark is slow, light is fast: a single hue that survives grey print and every colour vision.
_RAMP = ["#123a5c", "#1f5f8b", "#4a90b8", "#8fc1da", "#d6eaf3"]
_ON_LIGHT, _ON_DARK = "#0b2236", "#ffffff"
_CELL = 60
_LARGEST = 790
#: A line of text in a cell, and what surrounds them.
_LINE, _ROOM = 13, 14
#: More columns than these leave no room for figures: on a page, on a phone, for all lines of a cell on a phone.
_READABLE, _READABLE_NARROW, _WHOLE_NARROW = 16, 8, 4


@dataclass(frozen=True)
class Cell:
    """One cell: row, column, value in the scaled unit, its text, ratio, a third line, and what tooltips add."""

    row: str
    column: str
    value: float
    text: str
    ratio: str
    basis: str
    local: bool = False
    note: str = ""


def heatmap(
    cells: list[Cell],
    titles: tuple[str, str, str],
    better: Literal["higher", "lower"] = "higher",
    names: list[str] | None = None,
) -> Spec:
    """The matrix of `cells`; absent ones stay empty. `titles` of rows, columns and value (with its unit).

    Rows and columns stand in the order in which they come, or both as `names` has them.
    """
    rows = names or list(dict.fromkeys(cell.row for cell in cells))
    columns = names or list(dict.fromkeys(cell.column for cell in cells))
    values = [cell.value for cell in cells]
    low, high = min(values), max(values)
    test = f"datum.value {'>' if better == 'higher' else '<'} {(low + high) / 2}"
    ink: Spec = {"condition": {"test": test, "value": _ON_LIGHT}, "value": _ON_DARK}
    tooltip = [
        {"field": "row", "title": titles[0]},
        {"field": "column", "title": titles[1]},
        {"field": "text", "title": titles[2]},
        {"field": "ratio", "title": "ratio"},
        {"field": "note", "title": "between them"},
        {"field": "basis", "title": "basis"},
    ]
    fill: Spec = {
        "field": "value",
        "type": "quantitative",
        "scale": {
            "domain": [low, high] if high > low else [0, high],
            "range": _RAMP if better == "higher" else _RAMP[::-1],
        },
        "legend": {"title": titles[2], "gradientLength": 160, "direction": "horizontal", "tickCount": 4},
    }
    lines = [name for name in ("text", "ratio", "note") if any(getattr(cell, name) for cell in cells)]
    lines = lines[: 0 if len(columns) > _READABLE else 1 if len(columns) > _READABLE_NARROW else 3]
    gap = 2 if len(columns) <= _READABLE else 0.5
    layer: list[Spec] = [
        {
            "mark": {"type": "rect", "stroke": "var(--paper)", "strokeWidth": gap},
            "encoding": {"color": fill, "tooltip": tooltip},
        },
        *(_line(number, name, lines, ink, len(columns)) for number, name in enumerate(lines)),
    ]
    across = min(_LARGEST, max(3, len(columns)) * _CELL)
    down = len(rows) * (_ROOM + _LINE * len(lines)) if lines else across * len(rows) / len(columns)
    axis = {"domain": False, "ticks": False, "labelColor": INK, "labelAngle": 0, "labelOverlap": "greedy"}
    return chart(
        [{name: part for name, part in vars(cell).items() if part != ""} for cell in cells],
        layer,
        width=across,
        height=down,
        encoding={
            "x": {
                "field": "column",
                "type": "nominal",
                "sort": columns,
                "axis": {**axis, "title": titles[1], "orient": "top"},
            },
            "y": {"field": "row", "type": "nominal", "sort": rows, "axis": {**axis, "title": titles[0]}},
        },
        usermeta={"narrow": 262, "narrow_height": down if lines else 262 * len(rows) / len(columns)},
    )


def _line(number: int, name: str, lines: list[str], ink: Spec, columns: int) -> Spec:
    """One line of a cell's text; on a phone all where there are few columns, else the first or none."""
    first, whole = number == 0, columns <= _WHOLE_NARROW
    offset = _LINE * (number - (len(lines) - 1) / 2)
    mark = {
        "type": "text",
        "dy": {"expr": f"narrow ? {offset if whole else 0} : {offset}"},
        "fontSize": {"expr": "narrow ? 9.5 : 11"} if first else 9.5,
        "opacity": {"expr": f"narrow ? {int(whole or (first and columns <= _READABLE_NARROW))} : 1"},
    }
    return {"mark": mark, "encoding": {"text": {"field": name}, "color": ink}}
