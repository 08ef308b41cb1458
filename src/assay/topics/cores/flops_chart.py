"""Many figures in few rows: a mark for each series in its row, along a logarithmic axis."""

import msgspec
from msgspec.structs import asdict

from assay.model.text import text
from assay.report.charts.theme import (
    INK,
    LIMIT,
    Spec,
    chart,
    dots,
    log_ticks,
    mark,
    numeric,
    series_scales,
    tooltip,
)

_STEP = 24
_WIDE = 640


class Dot(msgspec.Struct, frozen=True):
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


def dotted(figures: list[Dot], title: str) -> Spec:
    """The marks in their rows, in the order in which those come; `title` of the axis with its unit."""
    colour, shape = series_scales(list(dict.fromkeys(dot.series for dot in figures)))
    rows = list(dict.fromkeys(dot.row for dot in figures))
    low = min(dot.lo for dot in figures) / 1.2
    high = 1.2 * max(max(dot.hi, dot.limit or 0.0) for dot in figures)
    scale = {"type": "log", "nice": False, "domain": [low, high]}
    x = numeric(
        "value", scale, {"title": title, "format": "~r", "values": log_ticks(low, high, 4), "domain": False}
    )
    axis = {"title": None, "domain": False, "ticks": False, "grid": True, "labelColor": INK, "labelLimit": 150}
    y: Spec = {"field": "row", "type": "nominal", "sort": rows, "axis": axis}
    said = tooltip(
        row=text("operations"),
        series=text("series"),
        text=text("median"),
        basis=text("basis"),
        share=text("of its limit"),
    )
    limited = [asdict(dot) for dot in figures if dot.limit is not None]
    tick = {"color": LIMIT, "thickness": 1.5, "size": 17, "opacity": 1}
    layer: list[Spec] = [
        *([mark("tick", tick, limited, x={**x, "field": "limit"}, y=y)] if limited else []),
        mark("rule", {"strokeWidth": 2.5}, x={**x, "field": "lo"}, x2={"field": "hi"}, y=y, color=colour),
        dots(56, x=x, y=y, color=colour, shape=shape, tooltip=said),
    ]
    return chart(
        [asdict(dot) for dot in figures], layer, width=_WIDE, height=_STEP * len(rows), usermeta={"narrow": 215}
    )
