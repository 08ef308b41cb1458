"""The roofline chart: the limit of the rate by flops per byte, one roof per level, and the kernels of the run."""

import math

import msgspec
from msgspec.structs import asdict

from assay.model.text import text
from assay.report.charts.labels import LINE, Frame, Label, along, placed, wide
from assay.report.charts.labels import drawn as drawn_labels
from assay.report.charts.theme import (
    LIMIT,
    WIDE,
    Spec,
    chart,
    dashes,
    dots,
    log_ticks,
    mark,
    numeric,
    series_scales,
    tooltip,
)

#: Kernels nearer than this, in decades across and up, share one label.
_NEAR = 0.05
_NARROW, _HEIGHT = 280, 360
#: Radius of the point of a kernel, in pixels.
_RADIUS = 7
#: Top of the axis over the peak: names of roofs stand above their ridges, in several rows on a phone.
_ABOVE = 4.0


class Roof(msgspec.Struct, frozen=True):
    """A roof: its bandwidth in flop/s at an intensity of 1, and its ridge point."""

    name: str
    bandwidth: float
    ridge: float
    label: str


class Kernel(msgspec.Struct, frozen=True):
    """A kernel: flops per byte, its rate with ends in the scaled unit of the axis, its texts."""

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
    """Draw kernels under `roofs` and the `peak` (value in `unit`, label)."""
    places = [kernel.intensity for kernel in kernels] + [roof.ridge for roof in roofs]
    left, right = min(places) / 2.5, max(places) * 4  # from below the first to beyond the last
    lowest = min([kernel.lo for kernel in kernels] + [roof.bandwidth * left for roof in roofs])
    bottom, top = 0.6 * lowest, _ABOVE * peak[0]
    x = _axis("intensity", text("intensity (flop per byte of memory traffic)"), (left, right))
    x["axis"]["grid"] = False
    y = _axis("value", text("rate ({unit})", unit=unit), (bottom, top))
    names = list(dict.fromkeys(kernel.series for kernel in kernels))
    colour, shape = series_scales(names)
    further = {"flops": text("flop per byte"), "share": text("of its roof")}
    hover = tooltip(label=text("kernel"), text=text("rate"), basis=text("basis"), **further)
    values = [{**asdict(kernel), "flops": f"{kernel.intensity:.3g}"} for kernel in kernels]
    frames = [Frame(width, _HEIGHT, (left, right), (bottom, top)) for width in (WIDE, _NARROW)]
    return chart(
        values,
        [
            *_roofs(roofs, peak, frames[0], {"x": x, "y": y}),
            mark("rule", {"strokeWidth": 2.5}, x=x, y={**y, "field": "lo"}, y2={"field": "hi"}, color=colour),
            dots(70, x=x, y=y, color=colour, shape=shape, tooltip=hover),
            *(layer for frame in frames for layer in _labels(kernels, roofs, peak, frame)),
        ],
        height=_HEIGHT,
        usermeta={"narrow": _NARROW},
    )


def _axis(field: str, title: str, ends: tuple[float, float]) -> Spec:
    """A logarithmic axis."""
    scale = {"type": "log", "domain": [*ends], "nice": False}
    return numeric(field, scale, {"title": title, "format": "~r", "values": log_ticks(*ends)})


def _roofs(roofs: list[Roof], peak: tuple[float, str], frame: Frame, axes: Spec) -> list[Spec]:
    """Draw the peak, and for each level a line up to its ridge, which is a dot."""
    (left, right), (bottom, _) = frame.x, frame.y
    flat = min((roof.ridge for roof in roofs), default=left)
    ends = [
        {"intensity": at, "value": value, "roof": roof.name}
        for roof in roofs
        for low in [max(left, bottom / roof.bandwidth)]
        for at, value in ((low, low * roof.bandwidth), (roof.ridge, peak[0]))
    ]
    dash = {"field": "roof", "type": "nominal", "scale": dashes([roof.name for roof in roofs]), "legend": None}
    line = {"color": LIMIT, "strokeWidth": 1.5}
    dot = {"filled": True, "size": 26, "color": LIMIT, "opacity": 1}
    name = {"align": "right", "baseline": "bottom", "dy": -5, "color": LIMIT}
    top = [{"intensity": at, "value": peak[0], "label": peak[1]} for at in (flat, right)]
    ridges = [{"intensity": roof.ridge, "value": peak[0]} for roof in roofs]
    return [
        mark("line", line, ends, **axes, detail={"field": "roof"}, strokeDash=dash),
        mark("line", line, top, **axes),
        mark("point", dot, ridges, **axes),
        mark("text", name, top[1:], **axes, text={"field": "label"}),
    ]


def _whiskers(kernels: list[Kernel], frame: Frame) -> list[tuple[float, float]]:
    """Return the places of the points of kernels and their whiskers, in pixels."""
    found = []
    for each in kernels:
        (x, low), (_, middle), (_, high) = (
            frame.at(each.intensity, end) for end in (each.lo, each.value, each.hi)
        )
        found += [(x + side, y) for side in (-2, 2) for _, y in along([(x, low), (x, high)])]
        found += along([(x - _RADIUS, middle), (x + _RADIUS, middle)])
    return found


def _labels(kernels: list[Kernel], roofs: list[Roof], peak: tuple[float, str], frame: Frame) -> list[Spec]:
    """Place the names of roofs next to their ridges and those of kernels next to their points."""
    (left, right), (bottom, _) = frame.x, frame.y
    marks, named = _whiskers(kernels, frame), [(roof.label, frame.at(roof.ridge, peak[0])) for roof in roofs]
    for roof in roofs:
        low = max(left, bottom / roof.bandwidth)
        marks += along([frame.at(low, low * roof.bandwidth), frame.at(roof.ridge, peak[0])])
    x, y = frame.at(right, peak[0])
    marks += along([frame.at(min((roof.ridge for roof in roofs), default=left), peak[0]), (x, y)])
    for away in (LINE / 2, 1.4 * LINE):  # the name of the peak
        marks += along([(end, y - away) for end in (x - wide(peak[1]), x)])
    named += [(name, frame.at(*at)) for name, at in _named(kernels)]
    places = placed([Label(name, x, x, y) for name, (x, y) in named], marks, (frame.width, frame.height))
    return drawn_labels([name for name, _ in named], places, narrow=frame.width == _NARROW)


def _named(kernels: list[Kernel]) -> list[tuple[str, tuple[float, float]]]:
    """Return names and places of kernels; kernels at one place share a label."""
    places: list[tuple[float, float, list[str]]] = []
    for kernel in sorted(kernels, key=lambda kernel: (-kernel.intensity, -kernel.value)):
        x, y = math.log10(kernel.intensity), math.log10(kernel.value)
        near = (names for at_x, at_y, names in places if abs(at_x - x) < _NEAR and abs(at_y - y) < _NEAR)
        names = next(near, None)
        if names is None:
            places.append((x, y, [kernel.label]))
        elif kernel.label not in names:
            names.append(kernel.label)
    return [(", ".join(names), (10**x, 10**y)) for x, y, names in places]
