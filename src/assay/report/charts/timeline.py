"""The hand-over probe along the run: a line for each launch, from the bracket before it to the one after."""

from dataclasses import dataclass

from assay.model.text import text
from assay.report.charts.theme import COLOURS, Spec, chart, log_ticks

QUIET, DISTURBED = text("quiet"), text("disturbed")
_STATES = (QUIET, DISTURBED)
#: Of more launches than these, quiet ones are lines without points.
_POINTS = 250
_MICRO = 1000
_TIME = (
    "datum.value >= 1e9 ? format(datum.value / 1e9, '~r') + ' s' : "
    "datum.value >= 1e6 ? format(datum.value / 1e6, '~r') + ' ms' : "
    "datum.value >= 1e3 ? format(datum.value / 1e3, '~r') + ' µs' : format(datum.value, '~r') + ' ns'"
)


@dataclass(frozen=True)
class Span:
    """One launch: start and end in seconds since the run began, hand-over before and after in ns, its label."""

    start: float
    end: float
    before: float
    after: float
    state: str
    launch: str
    note: str


def timeline(spans: list[Span]) -> Spec:
    """Hand-over of the probe cores along the run; disturbed launches have another colour and another shape."""
    colour: Spec = {
        "field": "state",
        "type": "nominal",
        "scale": {"domain": list(_STATES), "range": [COLOURS[0], COLOURS[1]]},
        "legend": {"title": None},
    }
    shape: Spec = {
        "field": "state",
        "type": "nominal",
        "scale": {"domain": list(_STATES), "range": ["circle", "diamond"]},
        "legend": {"title": None},
    }
    tooltip = [
        {"field": "launch", "title": text("launch")},
        {"field": "before", "title": text("before (ns)"), "format": ",.3r"},
        {"field": "after", "title": text("after (ns)"), "format": ",.3r"},
        {"field": "note", "title": text("note")},
    ]
    low = min(min(span.before, span.after) for span in spans)
    high = max(max(span.before, span.after) for span in spans)
    logarithmic = high > 3 * low
    scale: Spec = {"type": "log", "nice": False} if logarithmic else {"zero": True}
    scale["domain"] = [low * 0.8, high * 1.25] if logarithmic else [0, high * 1.15]
    axis: Spec = {"title": text("hand-over, one way (ns)"), "tickCount": 6, "format": "~r"}
    if high > _MICRO:  # a core that had to wait for its turn: milliseconds beside nanoseconds
        axis = {"title": text("hand-over, one way"), "labelExpr": _TIME, "values": log_ticks(low, high)}
    y: Spec = {"type": "quantitative", "scale": scale, "axis": axis}
    x: Spec = {"type": "quantitative", "axis": {"title": text("time since the run began (s)"), "grid": False}}
    layer: list[Spec] = [
        {
            "mark": {"type": "rule", "strokeWidth": 2, "strokeCap": "round", "opacity": 0.55},
            "encoding": {
                "x": {**x, "field": "start"},
                "x2": {"field": "end"},
                "y": {**y, "field": "before"},
                "y2": {"field": "after"},
                "color": colour,
            },
        },
    ]
    few = len(spans) <= _POINTS
    pointed = [vars(span) for span in spans if few or span.state != _STATES[0]]
    for time, value in (("start", "before"), ("end", "after")) if pointed else ():
        encoding: Spec = {"x": {**x, "field": time}, "y": {**y, "field": value}, "color": colour, "shape": shape}
        mark = {"type": "point", "filled": True, "size": 42, "opacity": 1}
        layer.append({"data": {"values": pointed}, "mark": mark, "encoding": encoding | {"tooltip": tooltip}})
    return chart([vars(span) for span in spans], layer, height=200, usermeta={"narrow": 284})
