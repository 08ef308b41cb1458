"""A forest plot: rows of points with their intervals, with the limit of each or a band around it."""

import msgspec
from msgspec.structs import asdict

from assay.model.text import text
from assay.report.charts.labels import TWO_LINES, in_lines
from assay.report.charts.theme import (
    FAINT,
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
    ratio_ticks,
    series_scales,
    slots,
    tooltip,
)

_STEP = 19
#: Empty space between rows, in steps.
_GAP = 0.7
#: Pixels of the plot and of the names of rows, on a page and on a phone; the same for figures with a verdict.
_ROOM, _LESS_ROOM = ((530, 165), (168, 122)), ((400, 150), (290, 108))


#: Factor of an axis of ratios beyond the farthest end.
_AROUND = 1.02


class Point(msgspec.Struct, frozen=True):
    """One figure of the plot, in the axis' scaled unit.

    Attributes:
        row: label of its row.
        series: name of its series.
        value: median.
        lo: lower end, equal to the value without one.
        hi: upper end.
        limit: of the figure.
        text: the figure with its interval, in words.
        short: the figure alone.
        basis: launches and kind of interval.
        limit_text: the limit, or the band, in words.
        band: ends of its band.
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
    band: tuple[float, float] | None = None


def intervals(points: list[Point], title: str, band: str = "", reference: float | None = None) -> Spec:
    """Return the plot of `points`, rows in their order; `title` names quantity and unit of the axis.

    `band` names the bands. With a `reference`, a line through all rows, the axis is logarithmic around it;
    without one it begins at zero.
    """
    names = list(dict.fromkeys(point.series for point in points))
    colour, shape = series_scales(names)
    values, labels, steps = _slots(points, names)
    (width, narrow), (room, narrow_room) = _LESS_ROOM if band else _ROOM
    y = slots(steps)
    axis = {"title": title, "tickCount": {"expr": "narrow ? 4 : 8"}, "domain": False}
    scale: Spec = {"zero": True, "nice": True}
    if reference is not None:
        ends_of = [end for point in points for end in (point.lo, point.hi, *(point.band or ()))]
        low, high = min(reference, *ends_of) / _AROUND, max(reference, *ends_of) * _AROUND
        scale = {"type": "log", "domain": [low, high], "nice": False}
        axis |= {"values": ratio_ticks(low, high), "format": "~r", "labelOverlap": True}
    x = numeric("value", scale, axis)
    hover = tooltip(
        row=text("what") if band else text("placement"),
        series=text("series"),
        text=text("figure") if band else text("median"),
        basis=text("basis"),
        limit_text=band or text("limit"),
    )
    height: Spec = {"y": {**y, "field": "top"}, "y2": {"field": "bottom"}}
    bar = {"strokeWidth": 13, "opacity": 0.14}
    whole: Spec = {"y": {"value": 0}, "y2": {"value": "height"}}
    through = mark("rule", {"color": MUTED}, [{"at": reference}], x={**x, "field": "at"}, **whole)
    own_limit = mark("rule", {"color": LIMIT, "strokeWidth": 2}, x={**x, "field": "limit"}, **height)
    limit: Spec = {"transform": [{"filter": "isValid(datum.limit)"}], **own_limit}
    ends: Spec = {"x": {**x, "field": "band[0]"}, "x2": {"field": "band[1]"}}
    name = {
        **TWO_LINES,
        "align": "right",
        "dx": -8,
        "color": INK,
        "limit": {"expr": f"narrow ? {narrow_room} : {room}"},
    }
    row_names = mark("text", name, labels, x={"value": 0}, text={"field": "lines"})
    layer: list[Spec] = [
        mark("rect", {"color": FAINT, "opacity": 0.3}, **ends, **height, tooltip=hover)
        if band
        else mark("rule", bar, x={**x, "field": "zero"}, x2={"field": "value"}, color=colour, tooltip=hover),
        *([through] if reference else []),
        *([limit] if any(point.limit is not None for point in points) else []),
        mark("rule", {"strokeWidth": 2.5}, x={**x, "field": "lo"}, x2={"field": "hi"}, color=colour),
        dots(62, x=x, color=colour, shape=shape, tooltip=hover),
        mark(
            "text", {"align": "left", "dx": 10, "color": INK if band else MUTED}, x={"value": "width"}, text=SHORT
        ),
        {"transform": in_lines(room), **row_names},
        mark("rule", {"color": GRID}, labels[1:], y={**y, "field": "line"}),
    ]
    return chart(values, layer, width=width, height=_STEP * steps, encoding={"y": y}, usermeta={"narrow": narrow})


def _slots(points: list[Point], names: list[str]) -> tuple[list[Spec], list[Spec], float]:
    """Points with their distance from the top, labels of rows, and the height; all in steps."""
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
