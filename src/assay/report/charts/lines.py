"""Lines over a linear scale: points with whiskers, marked spans and places, limits as lines."""

import msgspec
from msgspec.structs import asdict

from assay.model.text import text
from assay.report.charts.theme import (
    FAINT,
    INK,
    LIMIT,
    MUTED,
    Spec,
    chart,
    dashes,
    dots,
    mark,
    numeric,
    series_scales,
    tooltip,
)


class LinePoint(msgspec.Struct, frozen=True):
    """One figure of a line; see `intervals.Point`. `place`: x in words."""

    x: float
    series: str
    value: float
    lo: float
    hi: float
    text: str
    basis: str
    place: str
    x_lo: float
    x_hi: float


class Mark(msgspec.Struct, frozen=True):
    """A named place on a line: a ring around it, its uncertainty in x, its label."""

    x: float
    value: float
    lo: float
    hi: float
    series: str
    label: str


class Level(msgspec.Struct, frozen=True):
    """A horizontal line with its label; a limit is dark, other levels are dashed."""

    y: float
    label: str
    limit: bool = True


def lines(
    points: list[LinePoint],
    titles: tuple[str, str],
    marks: tuple[Mark, ...] = (),
    levels: tuple[Level, ...] = (),
) -> Spec:
    """Return lines through `points` in their order; `titles` of x and y axis with their units.

    Both axes begin at zero.
    """
    names = list(dict.fromkeys(point.series for point in points))
    colour, shape = series_scales(names)
    whole = all(float(point.x).is_integer() for point in points)
    x_axis = {"title": titles[0], "grid": False, "tickCount": {"expr": "narrow ? 5 : 9"}}
    if whole:
        x_axis |= {"tickMinStep": 1, "format": "d"}
    x = numeric("x", {"zero": True, "nice": not whole}, x_axis)
    top = max([*(point.hi for point in points), *(level.y for level in levels)])
    y = numeric("value", {"domain": [0, 1.12 * top], "nice": False}, {"title": titles[1], "tickCount": 6})
    dash = {**colour, "scale": dashes(names)}
    hover = tooltip(place=titles[0], series=text("series"), text=text("median"), basis=text("basis"))
    joined: Spec = {"strokeDash": dash, "order": {"field": "number"}}
    across: Spec = {"x": {**x, "field": "x_lo"}, "x2": {"field": "x_hi"}}
    whisker = {"strokeWidth": 2, "opacity": 0.7}
    wide = [asdict(point) for point in points if point.x_hi > point.x_lo]
    layer: list[Spec] = [
        *_levels(levels),
        *_spans(marks, x),
        mark("line", {"strokeWidth": 1.6}, x=x, y=y, color=colour, **joined),
        mark("rule", whisker, x=x, y={**y, "field": "lo"}, y2={"field": "hi"}, color=colour),
        *([mark("rule", whisker, wide, **across, y=y, color=colour)] if wide else []),
        dots(46, x=x, y=y, color=colour, shape=shape, tooltip=hover),
        *_rings(marks, x, y),
    ]
    data = [asdict(point) | {"number": at} for at, point in enumerate(points)]
    return chart(data, layer, height=300, usermeta={"narrow": 280})


def _spans(marks: tuple[Mark, ...], x: Spec) -> list[Spec]:
    """The uncertainty of each marked place, as a band from the axis up."""
    wide = [asdict(each) for each in marks if each.hi > each.lo]
    band = {"color": FAINT, "opacity": 0.16}
    return [mark("rect", band, wide, x={**x, "field": "lo"}, x2={"field": "hi"})] if wide else []


def _rings(marks: tuple[Mark, ...], x: Spec, y: Spec) -> list[Spec]:
    if not marks:
        return []
    rows = [asdict(each) for each in marks]
    ring = {"filled": False, "size": 190, "strokeWidth": 1.6, "color": INK, "opacity": 1}
    align = {"expr": "datum.x > domain('x')[1] * 0.8 ? 'right' : 'center'"}
    name = {"align": align, "baseline": "bottom", "dy": -11, "color": INK}
    return [
        mark("rule", {"color": MUTED, "strokeDash": [3, 3]}, rows, x=x, y=y, y2={"datum": 0}),
        mark("point", ring, rows, x=x, y=y),
        mark("text", name, rows, x=x, y=y, text={"field": "label"}),
    ]


def _levels(levels: tuple[Level, ...]) -> list[Spec]:
    found: list[Spec] = []
    for level in levels:
        colour = LIMIT if level.limit else MUTED
        stroke = {"strokeWidth": 1.5} if level.limit else {"strokeDash": [6, 3]}
        name = {"align": "left", "baseline": "bottom", "dx": 4, "dy": -3, "color": colour}
        rows, y = [asdict(level)], numeric("y")
        found += [
            mark("rule", {"color": colour, **stroke}, rows, y=y),
            mark("text", name, rows, x={"value": 0}, y=y, text={"field": "label"}),
        ]
    return found
