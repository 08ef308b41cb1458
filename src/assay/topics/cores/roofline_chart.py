"""The roofline chart: the limit of the rate by flops per byte, one roof per level, and the kernels of the run."""

import math
from itertools import pairwise
from typing import NamedTuple

import msgspec
from msgspec.structs import asdict

from assay.model.text import text
from assay.report.charts.labels import Frame, Label, along, placed, wide
from assay.report.charts.labels import drawn as drawn_labels
from assay.report.charts.theme import (
    LIMIT,
    MUTED,
    PAPER,
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
#: Names along roofs: pixels of a letter, and of a line with the free space around it; number of rows of names
#: where there is no room for a line between roofs.
_LETTER, _LINE, _ROWS = 6, 19, 3
#: Radius of the point of a kernel, in pixels.
_RADIUS = 7
#: Most letters by which a name moves along its roof to avoid whiskers.
_SLIDES = 60
#: Distance of the far side of a name from its roof, in pixels.
_HEAD = 15
#: Top of the axis over the peak.
_ABOVE = 1.9


class Roof(msgspec.Struct, frozen=True):
    """A roof: its bandwidth in flop/s at an intensity of 1, and its ridge point."""

    name: str
    bandwidth: float
    ridge: float
    label: str


class _Spot(NamedTuple):
    """Where the name of a roof ends, as an intensity, and whether it is above or below its roof."""

    end: float
    above: bool


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
            *_roofs(roofs, kernels, peak, frames, {"x": x, "y": y}),
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


def _roofs(
    roofs: list[Roof],
    kernels: list[Kernel],
    peak: tuple[float, str],
    frames: list[Frame],
    axes: Spec,
) -> list[Spec]:
    """Draw the peak, and for each level a line with its name up to its ridge, which is a dot."""
    (left, right), (bottom, _) = frames[0].x, frames[0].y
    flat = min((roof.ridge for roof in roofs), default=left)
    ends = [
        {"intensity": at, "value": value, "roof": roof.name}
        for roof in roofs
        for low in [max(left, bottom / roof.bandwidth)]
        for at, value in ((low, low * roof.bandwidth), (roof.ridge, peak[0]))
    ]
    spots = zip(*(_along(roofs, kernels, frame) for frame in frames), strict=True)
    on_page, on_phone = map(_steep, frames)
    fields = ("wide", "above_wide", "narrow", "above_narrow", "bandwidth", "label")
    named = [
        dict(zip(fields, (*wide, *narrow, roof.bandwidth, roof.label), strict=True))
        for roof, (wide, narrow) in zip(roofs, spots, strict=True)
    ]
    text_of = {**axes, "text": {"field": "label"}}
    where = [
        {"calculate": "narrow ? datum.narrow : datum.wide", "as": "intensity"},
        {"calculate": "datum.intensity * datum.bandwidth", "as": "value"},
        {"calculate": "narrow ? datum.above_narrow : datum.above_wide", "as": "above"},
    ]
    along_roof: Spec = {
        "align": "right",
        "baseline": {"expr": "datum.above ? 'bottom' : 'top'"},
        "dy": {"expr": "datum.above ? -3 : 3"},
        "angle": {"expr": f"narrow ? {-on_phone:.2f} : {-on_page:.2f}"},
    }
    dash = {"field": "roof", "type": "nominal", "scale": dashes([roof.name for roof in roofs]), "legend": None}
    line = {"color": LIMIT, "strokeWidth": 1.5}
    dot = {"filled": True, "size": 26, "color": LIMIT, "opacity": 1}
    peak_name = {"align": "right", "baseline": "bottom", "dy": -5, "color": LIMIT}
    paper = {"color": PAPER, "stroke": PAPER, "strokeWidth": 4}
    top = [{"intensity": at, "value": peak[0]} for at in (flat, right)]
    ridges = [{"intensity": roof.ridge, "value": peak[0]} for roof in roofs]
    return [
        mark("line", line, ends, **axes, detail={"field": "roof"}, strokeDash=dash),
        mark("line", line, top, **axes),
        mark("point", dot, ridges, **axes),
        mark("text", peak_name, [{**top[1], "label": peak[1]}], **text_of),
        {**mark("text", {**along_roof, **paper}, named, **text_of), "transform": where},
        {**mark("text", {**along_roof, "color": MUTED}, named, **text_of), "transform": where},
    ]


def _along(roofs: list[Roof], kernels: list[Kernel], frame: Frame) -> list[_Spot]:
    """Place the name of each roof: above it, near its ridge, or below it where the next roof is too near.

    Where there is no room for a line between two roofs it moves down, row by row; it also avoids whiskers.
    """
    (left, right), (bottom, top) = frame.x, frame.y
    steep = math.radians(_steep(frame))
    decade = frame.width / math.log10(right / left)
    across = frame.height / math.log10(top / bottom) * math.cos(steep)
    ordered = sorted(roofs, key=lambda roof: -roof.bandwidth)
    gaps = [across * math.log10(upper.bandwidth / lower.bandwidth) for upper, lower in pairwise(ordered)]
    above = _sides([math.inf, *gaps, math.inf])
    rows: dict[str, int] = {}
    row = 0
    for roof, gap, stands_above in zip(ordered, [math.inf, *gaps], above, strict=False):
        row = (row + 1) % _ROWS if stands_above and gap < _LINE else 0
        rows[roof.name] = row
    slide = _LINE / math.tan(steep)  # length along the roof that the height of a line takes
    longest = _LETTER * max((len(roof.label) for roof in roofs), default=0)
    below, row_length = _LETTER + 1.4 * slide, longest + _LETTER + slide
    back = {name: (below + row * row_length) * math.cos(steep) / decade for name, row in rows.items()}
    sides = {roof.name: stands_above for roof, stands_above in zip(ordered, above, strict=True)}
    whiskers = _whiskers(kernels, frame)
    spots = []
    for roof in roofs:
        steps = (back[roof.name] + step * _LETTER * math.cos(steep) / decade for step in range(_SLIDES))
        ends = [roof.ridge / 10**away for away in steps]
        is_above, length = sides[roof.name], wide(roof.label)
        inside = (end for end in ends if end > left * 10 ** (length * math.cos(steep) / decade))
        free = (
            end
            for end in inside
            if not _meet(_name(frame.at(end, end * roof.bandwidth), length, steep, above=is_above), whiskers)
        )
        spots.append(_Spot(next(free, max(left, ends[0])), is_above))
    return spots


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


def _meet(name: list[tuple[float, float]], whiskers: list[tuple[float, float]]) -> bool:
    """Whether a name overlaps a whisker."""
    return any(abs(x - at) < _LETTER and abs(y - down) < _LETTER for x, y in name for at, down in whiskers)


def _sides(gaps: list[float]) -> list[bool]:
    """Return whether each name is above its roof, by the pixels between roofs, from those above the first."""
    found: list[bool] = []
    free = gaps[0]
    for gap in gaps[1:]:
        found.append(free >= _LINE or gap < _LINE)
        free = gap if found[-1] else gap - _LINE
    return found


def _steep(frame: Frame) -> float:
    """Return the angle of a roof in the chart, in degrees."""
    (left, right), (bottom, top) = frame.x, frame.y
    return math.degrees(
        math.atan2(frame.height / math.log10(top / bottom), frame.width / math.log10(right / left))
    )


def _labels(kernels: list[Kernel], roofs: list[Roof], peak: tuple[float, str], frame: Frame) -> list[Spec]:
    """Place the names of kernels next to their points, away from roofs, names of roofs and other kernels."""
    (left, right), (bottom, _) = frame.x, frame.y
    marks = _whiskers(kernels, frame)
    steep = math.radians(_steep(frame))
    for roof, (ends, above) in zip(roofs, _along(roofs, kernels, frame), strict=True):
        low = max(left, bottom / roof.bandwidth)
        marks += along([frame.at(low, low * roof.bandwidth), frame.at(roof.ridge, peak[0])])
        marks += _name(frame.at(ends, ends * roof.bandwidth), wide(roof.label), steep, above=above)
    flat = min((roof.ridge for roof in roofs), default=left)
    x, y = frame.at(right, peak[0])
    marks += along([frame.at(flat, peak[0]), (x, y)])
    marks += along([(end, y - _LETTER - _HEAD / 2) for end in (x - wide(peak[1]), x)])
    named = ((name, frame.at(*at)) for name, at in _named(kernels))
    requests = [Label(name, x, x, y) for name, (x, y) in named]
    places = placed(requests, marks, (frame.width, frame.height))
    return drawn_labels([request.text for request in requests], places, narrow=frame.width == _NARROW)


def _name(end: tuple[float, float], length: float, steep: float, *, above: bool) -> list[tuple[float, float]]:
    """Return the place of a name next to a roof: lines of marks along its foot, its middle and its head."""
    across, up = math.cos(steep), math.sin(steep)
    found = []
    for away in (_HEAD / 3, 2 * _HEAD / 3, _HEAD):
        far = away if above else -away
        x, y = end[0] - far * up, end[1] - far * across
        found += along([(x - length * across, y + length * up), (x, y)])
    return found


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
