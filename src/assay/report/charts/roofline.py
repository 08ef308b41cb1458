"""A roofline: what a kernel can reach by its flops a byte, one roof a level, and the kernels of the run below."""

import math
from dataclasses import dataclass

from assay.report.charts.theme import DASHES, INK, LIMIT, MUTED, PAPER, WIDE, Spec, chart, log_ticks, series_scales

#: Kernels whose labels are nearer than this, in decades across and up, share one label or move apart.
_NEAR, _APART, _WIDE = 0.05, 0.14, 0.3
_NARROW, _HEIGHT = 280, 360
#: Names along roofs: pixels of a letter and of a line; neighbours that are nearer stand in so many rows.
_LETTER, _LINE, _ROWS = 6, 15, 3
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
    """The peak, and for each level a line up to it with its name below its ridge, which is a dot."""
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
    drawn = (left, right, bottom, _ABOVE * peak[0])
    places = zip(_along(roofs, drawn, WIDE), _along(roofs, drawn, _NARROW), strict=True)
    named = [
        {"wide": wide, "narrow": narrow, "bandwidth": roof.bandwidth, "label": roof.label}
        for roof, (wide, narrow) in zip(roofs, places, strict=True)
    ]
    name: Spec = {
        "data": {"values": named},
        "transform": [
            {"calculate": "narrow ? datum.narrow : datum.wide", "as": "intensity"},
            {"calculate": "datum.intensity * datum.bandwidth", "as": "value"},
        ],
        "encoding": {"x": x, "y": y, "text": {"field": "label"}},
    }
    text: Spec = {"type": "text", "align": "right", "baseline": "bottom", "dy": -3}
    text["angle"] = {"expr": f"narrow ? {-_steep(drawn, _NARROW):.2f} : {-_steep(drawn, WIDE):.2f}"}
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
        {**name, "mark": {**text, "color": PAPER, "stroke": PAPER, "strokeWidth": 4}},
        {**name, "mark": {**text, "color": MUTED}},
    ]


def _along(roofs: list[Roof], drawn: tuple[float, float, float, float], width: int) -> list[float]:
    """Where the name of each roof ends: below its ridge, farther down where its neighbour's stands too near."""
    left, right, bottom, top = drawn
    steep = math.radians(_steep(drawn, width))
    decade = width / math.log10(right / left)
    longest = _LETTER * max((len(roof.label) for roof in roofs), default=0)
    rows: dict[str, int] = {}
    above: Roof | None = None
    for roof in sorted(roofs, key=lambda roof: -roof.bandwidth):
        apart = math.log10(above.bandwidth / roof.bandwidth) if above else math.inf
        pixels = apart * _HEIGHT / math.log10(top / bottom) * math.cos(steep)
        rows[roof.name] = (rows[above.name] + 1) % _ROWS if above and pixels < _LINE else 0
        above = roof
    slide = _LINE / math.tan(steep)  # how far along its roof a line's height reaches
    below, row_length = _LETTER + 1.4 * slide, longest + _LETTER + slide
    back = {name: (below + row * row_length) * math.cos(steep) / decade for name, row in rows.items()}
    return [max(left, roof.ridge / 10 ** back[roof.name]) for roof in roofs]


def _steep(drawn: tuple[float, float, float, float], width: int) -> float:
    """The angle of a roof as it is drawn this wide, in degrees; drawn: left, right, bottom, top of the axes."""
    left, right, bottom, top = drawn
    return math.degrees(math.atan2(_HEIGHT / math.log10(top / bottom), width / math.log10(right / left)))


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
