"""A curve over sizes: log-log, a series for each way of measuring, boundaries of the caches as lines."""

import itertools
import math
from dataclasses import dataclass

from assay.report.charts.theme import (
    DASHES,
    FAINT,
    INK,
    MUTED,
    Spec,
    chart,
    log_ticks,
    series_scales,
)

_SIZE = (
    "datum.value >= 1073741824 ? format(datum.value/1073741824, '~r') + ' GiB' : "
    "datum.value >= 1048576 ? format(datum.value/1048576, '~r') + ' MiB' : "
    "datum.value >= 1024 ? format(datum.value/1024, '~r') + ' KiB' : format(datum.value, '~r') + ' B'"
)


_FEW_DECADES = 4
#: Labels of steps nearer than this share of the axis, and this in ln y, stand above each other; beyond the last
#: share of the axis they end where their step ends.
_LABEL, _LINE, _LATE = 0.16, 0.35, 0.8
#: Neighbours farther apart than so many usual steps are not joined.
_WIDEST = 4
#: More points than these are drawn small.
_MANY = 120
#: Room for two rows of labels between the plot and its legend.
_LABELS = 34


@dataclass(frozen=True)
class CurvePoint:
    """One figure of a curve; see `intervals.Point`. `x` is the swept value, `state` empty where it is of all."""

    x: float
    curve: str
    state: str
    value: float
    lo: float
    hi: float
    text: str
    basis: str
    size: str

    @property
    def series(self) -> str:
        """Curve and state."""
        return f"{self.curve}, {self.state}" if self.state else self.curve


@dataclass(frozen=True)
class Boundary:
    """A vertical line at `x` with its label, e.g. a cache's size, and a shorter one for phones."""

    x: float
    label: str
    short: str


@dataclass(frozen=True)
class Step:
    """A level that a law found: from `x` to `end` at `y`, with its label; empty where another step has it."""

    x: float
    end: float
    y: float
    series: str
    label: str


@dataclass(frozen=True)
class Guides:
    """What is drawn beside the points: boundaries of caches, levels of a law."""

    boundaries: tuple[Boundary, ...] = ()
    steps: tuple[Step, ...] = ()


def curve(
    points: list[CurvePoint],
    titles: tuple[str, str],
    guides: Guides = Guides(),
    *,
    sizes: bool = True,
    base: int = 2,
) -> Spec:
    """The curves of `points`; `titles` of x and y axis with units; `sizes`: x is in bytes; `base` of its axis."""
    names = list(dict.fromkeys(point.series for point in points))
    colour, shape = series_scales(names)
    dash: Spec = {
        "field": "series",
        "type": "nominal",
        "legend": colour["legend"],
        "scale": {
            "domain": names,
            "range": [DASHES[(at + at // len(DASHES)) % len(DASHES)] for at in range(len(names))],
        },
    }
    x_axis: Spec = {"title": titles[0], "tickCount": {"expr": "narrow ? 5 : 9"}, "grid": False}
    if sizes:
        x_axis |= {
            "labelExpr": _SIZE,
            "values": _ticks(points),
            "labelOverlap": "greedy",
            "labelSeparation": 8,
            "labelFlush": False,
        }
    x: Spec = {"field": "x", "type": "quantitative", "scale": {"type": "log", "base": base}, "axis": x_axis}
    y_axis = {
        "title": titles[1],
        "format": "~r",
        "values": log_ticks(min(point.lo for point in points), max(point.hi for point in points), _FEW_DECADES),
    }
    y: Spec = {"field": "value", "type": "quantitative", "scale": _frame(points, guides), "axis": y_axis}
    tooltip = [
        {"field": "size", "title": titles[0]},
        {"field": "series", "title": "series"},
        {"field": "text", "title": "median"},
        {"field": "basis", "title": "basis"},
    ]
    many = len(points) > _MANY
    layer: list[Spec] = _boundaries(guides.boundaries)
    layer += [
        {
            "data": {"values": _lines(points)},
            "mark": {"type": "line", "strokeWidth": 1.6 if not many else 1},
            "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash, "detail": {"field": "segment"}},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.6},
            "encoding": {"x": x, "y": {**y, "field": "lo"}, "y2": {"field": "hi"}, "color": colour},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 42 if not many else 16, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour, "shape": shape, "tooltip": tooltip},
        },
        *_steps(guides.steps, x, y, colour),
    ]
    spec = chart(
        [vars(point) | {"series": point.series} for point in points], layer, height=340, usermeta={"narrow": 286}
    )
    legend = {**spec["config"]["legend"], "offset": _LABELS if guides.boundaries else 10}
    return {**spec, "config": {**spec["config"], "legend": legend}}


def _frame(points: list[CurvePoint], guides: Guides) -> Spec:
    """The scale of y, with room for the labels of steps."""
    scale: Spec = {"type": "log", "nice": False}
    if guides.steps:
        scale["domain"] = [min(point.lo for point in points) / 1.25, 1.5 * max(point.hi for point in points)]
    return scale


def _lines(points: list[CurvePoint]) -> list[Spec]:
    """What may be joined: neighbours of one curve in one state, with the points that all states share."""
    lines: list[Spec] = []
    widest = _WIDEST * _step(sorted({point.x for point in points}))
    for curve_name in dict.fromkeys(point.curve for point in points):
        members = [point for point in points if point.curve == curve_name]
        sizes = sorted({point.x for point in members})
        for state in dict.fromkeys(point.state for point in members if point.state) or [""]:
            segment = 0
            series = next(point.series for point in members if point.state == state)
            at = {point.x: point for point in members if not point.state}
            at |= {point.x: point for point in members if point.state == state}
            for before, size in zip([sizes[0], *sizes], sizes, strict=False):
                segment += size / before > widest
                if size in at:
                    lines.append({"x": size, "value": at[size].value, "series": series, "segment": segment})
                else:
                    segment += 1
    return lines


def _step(sizes: list[float]) -> float:
    """The usual factor between neighbours."""
    factors = sorted(after / before for before, after in itertools.pairwise(sizes))
    return factors[len(factors) // 2] if factors else 1.0


def _ticks(points: list[CurvePoint]) -> list[float]:
    """Powers of 16 and their halves on the log axis: 1 B, 16 B, 256 B, 4 KiB, 64 KiB, 1 MiB ..."""
    low, high = min(point.x for point in points), max(point.x for point in points)
    step = 2 if high / max(low, 1) <= 2**12 else 4
    return [float(2**power) for power in range(0, 60, step) if low <= 2**power <= high]


def _boundaries(boundaries: tuple[Boundary, ...]) -> list[Spec]:
    if not boundaries:
        return []
    rows = [{**vars(boundary), "row": -8 - 13 * (number % 2)} for number, boundary in enumerate(boundaries)]
    data = {"values": rows}
    x = {"field": "x", "type": "quantitative"}
    return [
        {
            "data": data,
            "mark": {"type": "rule", "strokeDash": [3, 3], "color": FAINT, "y": {"expr": "datum.row + 4"}},
            "encoding": {"x": x},
        },
        {
            "data": data,
            "mark": {"type": "text", "baseline": "bottom", "color": MUTED, "y": {"expr": "datum.row + 4"}},
            "encoding": {
                "x": x,
                "text": {"condition": {"test": "narrow", "field": "short"}, "field": "label"},
            },
        },
    ]


def _steps(steps: tuple[Step, ...], x: Spec, y: Spec, colour: Spec) -> list[Spec]:
    """Levels as broad strokes, each below its label: at its beginning, far on the axis at its end."""
    if not steps:
        return []
    first, last = (
        math.log(pick(each)) for pick, each in ((min, [s.x for s in steps]), (max, [s.end for s in steps]))
    )
    placed: list[tuple[float, float, int]] = []
    values: list[Spec] = []
    for step in steps:
        late = math.log(step.x) > first + _LATE * (last - first)
        place = ((math.log(step.x) - first) / max(last - first, 1.0), math.log(step.y))
        near = [
            lift for at, level, lift in placed if abs(at - place[0]) < _LABEL and abs(level - place[1]) < _LINE
        ]
        lift = 1 + max(near) if near else 0
        if step.label:
            placed.append((*place, lift))
        at = step.end if late else step.x
        values.append({**vars(step), "value": step.y, "lift": lift, "side": "right" if late else "left", "at": at})
    data = {"values": values}
    stroke = {"type": "rule", "strokeWidth": 7, "opacity": 0.25, "strokeCap": "round"}
    text = {
        "type": "text",
        "align": {"expr": "datum.side"},
        "baseline": "bottom",
        "dx": 3,
        "dy": {"expr": "-9 - 13 * datum.lift"},
        "color": INK,
    }
    label: Spec = {"x": {**x, "field": "at"}, "y": y, "text": {"field": "label"}}
    return [
        {"data": data, "mark": stroke, "encoding": {"x": x, "x2": {"field": "end"}, "y": y, "color": colour}},
        {"data": data, "mark": text, "encoding": label},
    ]
