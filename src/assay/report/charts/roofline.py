"""A roofline: what a kernel can reach by its flops a byte, one roof a level, and the kernels of the run below."""

import math
from dataclasses import dataclass

from assay.report.charts.theme import DASHES, INK, LIMIT, MUTED, WIDE, Spec, chart, log_ticks, series_scales

#: Kernels whose labels are nearer than this, in decades across and up, share one label or move apart.
_NEAR, _APART, _WIDE = 0.05, 0.14, 0.3
_NARROW, _HEIGHT = 280, 360
#: What the axis shows above the peak.
_ABOVE = 1.9


@dataclass(frozen=True)
class Roof:
    """Bandwidth of one level in flop/s for an intensity of 1, and where it meets the peak."""

    name: str
    bandwidth: float
    ridge: float
    label: str


@dataclass(frozen=True)
class Kernel:
    """A kernel: flops a byte, its rate with ends in the axis' scaled unit, its words."""

    intensity: float
    value: float
    lo: float
    hi: float
    series: str
    label: str
    text: str
    basis: str
    share: str


def roofline(kernels: list[Kernel], roofs: list[Roof], peak: tuple[float, str], unit: str) -> Spec:
    """Kernels under `roofs` and the `peak` (value in `unit`, label)."""
    left, right = _span(kernels, roofs)
    lowest = min([kernel.lo for kernel in kernels] + [roof.bandwidth * left for roof in roofs])
    bottom, top = 0.6 * lowest, _ABOVE * peak[0]
    x: Spec = {
        "field": "intensity",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [left, right], "nice": False},
        "axis": {
            "title": "intensity (flop per byte of memory traffic)",
            "format": "~r",
            "grid": False,
            "values": log_ticks(left, right),
        },
    }
    y: Spec = {
        "field": "value",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [bottom, top], "nice": False},
        "axis": {"title": f"rate ({unit})", "format": "~r", "values": log_ticks(bottom, top)},
    }
    names = list(dict.fromkeys(kernel.series for kernel in kernels))
    colour, shape = series_scales(names)
    tooltip = [
        {"field": "label", "title": "kernel"},
        {"field": "text", "title": "rate"},
        {"field": "basis", "title": "basis"},
        {"field": "flops", "title": "flop per byte"},
        {"field": "share", "title": "of the roof above it"},
    ]
    values = [{**vars(kernel), "flops": f"{kernel.intensity:.3g}"} for kernel in kernels]
    return chart(
        values,
        [
            *_roofs(roofs, peak, (left, right, bottom), x, y),
            {
                "mark": {"type": "rule", "strokeWidth": 2.5},
                "encoding": {"x": x, "y": {**y, "field": "lo"}, "y2": {"field": "hi"}, "color": colour},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": colour, "shape": shape, "tooltip": tooltip},
            },
            {
                "data": {"values": _labels(kernels)},
                "mark": {
                    "type": "text",
                    "align": "left",
                    "dx": 8,
                    "dy": 9,
                    "color": INK,
                    "fontSize": {"expr": "narrow ? 10 : 11"},
                },
                "encoding": {"x": x, "y": y, "text": {"field": "label"}},
            },
        ],
        height=_HEIGHT,
        usermeta={"narrow": _NARROW},
    )


def _roofs(
    roofs: list[Roof], peak: tuple[float, str], frame: tuple[float, float, float], x: Spec, y: Spec
) -> list[Spec]:
    """The peak, and for each level a line up to it with its name at the left and its ridge as a dot."""
    left, right, bottom = frame
    flat = min((roof.ridge for roof in roofs), default=left)
    ends = [
        {"intensity": at, "value": value, "roof": roof.name}
        for roof in roofs
        for at, value in (
            (max(left, bottom / roof.bandwidth), max(left, bottom / roof.bandwidth) * roof.bandwidth),
            (roof.ridge, peak[0]),
        )
    ]
    starts = [(max(left, bottom / roof.bandwidth), roof) for roof in roofs]
    named = [{"intensity": at, "value": at * roof.bandwidth, "label": roof.label} for at, roof in starts]
    order = [roof.name for roof in roofs]
    dash = {"domain": order, "range": [DASHES[at % len(DASHES)] for at in range(len(order))]}
    top = [{"intensity": at, "value": peak[0]} for at in (flat, right)]
    ridge = [{"intensity": roof.ridge, "value": peak[0]} for roof in roofs]
    return [
        {
            "data": {"values": ends},
            "mark": {"type": "line", "color": LIMIT, "strokeWidth": 1.5},
            "encoding": {
                "x": x,
                "y": y,
                "detail": {"field": "roof"},
                "strokeDash": {"field": "roof", "type": "nominal", "scale": dash, "legend": None},
            },
        },
        {
            "data": {"values": top},
            "mark": {"type": "line", "color": LIMIT, "strokeWidth": 1.5},
            "encoding": {"x": x, "y": y},
        },
        {
            "data": {"values": ridge},
            "mark": {"type": "point", "filled": True, "size": 26, "color": LIMIT, "opacity": 1},
            "encoding": {"x": x, "y": y},
        },
        {
            "data": {"values": [{"intensity": right, "value": peak[0], "label": peak[1]}]},
            "mark": {"type": "text", "align": "right", "baseline": "bottom", "dy": -5, "color": LIMIT},
            "encoding": {"x": x, "y": y, "text": {"field": "label"}},
        },
        {
            "data": {"values": named},
            "mark": {
                "type": "text",
                "align": "left",
                "baseline": "bottom",
                "dx": 14,
                "dy": -3,
                "color": MUTED,
                "angle": {"expr": _slope(left, right, bottom, _ABOVE * peak[0])},
            },
            "encoding": {"x": x, "y": y, "text": {"field": "label"}},
        },
    ]


def _slope(left: float, right: float, bottom: float, top: float) -> str:
    """The angle of a roof as it is drawn, for the text along it: wide, and on a phone."""
    rise = _HEIGHT / math.log10(top / bottom)
    wide, narrow = (-math.degrees(math.atan2(rise, width / math.log10(right / left))) for width in (WIDE, _NARROW))
    return f"narrow ? {narrow:.2f} : {wide:.2f}"


def _span(kernels: list[Kernel], roofs: list[Roof]) -> tuple[float, float]:
    """From below the first kernel to beyond the last ridge and kernel."""
    places = [kernel.intensity for kernel in kernels] + [roof.ridge for roof in roofs]
    return min(places) / 2.5, max(places) * 4


def _labels(kernels: list[Kernel]) -> list[Spec]:
    """One label for what stands at one place, moved down where another label stands there."""
    places: list[tuple[float, float, list[str]]] = []
    for kernel in sorted(kernels, key=lambda kernel: (-kernel.intensity, -kernel.value)):
        x, y = math.log10(kernel.intensity), math.log10(kernel.value)
        near = (names for at_x, at_y, names in places if abs(at_x - x) < _NEAR and abs(at_y - y) < _NEAR)
        names = next(near, None)
        if names is None:
            places.append((x, y, [kernel.label]))
        elif kernel.label not in names:
            names.append(kernel.label)
    labels: list[Spec] = []
    taken: list[tuple[float, float]] = []
    for x, y, names in places:
        free = y
        while any(abs(x - at_x) < _WIDE and abs(free - at_y) < _APART for at_x, at_y in taken):
            free -= _APART
        taken.append((x, free))
        labels.append({"intensity": 10**x, "value": 10**free, "label": ", ".join(names)})
    return labels
