"""Lines over a plain scale: points with their whiskers, spans and places that are marked, limits as lines."""

import itertools
from dataclasses import dataclass

from assay.model.text import text
from assay.report.charts.theme import DASHES, FAINT, INK, LIMIT, MUTED, Spec, chart, series_scales


@dataclass(frozen=True)
class LinePoint:
    """One figure of a line; see `intervals.Point`. `place`: x in words, `number`: where it stands on its line."""

    x: float
    series: str
    value: float
    lo: float
    hi: float
    text: str
    basis: str
    place: str
    number: float
    x_lo: float
    x_hi: float


@dataclass(frozen=True)
class Mark:
    """A place on a line that has a name: a ring around it, the span of x that it may be in, its label."""

    x: float
    value: float
    lo: float
    hi: float
    series: str
    label: str


@dataclass(frozen=True)
class Level:
    """A horizontal line with its label; a limit is red."""

    y: float
    label: str
    limit: bool = True


def lines(
    points: list[LinePoint],
    titles: tuple[str, str],
    marks: tuple[Mark, ...] = (),
    levels: tuple[Level, ...] = (),
) -> Spec:
    """Lines through `points`; `titles` of x and y axis with their units. Both axes begin at zero."""
    names = list(dict.fromkeys(point.series for point in points))
    colour, shape = series_scales(names)
    whole = all(float(point.x).is_integer() for point in points)
    x_axis = {"title": titles[0], "grid": False, "tickCount": {"expr": "narrow ? 5 : 9"}}
    if whole:
        few, many = (_ticks(max(point.x for point in points), most) for most in (5, 9))
        x_axis |= {"values": {"expr": f"narrow ? {few} : {many}"}, "format": "d"}
    x: Spec = {"field": "x", "type": "quantitative", "scale": {"zero": True, "nice": not whole}, "axis": x_axis}
    top = max([*(point.hi for point in points), *(level.y for level in levels)])
    y: Spec = {
        "field": "value",
        "type": "quantitative",
        "scale": {"domain": [0, 1.12 * top], "nice": False},
        "axis": {"title": titles[1], "tickCount": 6},
    }
    dash: Spec = {
        **colour,
        "scale": {"domain": names, "range": [DASHES[at % len(DASHES)] for at in range(len(names))]},
    }
    tooltip = [
        {"field": "place", "title": titles[0]},
        {"field": "series", "title": text("series")},
        {"field": "text", "title": text("median")},
        {"field": "basis", "title": text("basis")},
    ]
    layer: list[Spec] = [
        *_levels(levels),
        *_spans(marks, x),
        {
            "mark": {"type": "line", "strokeWidth": 1.6},
            "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash, "order": {"field": "number"}},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.7},
            "encoding": {"x": x, "y": {**y, "field": "lo"}, "y2": {"field": "hi"}, "color": colour},
        },
        *_across(points, x, y, colour),
        {
            "mark": {"type": "point", "filled": True, "size": 46, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour, "shape": shape, "tooltip": tooltip},
        },
        *_rings(marks, x, y),
    ]
    return chart([vars(point) for point in points], layer, height=300, usermeta={"narrow": 280})


def _ticks(last: float, most: int) -> list[int]:
    """Whole numbers from 0 on, evenly, `most` of them or fewer; the step is 1, 2 or 5, or one of these in tens."""
    steps = (digit * 10**power for power in itertools.count() for digit in (1, 2, 5))
    step = next(step for step in steps if last // step < most)
    return list(range(0, int(last) + 1, step))


def _across(points: list[LinePoint], x: Spec, y: Spec, colour: Spec) -> list[Spec]:
    """Whiskers of x."""
    wide = [vars(point) for point in points if point.x_hi > point.x_lo]
    whisker = {"mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.7}}
    at: Spec = {"x": {**x, "field": "x_lo"}, "x2": {"field": "x_hi"}, "y": y, "color": colour}
    return [{"data": {"values": wide}, **whisker, "encoding": at}] if wide else []


def _spans(marks: tuple[Mark, ...], x: Spec) -> list[Spec]:
    """Where each marked place may be, as a band from the axis up."""
    wide = [vars(mark) for mark in marks if mark.hi > mark.lo]
    band = {"mark": {"type": "rect", "color": FAINT, "opacity": 0.16}}
    at: Spec = {"x": {**x, "field": "lo"}, "x2": {"field": "hi"}}
    return [{"data": {"values": wide}, **band, "encoding": at}] if wide else []


def _rings(marks: tuple[Mark, ...], x: Spec, y: Spec) -> list[Spec]:
    if not marks:
        return []
    data = {"values": [vars(mark) for mark in marks]}
    return [
        {
            "data": data,
            "mark": {"type": "rule", "color": MUTED, "strokeDash": [3, 3]},
            "encoding": {"x": x, "y": y, "y2": {"datum": 0}},
        },
        {
            "data": data,
            "mark": {
                "type": "point",
                "filled": False,
                "size": 190,
                "strokeWidth": 1.6,
                "color": INK,
                "opacity": 1,
            },
            "encoding": {"x": x, "y": y},
        },
        {
            "data": data,
            "mark": {
                "type": "text",
                "align": {"expr": "datum.x > domain('x')[1] * 0.8 ? 'right' : 'center'"},
                "baseline": "bottom",
                "dy": -11,
                "color": INK,
            },
            "encoding": {"x": x, "y": y, "text": {"field": "label"}},
        },
    ]


def _levels(levels: tuple[Level, ...]) -> list[Spec]:
    found: list[Spec] = []
    for level in levels:
        colour = LIMIT if level.limit else MUTED
        data = {"values": [vars(level)]}
        y = {"field": "y", "type": "quantitative"}
        stroke = {"strokeWidth": 1.5} if level.limit else {"strokeDash": [6, 3]}
        found.append({"data": data, "mark": {"type": "rule", "color": colour, **stroke}, "encoding": {"y": y}})
        name = {"type": "text", "align": "left", "baseline": "bottom", "dx": 4, "dy": -3, "color": colour}
        at = {"x": {"value": 0}, "y": y, "text": {"field": "label"}}
        found.append({"data": data, "mark": name, "encoding": at})
    return found
