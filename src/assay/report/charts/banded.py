"""Figures against bands: measured figures in predicted bands, or ratios in the band of no difference."""

import msgspec
from msgspec.structs import asdict

from assay.model.text import text
from assay.report.charts.theme import (
    FAINT,
    GRID,
    INK,
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

_STEP = 26
#: On a phone what comes after the first comma of a long name stands below it.
_LINES = (
    "narrow && length(datum.row) > 20 && indexof(datum.row, ', ') > 0 ? "
    "[split(datum.row, ', ')[0], join(slice(split(datum.row, ', '), 1), ', ')] : datum.row"
)


class Banded(msgspec.Struct, frozen=True):
    """One row: a figure with its ends, its band, and its words.

    Attributes:
        row: label.
        series: name, for colour and shape.
        value: the figure.
        lo: its lower end.
        hi: its upper end.
        band_lo: lower end of the band.
        band_hi: upper end of the band.
        text: the figure in words, with its verdict.
        short: the same, short.
        basis: what the ends are.
    """

    row: str
    series: str
    value: float
    lo: float
    hi: float
    band_lo: float
    band_hi: float
    text: str
    short: str
    basis: str


def banded(rows: list[Banded], title: str, band: str, reference: float | None = None) -> Spec:
    """The rows from above; `title` of the axis, `band` says what it is, `reference` is a line through all of them.

    With a reference the axis stands around it; without one it begins at zero.
    """
    names = list(dict.fromkeys(row.series for row in rows))
    colour, shape = series_scales(names)
    values = [
        {**asdict(row), "slot": at + 0.5, "top": at + 0.12, "bottom": at + 0.88} for at, row in enumerate(rows)
    ]
    y = slots(len(rows))
    axis = {"title": title, "tickCount": {"expr": "narrow ? 4 : 8"}, "domain": False}
    x = numeric("value", {"zero": reference is None, "nice": True}, axis)
    said = tooltip(row=text("what"), text=text("figure"), basis=text("basis"), band_text=band)
    for value, row in zip(values, rows, strict=True):
        value["band_text"] = f"{row.band_lo:.4g} to {row.band_hi:.4g}"
    line = mark("rule", {"color": MUTED}, [{"at": reference}], x={**x, "field": "at"})
    band_ends: Spec = {"x": {**x, "field": "band_lo"}, "x2": {"field": "band_hi"}}
    height: Spec = {"y": {**y, "field": "top"}, "y2": {"field": "bottom"}}
    name = {
        "align": "right",
        "lineHeight": 12,
        "dy": {"expr": "isArray(datum.lines) ? -6 : 0"},
        "dx": -10,
        "color": INK,
        "limit": {"expr": "narrow ? 108 : 250"},
    }
    names_of = mark("text", name, x={"value": 0}, y=y, text={"field": "lines"})
    layer: list[Spec] = [
        mark("rect", {"color": FAINT, "opacity": 0.3}, **band_ends, **height, tooltip=said),
        *([line] if reference is not None else []),
        mark("rule", {"strokeWidth": 2.5}, x={**x, "field": "lo"}, x2={"field": "hi"}, y=y, color=colour),
        dots(62, x=x, y=y, color=colour, shape=shape, tooltip=said),
        mark("text", {"align": "left", "dx": 10, "color": INK}, x={"value": "width"}, y=y, text=SHORT),
        {"transform": [{"calculate": _LINES, "as": "lines"}], **names_of},
        mark("rule", {"color": GRID}, [{"line": at} for at in range(1, len(rows))], y={**y, "field": "line"}),
    ]
    return chart(values, layer, width=430, height=_STEP * len(rows), usermeta={"narrow": 150})
