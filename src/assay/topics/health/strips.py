"""Launches as dots, a row for each case, and the samples behind them as cumulative shares."""

import msgspec
from msgspec.structs import asdict

from assay.model.text import text
from assay.report.charts.theme import (
    GRID,
    INK,
    MUTED,
    Spec,
    chart,
    dashes,
    dots,
    mark,
    numeric,
    ratio_ticks,
    series_scales,
    slots,
    tooltip,
    with_legend,
)

_STEP = 26
#: On a narrow screen: share of a row for its name, which is above its dots, and height of a row.
_NAME, _TALL = 0.46, 40


class Dot(msgspec.Struct, frozen=True):
    """One launch: its row, its block, its time over the median of its row, and the same as text."""

    row: str
    series: str
    value: float
    text: str
    launch: str


class Share(msgspec.Struct, frozen=True):
    """A point of a curve: percent of the samples of a case that take at most `value` times their median."""

    series: str
    value: float
    share: float


def strips(launches: list[Dot], title: str) -> Spec:
    """Draw a dot for each launch; each block has a colour, a shape and a height within the row."""
    blocks = list(dict.fromkeys(dot.series for dot in sorted(launches, key=lambda dot: int(dot.series))))
    rows = list(dict.fromkeys(dot.row for dot in launches))
    colour, shape = series_scales(blocks)
    legend = {"title": text("block"), "columns": {"expr": "narrow ? 6 : 16"}} if len(blocks) > 1 else None
    colour, shape = ({**each, "legend": legend} for each in (colour, shape))
    y = slots(len(rows))
    x = numeric("value", *_ratio_axis([dot.value for dot in launches], title))
    values = [
        {**asdict(dot), "slot": rows.index(dot.row), "within": (blocks.index(dot.series) + 0.5) / len(blocks)}
        for dot in launches
    ]
    place = f"datum.slot + (narrow ? {_NAME} : 0.2) + (narrow ? 0.94 - {_NAME} : 0.6) * datum.within"
    hover = tooltip(
        row=text("what"), series=text("block"), text=text("time over the median"), launch=text("launch")
    )
    names = [{"row": row, "slot": at + 0.5, "line": at} for at, row in enumerate(rows)]
    label: Spec = {
        "align": {"expr": "narrow ? 'left' : 'right'"},
        "dx": {"expr": "narrow ? 0 : -10"},
        "dy": {"expr": f"narrow ? {(_NAME / 2 - 0.5) * _TALL} : 0"},
        "color": INK,
        "limit": 285,
    }
    layer = [
        mark("rule", {"color": MUTED}, [{"value": 1}], x=x),
        {
            "transform": [{"calculate": place, "as": "slot"}],
            **dots(38, x=x, y=y, color=colour, shape=shape, tooltip=hover),
        },
        mark("text", label, names, x={"value": 0}, y=y, text={"field": "row"}),
        mark("rule", {"color": GRID}, names[1:], y={**y, "field": "line"}),
    ]
    narrow = {"narrow": 285, "narrow_height": _TALL * len(rows)}
    return chart(values, layer, width=510, height=_STEP * len(rows), usermeta=narrow)


def cumulative(shares: list[Share], title: str) -> Spec:
    """Draw the share of the samples of each case that take at most this time."""
    names = list(dict.fromkeys(point.series for point in shares))
    colour, _ = series_scales(names)
    x = numeric("value", *_ratio_axis([point.value for point in shares], title))
    y = numeric("share", {"domain": [0, 100], "nice": False}, {"title": text("share of the samples (%)")})
    line = {"strokeWidth": 1.6, "interpolate": "step-after"}
    look: Spec = {"strokeDash": {**colour, "scale": dashes(names)}, "order": {"field": "share"}}
    spec = chart(
        [asdict(point) for point in shares],
        [mark("line", line, x=x, y=y, color=colour, **look)],
        height=260,
        usermeta={"narrow": 284},
    )
    return with_legend(spec, columns=2, labelLimit=380, symbolType="stroke", symbolSize=300)


def _ratio_axis(reached: list[float], title: str) -> tuple[Spec, Spec]:
    """Return the scale around 1, and its axis."""
    low, high = min([*reached, 0.98]) / 1.01, max([*reached, 1.02]) * 1.01
    axis = {"title": title, "values": ratio_ticks(low, high), "format": "~r", "labelOverlap": True}
    return {"type": "log", "domain": [low, high], "nice": False}, {**axis, "grid": False}
