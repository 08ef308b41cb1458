"""A matrix as a heat map. If there is room, each cell has its figure and ratio, not only a colour."""

import math
from itertools import takewhile
from typing import Literal

import msgspec
from msgspec.structs import asdict

from assay.model.text import text
from assay.report.charts.labels import wide
from assay.report.charts.theme import INK, PAPER, Spec, chart, mark, tooltip

#: Dark is slow, light is fast: a single hue that survives grey print and every colour vision.
_RAMP = ["#123a5c", "#1f5f8b", "#4a90b8", "#8fc1da", "#d6eaf3"]
_ON_LIGHT, _ON_DARK = "#0b2236", "#ffffff"
_CELL = 60
_LARGEST, _NARROW = 790, 262
#: Pixels of a line of text in a cell, around all lines, and between text and the edges of the cell.
_LINE, _ROOM, _BETWEEN = 13, 14, 7
#: Ratio of the largest to the smallest value from which colours are logarithmic.
_FAR = 20
#: Pixels between two names of columns.
_APART = 10
#: Most columns with figures, on a page and on a phone; the same with three lines in a cell.
_READABLE, _READABLE_NARROW, _WHOLE, _WHOLE_NARROW = 16, 8, 8, 4
#: Font size of further lines over that of measured widths.
_SMALL = 9.5 / 11


class Cell(msgspec.Struct, frozen=True):
    """One cell: row, column, value in the scaled unit, its text, ratio, a third line (`note`), and its basis."""

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
    """Return the matrix of `cells`; absent ones stay empty. `titles` of rows, columns and value (with its unit).

    Rows and columns are in the order of the cells, or of `names`. If names do not fit, every second one, or fourth
    ..., is written.
    """
    rows = names or list(dict.fromkeys(cell.row for cell in cells))
    columns = names or list(dict.fromkeys(cell.column for cell in cells))
    cell = max(_CELL, _APART + max(map(wide, columns))) if len(columns) <= _READABLE else _CELL
    across = min(_LARGEST, max(3, len(columns)) * cell)
    values = [cell.value for cell in cells]
    low, high = min(values), max(values)
    logarithmic = low > 0 and high > _FAR * low
    middle = math.sqrt(low * high) if logarithmic else (low + high) / 2
    test = f"datum.value {'>' if better == 'higher' else '<'} {middle}"
    ink: Spec = {"condition": {"test": test, "value": _ON_LIGHT}, "value": _ON_DARK}
    row, column, figure = titles
    further = {"ratio": text("ratio"), "note": text("between them"), "basis": text("basis")}
    hover = tooltip(row=row, column=column, text=figure, **further)
    fill: Spec = {
        "field": "value",
        "type": "quantitative",
        "scale": {
            "type": "log" if logarithmic else "linear",
            "domain": [low, high] if high > low else [0, high],
            "range": _RAMP if better == "higher" else _RAMP[::-1],
        },
        "legend": {
            "title": text("{title}: dark is slow", title=titles[2]),
            "gradientLength": 160,
            "direction": "horizontal",
            "tickCount": 4,
        },
    }
    lines = _lines(
        cells, across / len(columns), 0 if len(columns) > _READABLE else 2 if len(columns) > _WHOLE else 3
    )
    most = 0 if len(columns) > _READABLE_NARROW else 3 if len(columns) <= _WHOLE_NARROW else 2
    on_phone = len(_lines(cells, _NARROW / len(columns), min(most, len(lines))))
    gap = 2 if len(columns) <= _READABLE else 0.5
    layer: list[Spec] = [
        mark("rect", {"stroke": PAPER, "strokeWidth": gap}, color=fill, tooltip=hover),
        *(_line(number, name, (len(lines), on_phone), ink) for number, name in enumerate(lines)),
    ]
    down = len(rows) * (_ROOM + _LINE * len(lines)) if lines else across * len(rows) / len(columns)
    narrow_down = down if lines else _NARROW * len(rows) / len(columns)
    axis = {"domain": False, "ticks": False, "labelColor": INK, "labelAngle": 0, "labelOverlap": "parity"}
    axis["labelSeparation"] = _APART
    # On a phone names have two lines: of columns at a space, of rows at a comma.
    heads: Spec = {"labelExpr": "narrow ? split(datum.label, ' ') : datum.label", "orient": "top"}
    if any(" " in name for name in columns):
        heads["labelPadding"] = {"expr": "narrow ? 16 : 4"}
    sides: Spec = {"labelExpr": "narrow ? split(datum.label, ', ') : datum.label", "labelLineHeight": 11}
    if all(", " in name for name in rows):
        sides["labelOffset"] = {"expr": "narrow ? -5 : 0"}
    return chart(
        [{name: part for name, part in asdict(cell).items() if part != ""} for cell in cells],
        layer,
        width=across,
        height=down,
        encoding={
            "x": {
                "field": "column",
                "type": "nominal",
                "sort": columns,
                "axis": {**axis, "title": titles[1], **heads},
            },
            "y": {
                "field": "row",
                "type": "nominal",
                "sort": rows,
                "axis": {**axis, "title": titles[0], "labelSeparation": 1, **sides},
            },
        },
        usermeta={"narrow": _NARROW, "narrow_height": narrow_down},
    )


def _lines(cells: list[Cell], room: float, most: int) -> list[str]:
    """The fields in the cells, line by line, at most so many: as far as every cell has room."""
    lines = [name for name in ("text", "ratio", "note") if any(getattr(cell, name) for cell in cells)][:most]
    fitting = (max(wide(getattr(cell, name)) for cell in cells) * _SMALL <= room - _BETWEEN for name in lines[1:])
    return lines[: 1 + len(list(takewhile(bool, fitting)))] if lines else []


def _line(number: int, name: str, counts: tuple[int, int], ink: Spec) -> Spec:
    """One line of a cell's text; `counts`: of all lines on a page and on a phone."""
    on_phone = counts[1]
    offset, narrow_offset = (_LINE * (number - (count - 1) / 2) for count in counts)
    style = {
        "dy": {"expr": f"narrow ? {narrow_offset} : {offset}"},
        "fontSize": {"expr": f"narrow ? {9.5 if number == 0 else 9} : {11 if number == 0 else 9.5}"},
        "opacity": {"expr": f"narrow ? {int(number < on_phone)} : 1"},
    }
    return mark("text", style, text={"field": name}, color=ink)
