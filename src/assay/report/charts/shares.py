"""The parts of a whole: a stacked bar for each row."""

from dataclasses import dataclass

from assay.model.text import text
from assay.report.charts.labels import TWO_LINES, in_lines
from assay.report.charts.theme import INK, PAPER, Spec, chart, mark, numeric, series_scales, slots, tooltip

_STEP = 26
#: Pixels for the name of a row on a page.
_ROOM = 250


@dataclass(frozen=True)
class Share:
    """One part of a row: its place on the axis, in percent, and its figure in words."""

    row: str
    series: str
    begin: float
    end: float
    text: str


def shares(parts: list[Share], title: str) -> Spec:
    """Return the rows from the top, parts in their order; `title` of the axis."""
    rows = list(dict.fromkeys(part.row for part in parts))
    colour, _ = series_scales(list(dict.fromkeys(part.series for part in parts)))
    values: list[Spec] = [
        {**vars(part), "slot": at + 0.5, "top": at + 0.14, "bottom": at + 0.86}
        for part in parts
        for at in [rows.index(part.row)]
    ]
    y = slots(len(rows))
    axis = {"title": title, "tickCount": 5, "domain": False}
    x = numeric("begin", {"domain": [0, 100], "nice": False}, axis)
    ends: Spec = {"x": x, "x2": {"field": "end"}, "y": {**y, "field": "top"}, "y2": {"field": "bottom"}}
    hover = tooltip(row=text("what"), series=text("part"), text=text("figure"))
    names = [{"row": row, "slot": at + 0.5} for at, row in enumerate(rows)]
    limit = {"expr": f"narrow ? 108 : {_ROOM}"}
    label = {**TWO_LINES, "align": "right", "dx": -10, "color": INK, "limit": limit}
    row_names = mark("text", label, names, x={"value": 0}, y=y, text={"field": "lines"})
    layer = [
        mark("rect", {"stroke": PAPER, "strokeWidth": 1.5}, **ends, color=colour, tooltip=hover),
        {"transform": in_lines(_ROOM), **row_names},
    ]
    return chart(values, layer, width=560, height=_STEP * len(rows), usermeta={"narrow": 170})
