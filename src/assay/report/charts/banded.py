"""Figures against bands: what was measured in what was predicted, or ratios in what means no difference."""

from dataclasses import dataclass

from assay.model.text import text
from assay.report.charts.theme import FAINT, GRID, INK, MUTED, Spec, chart, series_scales

_STEP = 26
#: On a phone what comes after the first comma of a long name stands below it.
_LINES = (
    "narrow && length(datum.row) > 20 && indexof(datum.row, ', ') > 0 ? "
    "[split(datum.row, ', ')[0], join(slice(split(datum.row, ', '), 1), ', ')] : datum.row"
)


@dataclass(frozen=True)
class Banded:
    """One row: a figure with its ends, the band that it is held against, and its words.

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
        {**vars(row), "slot": at + 0.5, "top": at + 0.12, "bottom": at + 0.88} for at, row in enumerate(rows)
    ]
    y: Spec = {
        "field": "slot",
        "type": "quantitative",
        "scale": {"domain": [0, len(rows)], "reverse": True, "nice": False},
        "axis": None,
    }
    scale: Spec = {"zero": reference is None, "nice": True}
    x: Spec = {
        "field": "value",
        "type": "quantitative",
        "scale": scale,
        "axis": {"title": title, "tickCount": {"expr": "narrow ? 4 : 8"}, "domain": False},
    }
    tooltip = [
        {"field": "row", "title": text("what")},
        {"field": "text", "title": text("figure")},
        {"field": "basis", "title": text("basis")},
        {"field": "band_text", "title": band},
    ]
    for value, row in zip(values, rows, strict=True):
        value["band_text"] = f"{row.band_lo:.4g} to {row.band_hi:.4g}"
    line: list[Spec] = [
        {
            "data": {"values": [{"at": reference}]},
            "mark": {"type": "rule", "color": MUTED},
            "encoding": {"x": {**x, "field": "at"}},
        }
    ]
    layer: list[Spec] = [
        {
            "mark": {"type": "rect", "color": FAINT, "opacity": 0.3},
            "encoding": {
                "x": {**x, "field": "band_lo"},
                "x2": {"field": "band_hi"},
                "y": {**y, "field": "top"},
                "y2": {"field": "bottom"},
                "tooltip": tooltip,
            },
        },
        *(line if reference is not None else []),
        {
            "mark": {"type": "rule", "strokeWidth": 2.5},
            "encoding": {"x": {**x, "field": "lo"}, "x2": {"field": "hi"}, "y": y, "color": colour},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 62, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour, "shape": shape, "tooltip": tooltip},
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 10, "color": INK},
            "encoding": {
                "x": {"value": "width"},
                "y": y,
                "text": {"condition": {"test": "narrow", "field": "short"}, "field": "text"},
            },
        },
        {
            "transform": [{"calculate": _LINES, "as": "lines"}],
            "mark": {
                "type": "text",
                "align": "right",
                "lineHeight": 12,
                "dy": {"expr": "isArray(datum.lines) ? -6 : 0"},
                "dx": -10,
                "color": INK,
                "limit": {"expr": "narrow ? 108 : 250"},
            },
            "encoding": {"x": {"value": 0}, "y": y, "text": {"field": "lines"}},
        },
        {
            "data": {"values": [{"line": at} for at in range(1, len(rows))]},
            "mark": {"type": "rule", "color": GRID},
            "encoding": {"y": {**y, "field": "line"}},
        },
    ]
    return chart(values, layer, width=430, height=_STEP * len(rows), usermeta={"narrow": 150})
