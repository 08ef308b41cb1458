"""A forest plot: a row for each placement, a point with its interval for each series, the limit as a line."""

import msgspec
from msgspec.structs import asdict

from assay.model.text import text
from assay.report.charts.theme import (
    GRID,
    INK,
    LIMIT,
    MUTED,
    SHORT,
    Spec,
    chart,
    dots,
    mark,
    numeric,
    series_scales,
    slots,
    tooltip,
)

_STEP = 19
#: Empty space between rows, in steps.
_GAP = 0.7


class Point(msgspec.Struct, frozen=True):
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
        limit_text: the limit in words.
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
    """The plot of `points`, rows in the order in which they come; `title` names quantity and unit of the axis."""
    names = list(dict.fromkeys(point.series for point in points))
    colour, shape = series_scales(names)
    values, labels, steps = _slots(points, names)
    y = slots(steps)
    axis = {"title": title, "tickCount": {"expr": "narrow ? 4 : 8"}, "domain": False}
    x = numeric("value", {"zero": True}, axis)
    said = tooltip(
        row=text("placement"),
        series=text("series"),
        text=text("median"),
        basis=text("basis"),
        limit_text=text("limit"),
    )
    height: Spec = {"y": {**y, "field": "top"}, "y2": {"field": "bottom"}}
    limit = mark("rule", {"color": LIMIT, "strokeWidth": 2}, x={**x, "field": "limit"}, **height)
    bar = {"strokeWidth": 13, "opacity": 0.14}
    name = {"align": "right", "dx": -8, "color": INK, "limit": {"expr": "narrow ? 100 : 190"}}
    layer: list[Spec] = [
        mark("rule", bar, x={**x, "field": "zero"}, x2={"field": "value"}, color=colour, tooltip=said),
        *(
            [{"transform": [{"filter": "isValid(datum.limit)"}], **limit}]
            if any(point.limit is not None for point in points)
            else []
        ),
        mark("rule", {"strokeWidth": 2.5}, x={**x, "field": "lo"}, x2={"field": "hi"}, color=colour),
        dots(62, x=x, color=colour, shape=shape, tooltip=said),
        mark("text", {"align": "left", "dx": 10, "color": MUTED}, x={"value": "width"}, text=SHORT),
        mark("text", name, labels, x={"value": 0}, text={"field": "row"}),
        mark("rule", {"color": GRID}, labels[1:], y={**y, "field": "line"}),
    ]
    return chart(values, layer, width=530, height=_STEP * steps, encoding={"y": y}, usermeta={"narrow": 165})


def _slots(points: list[Point], names: list[str]) -> tuple[list[Spec], list[Spec], float]:
    """Points with their place from the top, labels of rows, and the height; all in steps."""
    values: list[Spec] = []
    labels: list[Spec] = []
    place = 0.0
    for row in dict.fromkeys(point.row for point in points):
        members = sorted((point for point in points if point.row == row), key=lambda p: names.index(p.series))
        labels.append({"row": row, "slot": place + (_GAP + len(members)) / 2, "line": place})
        for number, point in enumerate(members):
            slot = place + _GAP / 2 + number + 0.5
            values.append({**asdict(point), "zero": 0, "slot": slot, "top": slot - 0.5, "bottom": slot + 0.5})
        place += len(members) + _GAP
    return values, labels, place
