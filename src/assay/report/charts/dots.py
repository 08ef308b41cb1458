"""Many figures in few rows: a mark for each series in its row, along a logarithmic axis."""

from dataclasses import dataclass

from assay.model.text import text
from assay.report.charts.theme import INK, LIMIT, Spec, chart, log_ticks, series_scales

_STEP = 24
_WIDE = 640


@dataclass(frozen=True)
class Dot:
    """One figure; see `intervals.Point`. `share`: of its limit, in words."""

    row: str
    series: str
    value: float
    lo: float
    hi: float
    limit: float | None
    text: str
    basis: str
    share: str


def dotted(dots: list[Dot], title: str) -> Spec:
    """The marks in their rows, in the order in which those come; `title` of the axis with its unit."""
    colour, shape = series_scales(list(dict.fromkeys(dot.series for dot in dots)))
    rows = list(dict.fromkeys(dot.row for dot in dots))
    low, high = min(dot.lo for dot in dots), max(max(dot.hi, dot.limit or 0.0) for dot in dots)
    x: Spec = {
        "field": "value",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False, "domain": [low / 1.2, 1.2 * high]},
        "axis": {"title": title, "format": "~r", "values": log_ticks(low / 1.2, 1.2 * high, 4), "domain": False},
    }
    axis = {"title": None, "domain": False, "ticks": False, "grid": True, "labelColor": INK, "labelLimit": 150}
    y: Spec = {"field": "row", "type": "nominal", "sort": rows, "axis": axis}
    tooltip = [
        {"field": "row", "title": text("operations")},
        {"field": "series", "title": text("series")},
        {"field": "text", "title": text("median")},
        {"field": "basis", "title": text("basis")},
        {"field": "share", "title": text("of its limit")},
    ]
    limit: Spec = {
        "data": {"values": [vars(dot) for dot in dots if dot.limit is not None]},
        "mark": {"type": "tick", "color": LIMIT, "thickness": 1.5, "size": 17, "opacity": 1},
        "encoding": {"x": {**x, "field": "limit"}, "y": y},
    }
    layer: list[Spec] = [
        *([limit] if any(dot.limit is not None for dot in dots) else []),
        {
            "mark": {"type": "rule", "strokeWidth": 2.5},
            "encoding": {"x": {**x, "field": "lo"}, "x2": {"field": "hi"}, "y": y, "color": colour},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 56, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour, "shape": shape, "tooltip": tooltip},
        },
    ]
    values = [vars(dot) for dot in dots]
    return chart(values, layer, width=_WIDE, height=_STEP * len(rows), usermeta={"narrow": 215})
