"""The run over time: its launches by program, and below them the other activity of the machine."""

import msgspec
from msgspec.structs import asdict

from assay.model.text import text
from assay.report.charts.theme import (
    COLOURS,
    INK,
    LIMIT,
    MUTED,
    SHAPES,
    Spec,
    dots,
    log_ticks,
    mark,
    numeric,
    panels,
    tooltip,
)

QUIET, DISTURBED = text("quiet"), text("disturbed")
_STATES = (QUIET, DISTURBED)
#: A run that took longer than this has an axis in minutes.
_LONG_S, _MINUTE_S = 600, 60
_ROW, _PANEL = 20, 58
#: With more launches the probes are lines without points.
_POINTS = 250
_MICRO = 1000
_TIME = (
    "datum.value >= 1e9 ? format(datum.value / 1e9, '~r') + ' s' : "
    "datum.value >= 1e6 ? format(datum.value / 1e6, '~r') + ' ms' : "
    "datum.value >= 1e3 ? format(datum.value / 1e3, '~r') + ' µs' : format(datum.value, '~r') + ' ns'"
)


class Span(msgspec.Struct, frozen=True):
    """One launch. Values that were not measured are None.

    Attributes:
        start: in seconds since the run began.
        end: the same.
        program: that ran.
        state: quiet or disturbed.
        launch: its label.
        note: why it was disturbed.
        foreign: percent of the cpu time that other processes used.
        steal: percent of it that the hypervisor took.
        clock: of the cores under load, in GHz.
        before: cache-line transfer before it, in ns.
        after: the same after it.
    """

    start: float
    end: float
    program: str
    state: str
    launch: str
    note: str
    foreign: float | None
    steal: float | None
    clock: float | None
    before: float | None
    after: float | None


def timeline(spans: list[Span], crowded: float) -> Spec:
    """Draw a row for each program, then a panel for each measure; `crowded`: percent that disturb."""
    until = max(span.end for span in spans)
    unit = _MINUTE_S if until > _LONG_S else 1
    title = (
        text("time since the start of the run (min)") if unit > 1 else text("time since the start of the run (s)")
    )
    rows = [{**asdict(span), "start": span.start / unit, "end": span.end / unit} for span in spans]
    scale = {"domain": [0, until / unit], "nice": False}
    axis = {
        "title": None,
        "grid": False,
        "labels": False,
        "ticks": False,
        "tickCount": {"expr": "narrow ? 4 : 10"},
    }
    x, x2 = numeric("start", scale, axis), {"field": "end"}
    drawn = [_programs(list(dict.fromkeys(span.program for span in spans)), x, x2)]
    shares = {
        "foreign": text("used by other processes (% of cpu time)"),
        "steal": text("taken by the hypervisor (%)"),
    }
    for name, head in shares.items():
        if known := [found for span in spans if (found := getattr(span, name)) is not None]:
            drawn.append(_share(name, head, x, x2, (max(known), crowded if name == "foreign" else 0.0)))
    if any(span.clock for span in spans):
        at = numeric("clock", {"zero": False, "padding": 6}, {"title": None, "tickCount": 3})
        point = dots(24, x=x, y=at, color={"value": COLOURS[4]}, tooltip=_hover("clock", text("clock (GHz)")))
        drawn.append({"title": text("clock under load (GHz)"), "height": _PANEL, "layer": [point]})
    if any(span.before and span.after for span in spans):
        drawn.append(_handover(spans, x, x2))
    for layer in drawn[-1]["layer"]:
        if "x" in layer["encoding"]:
            layer["encoding"]["x"] = {**x, "axis": {**axis, "title": title, "labels": True, "ticks": True}}
    return panels(rows, drawn, usermeta={"narrow": 236})


def _programs(names: list[str], x: Spec, x2: Spec) -> Spec:
    """Draw launches as bars; disturbed ones have another colour, and a mark."""
    scale = {"domain": list(_STATES), "range": COLOURS[:2]}
    colour = {"field": "state", "type": "nominal", "scale": scale, "legend": {"title": None}}
    axis = {"title": None, "domain": False, "ticks": False, "grid": True, "labelColor": INK, "labelLimit": 120}
    y = {"field": "program", "type": "nominal", "sort": names, "axis": axis}
    hover = _hover("note", text("note"))
    bar = {"height": {"band": 0.6}, "stroke": None}
    start = {"thickness": 1, "size": 12, "opacity": 1}
    cross = {"shape": SHAPES[4], "size": 40, "filled": True, "color": COLOURS[1], "opacity": 1, "yOffset": -9}
    return {
        "height": _ROW * len(names),
        "layer": [
            mark("bar", bar, x=x, x2=x2, y=y, color=colour, tooltip=hover),
            mark("tick", start, x=x, y=y, color=colour, tooltip=hover),
            {
                "transform": [{"filter": {"field": "state", "equal": DISTURBED}}],
                **mark("point", cross, x=x, y=y, tooltip=hover),
            },
        ],
    }


def _share(name: str, title: str, x: Spec, x2: Spec, ends: tuple[float, float]) -> Spec:
    """Draw a bar for each launch as high as its share; the dashed line is the border of disturbance."""
    most, crowded = ends
    y = numeric(name, {"domain": [0, max(1.1 * most, 1.4 * crowded, 1)]}, {"title": None, "tickCount": 3})
    colour = COLOURS[2] if crowded else COLOURS[3]
    look = {"color": colour, "stroke": colour, "strokeWidth": 1}
    bar = mark("rect", look, x=x, x2=x2, y=y, y2={"datum": 0}, tooltip=_hover(name, title))
    rule = mark("rule", {"color": LIMIT, "strokeDash": [4, 3]}, [{name: crowded}], y=y)
    return {"title": title, "height": _PANEL, "layer": [bar, *([rule] if crowded else [])]}


def _handover(spans: list[Span], x: Spec, x2: Spec) -> Spec:
    """Draw the probe before and after each launch, joined by a line."""
    known = [value for span in spans for value in (span.before, span.after) if value]
    low, high = min(known), max(known)
    logarithmic = high > 3 * low
    scale: Spec = {"type": "log", "nice": False} if logarithmic else {"zero": True}
    scale["domain"] = [low * 0.8, high * 1.25] if logarithmic else [0, high * 1.15]
    axis: Spec = {"title": None, "tickCount": 3, "format": "~r"}
    title = text("cache-line transfer of the probe, one way (ns)")
    if high > _MICRO:  # a core had to wait for its turn: both milliseconds and nanoseconds
        axis = {"title": None, "labelExpr": _TIME, "values": log_ticks(low, high, 1)}
        title = text("cache-line transfer of the probe, one way")
    hover = tooltip(launch=text("launch"), before=text("before (ns)"), after=text("after (ns)"), note=text("note"))
    hover = [{**line, "format": ",.3r"} if line["field"] in {"before", "after"} else line for line in hover]
    y = numeric("before", scale, axis)
    line = {"strokeWidth": 2, "strokeCap": "round", "color": MUTED}
    return {
        "title": title,
        "height": _PANEL,
        "layer": [
            mark("rule", line, x=x, x2=x2, y=y, y2={"field": "after"}, tooltip=hover),
            *([dots(14, x=x, y=y, color={"value": COLOURS[5]}, tooltip=hover)] if len(spans) <= _POINTS else []),
        ],
    }


def _hover(field: str, title: str) -> list[Spec]:
    """Return a tooltip with program, launch and one field."""
    return tooltip(program=text("program"), launch=text("launch"), **{field: title})
