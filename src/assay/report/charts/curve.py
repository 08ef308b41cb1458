"""A curve over sizes, log-log: a series for each level, cache boundaries as lines."""

import itertools
import math

import msgspec
from msgspec.structs import asdict

from assay.model.text import joined, text
from assay.report.charts.labels import Frame, Label, along, drawn, placed, wide
from assay.report.charts.theme import (
    FAINT,
    MUTED,
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
    with_legend,
)

_SIZE = (
    "datum.value >= 1073741824 ? format(datum.value/1073741824, '~r') + ' GiB' : "
    "datum.value >= 1048576 ? format(datum.value/1048576, '~r') + ' MiB' : "
    "datum.value >= 1024 ? format(datum.value/1024, '~r') + ' KiB' : format(datum.value, '~r') + ' B'"
)


_FEW_DECADES = 4
#: Pixels of the plot: on a phone, and its height.
_NARROW, _HEIGHT = 286, 340
#: Maximum distance of joined neighbours, in usual steps.
_WIDEST = 4
#: If there are more points, they are drawn small.
_MANY = 120
#: Pixels of an axis on the right.
_AXIS = 44
#: Pixels between plot and legend, of a row of labels, and between two labels of a row.
_GAP, _ROW, _BETWEEN = 8, 13, 8


class CurvePoint(msgspec.Struct, frozen=True):
    """One figure of a curve; see `intervals.Point`. `x` is the swept value; an empty `state` holds for all."""

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
        return joined(", ", (self.curve, self.state)) if self.state else self.curve


class Boundary(msgspec.Struct, frozen=True):
    """A vertical line at `x` with its label, and a shorter one for phones; dashed unless it was `measured`."""

    x: float
    label: str
    short: str
    measured: bool = False


class Plateau(msgspec.Struct, frozen=True):
    """A fitted level: from `x` to `end` at `y`, with its label, and a shorter one for phones.

    Both are empty if another step has them.
    """

    x: float
    end: float
    y: float
    series: str
    label: str
    short: str


class Guides(msgspec.Struct, frozen=True):
    """The additional lines of a curve: cache boundaries and fitted levels.

    `second`: title of an axis on the right, and its factor on the left axis; None for none.
    """

    boundaries: tuple[Boundary, ...] = ()
    steps: tuple[Plateau, ...] = ()
    second: tuple[str, float] | None = None

    @property
    def widths(self) -> tuple[int, int]:
        """Pixels of the plot on a page and on a phone."""
        return (WIDE - _AXIS, _NARROW - _AXIS // 2) if self.second else (WIDE, _NARROW)


#: No additional lines.
UNGUIDED = Guides()


def curve(
    points: list[CurvePoint],
    titles: tuple[str, str],
    guides: Guides = UNGUIDED,
    *,
    sizes: bool = True,
    base: int = 2,
) -> Spec:
    """Return curves of `points`; `titles` of both axes with units; `sizes`: x is in bytes; `base` of its axis."""
    names = list(dict.fromkeys(point.series for point in points))
    colour, shape = series_scales(names)
    dash = {**colour, "scale": dashes(names, 1)}
    x_axis: Spec = {"title": titles[0], "tickCount": {"expr": "narrow ? 5 : 9"}, "grid": False}
    if sizes:
        x_axis |= {
            "labelExpr": _SIZE,
            "values": _ticks(points),
            "labelOverlap": "greedy",
            "labelSeparation": 8,
            "labelFlush": False,
        }
    x_scale: Spec = {"type": "log", "base": base}
    if guides.steps:
        x_scale |= {"domain": [min(point.x for point in points), max(point.x for point in points)], "nice": False}
    x = numeric("x", x_scale, x_axis)
    y_axis = {
        "title": titles[1],
        "format": "~r",
        "values": log_ticks(min(point.lo for point in points), max(point.hi for point in points), _FEW_DECADES),
    }
    with_axis = numeric("value", _frame(points, guides), y_axis)
    y = {**with_axis, "axis": None} if guides.second else with_axis  # with two axes each layer has its own
    hover = tooltip(size=titles[0], series=text("series"), text=text("median"), basis=text("basis"))
    many = len(points) > _MANY
    line = {"strokeDash": dash, "detail": {"field": "segment"}}
    ends: Spec = {"y": {**y, "field": "lo"}, "y2": {"field": "hi"}}
    above = _rows(points, guides, base)
    layer: list[Spec] = _boundaries(above)
    layer += [
        mark(
            "line", {"strokeWidth": 1.6 if not many else 1}, _lines(points), x=x, y=with_axis, color=colour, **line
        ),
        mark("rule", {"strokeWidth": 2, "opacity": 0.6}, x=x, **ends, color=colour),
        dots(42 if not many else 16, x=x, y=y, color=colour, shape=shape, tooltip=hover),
        *_steps(points, guides, x, y, colour),
        *_second(guides, y),
    ]
    width, narrow = guides.widths
    spec = chart(
        [asdict(point) | {"series": point.series} for point in points],
        layer,
        width=width,
        height=_HEIGHT,
        usermeta={"narrow": narrow},
        **({"resolve": {"axis": {"y": "independent"}}} if guides.second else {}),
    )
    rows = 1 + max((row["row"] for row in above), default=0)
    offset = _GAP + rows * _ROW if guides.boundaries else 10
    return with_legend(spec, symbolStrokeWidth=0, offset=offset)  # a dash around a symbol deforms it


def _frame(points: list[CurvePoint], guides: Guides) -> Spec:
    """The scale of y, with room for whole marks, and for the labels of steps."""
    below, above = (1.25, 1.5) if guides.steps else (1.15, 1.15)
    ends = [min(point.lo for point in points) / below, above * max(point.hi for point in points)]
    return {"type": "log", "nice": False, "domain": ends}


def _lines(points: list[CurvePoint]) -> list[Spec]:
    """The joined points: neighbours of one curve in one state, with the points that all states share."""
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


def _rows(points: list[CurvePoint], guides: Guides, base: int) -> list[Spec]:
    """The boundaries with the row of each label, from the plot upwards, so that labels do not overlap."""
    low, high = (pick(point.x for point in points) for pick in (min, max))
    if not guides.steps:  # the axis ends at a power of its base
        low, high = base ** math.floor(math.log(low, base)), base ** math.ceil(math.log(high, base))
    ends: dict[str, list[float]] = {"label": [], "short": []}
    rows: list[Spec] = []
    for boundary in sorted(guides.boundaries, key=lambda each: each.x):
        row = {}
        for name, width in zip(ends, guides.widths, strict=True):
            middle = width * math.log(boundary.x / low) / math.log(high / low) if high > low else 0.0
            half = wide(getattr(boundary, name)) / 2
            free = (at for at, end in enumerate(ends[name]) if middle - half > end + _BETWEEN)
            row[name] = next(free, len(ends[name]))
            ends[name][row[name] : row[name] + 1] = [middle + half]
        rows.append(asdict(boundary) | {"row": max(row.values())})
    return rows


def _boundaries(rows: list[Spec]) -> list[Spec]:
    if not rows:
        return []
    dash = {"condition": {"test": "datum.measured", "value": [1, 0]}, "value": [3, 3]}
    x, top = numeric("x"), {"expr": f"-4 - {_ROW} * datum.row"}
    name = {"condition": {"test": "narrow", "field": "short"}, "field": "label"}
    return [
        mark("rule", {"color": FAINT, "y": top}, rows, x=x, strokeDash=dash),
        mark("text", {"baseline": "bottom", "color": MUTED, "y": top}, rows, x=x, text=name),
    ]


def _steps(points: list[CurvePoint], guides: Guides, x: Spec, y: Spec, colour: Spec) -> list[Spec]:
    """Levels as broad strokes with labels that cover no data; lines lead to distant labels."""
    if not guides.steps:
        return []
    stroke = {"strokeWidth": 7, "opacity": 0.25, "strokeCap": "round"}
    strokes = [{**asdict(step), "value": step.y} for step in guides.steps]
    layer = [mark("rule", stroke, strokes, x=x, x2={"field": "end"}, y=y, color=colour)]
    for narrow in (False, True):
        frame = Frame(guides.widths[narrow], _HEIGHT, x["scale"]["domain"], y["scale"]["domain"])
        layer += _labels(points, guides, frame, narrow=narrow)
    return layer


def _second(guides: Guides, y: Spec) -> list[Spec]:
    """The axis on the right: an own layer with an invisible mark."""
    if not guides.second:
        return []
    title, factor = guides.second
    low, high = (factor * end for end in y["scale"]["domain"])
    axis = {
        "orient": "right",
        "title": title,
        "grid": False,
        "labelExpr": f"format(datum.value * {factor}, '.3~r')",
    }
    axis["values"] = [tick / factor for tick in log_ticks(low, high, _FEW_DECADES)]
    return [mark("point", {"opacity": 0}, y={**y, "axis": axis})]


def _labels(points: list[CurvePoint], guides: Guides, frame: Frame, *, narrow: bool) -> list[Spec]:
    """The labels of steps for one of the two widths; they are hidden in the other."""
    marks = [place for line in _joined(points) for place in along(frame.at(*each) for each in line)]
    marks += [frame.at(point.x, end) for point in points for end in (point.lo, point.value, point.hi)]
    requests = []
    for step in guides.steps:
        (left, down), (right, _) = frame.at(step.x, step.y), frame.at(step.end, step.y)
        marks += along([(left, down), (right, down)])
        if step.label:
            requests.append(Label(step.short if narrow else step.label, left, right, down))
    uprights = [frame.at(boundary.x, frame.y[0])[0] for boundary in guides.boundaries]
    places = placed(requests, marks, (frame.width, frame.height), uprights)
    return drawn([request.text for request in requests], places, narrow=narrow)


def _joined(points: list[CurvePoint]) -> list[list[tuple[float, float]]]:
    """The lines as they are drawn."""
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for row in _lines(points):
        found.setdefault((row["series"], row["segment"]), []).append((row["x"], row["value"]))
    return list(found.values())
