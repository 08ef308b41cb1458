"""A forest plot: one row a placement, a point with its interval for each series, the limit as a line across the row."""

from dataclasses import dataclass

from assay.report.charts.theme import INK, LIMIT, MUTED, Spec, chart, series_scales

_STEP = 19
_ROW_GAP = 12


@dataclass(frozen=True)
class Point:
    """One figure of the plot, in the axis' scaled unit.

    Attributes:
        row: label of its row.
        series: name of its series.
        value: median.
        lo: lower end, equal to the value where there is none.
        hi: upper end.
        limit: what it stands against.
        text: the figure with its interval, in words.
        short: the figure alone.
        basis: launches and kind of interval.
    """

    row: str
    series: str
    value: float
    lo: float
    hi: float
    limit: float | None
    text: str
    short: str
    basis: str
    limit_text: str = ""


def intervals(points: list[Point], title: str) -> Spec:
    """The plot of `points` in the order of their rows; `title` names quantity and unit of the axis."""
    names = list(dict.fromkeys(point.series for point in points))
    rows = list(dict.fromkeys(point.row for point in points))
    colour, shape = series_scales(names)
    values: list[Spec] = [vars(point) for point in points]
    row: Spec = {
        "field": "row",
        "type": "nominal",
        "sort": rows,
        "axis": {"title": None, "labelColor": INK, "grid": False, "domain": False, "ticks": False, "labelLimit": 190},
        "scale": {"paddingInner": _ROW_GAP / (_STEP * max(1, len(names)) + _ROW_GAP), "paddingOuter": 0.1},
    }
    offset: Spec = {"field": "series", "sort": names, "scale": {"paddingOuter": 0}}
    axis = {"title": title, "tickCount": {"expr": "narrow ? 4 : 8"}, "domain": False}
    quantity: Spec = {"field": "value", "type": "quantitative", "scale": {"zero": True}, "axis": axis}
    tooltip = [
        {"field": "row", "title": "placement"},
        {"field": "series", "title": "series"},
        {"field": "text", "title": "median"},
        {"field": "basis", "title": "basis"},
        {"field": "limit_text", "title": "limit"},
    ]
    layer: list[Spec] = [
        {
            "mark": {"type": "bar", "opacity": 0.13, "height": {"band": 0.8}},
            "encoding": {"x": quantity, "color": colour, "tooltip": tooltip},
        },
        {
            "transform": [{"filter": "isValid(datum.limit)"}],
            "mark": {"type": "tick", "color": LIMIT, "thickness": 2, "height": {"band": 1}},
            "encoding": {"x": {**quantity, "field": "limit"}},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 2.5},
            "encoding": {"x": {**quantity, "field": "lo"}, "x2": {"field": "hi"}, "color": colour},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 62, "opacity": 1},
            "encoding": {"x": quantity, "color": colour, "shape": shape, "tooltip": tooltip},
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 10, "color": MUTED},
            "encoding": {
                "x": {"value": "width"},
                "text": {"condition": {"test": "narrow", "field": "short"}, "field": "text"},
            },
        },
    ]
    height = max(1, len(rows)) * (_STEP * max(1, len(names)) + _ROW_GAP)
    return chart(
        values,
        layer,
        width=530,
        height=height,
        encoding={"y": row, "yOffset": offset},
        usermeta={"narrow": 170},
    )
