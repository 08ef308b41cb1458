"""The cache-line probe over the run: a line for each launch, from the probe before it to the probe after it."""

import msgspec
from msgspec.structs import asdict

from assay.model.text import text
from assay.report.charts.theme import COLOURS, SHAPES, Spec, chart, dots, log_ticks, mark, tooltip

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


class Span(msgspec.Struct, frozen=True):
    """One launch: start and end in seconds since the run began, hand-over before and after in ns, its label."""

    start: float
    end: float
    before: float
    after: float
    state: str
    launch: str
    note: str


def timeline(spans: list[Span]) -> Spec:
    """Cache-line transfer time of the probe over the run; disturbed launches have another colour and shape."""
    of_state: Spec = {"field": "state", "type": "nominal", "legend": {"title": None}}
    colour = {**of_state, "scale": {"domain": list(_STATES), "range": COLOURS[:2]}}
    shape = {**of_state, "scale": {"domain": list(_STATES), "range": SHAPES[:2]}}
    said = tooltip(launch=text("launch"), before=text("before (ns)"), after=text("after (ns)"), note=text("note"))
    said = [{**line, "format": ",.3r"} if line["field"] in {"before", "after"} else line for line in said]
    low = min(min(span.before, span.after) for span in spans)
    high = max(max(span.before, span.after) for span in spans)
    logarithmic = high > 3 * low
    scale: Spec = {"type": "log", "nice": False} if logarithmic else {"zero": True}
    scale["domain"] = [low * 0.8, high * 1.25] if logarithmic else [0, high * 1.15]
    axis: Spec = {"title": text("cache-line transfer, one way (ns)"), "tickCount": 6, "format": "~r"}
    if high > _MICRO:  # a core that had to wait for its turn: milliseconds beside nanoseconds
        axis = {"title": text("cache-line transfer, one way"), "labelExpr": _TIME, "values": log_ticks(low, high)}
    y: Spec = {"type": "quantitative", "scale": scale, "axis": axis}
    x: Spec = {
        "type": "quantitative",
        "axis": {
            "title": text("time since the start of the run (s)"),
            "grid": False,
            "tickCount": {"expr": "narrow ? 4 : 10"},
        },
    }
    ends: Spec = {"x": {**x, "field": "start"}, "x2": {"field": "end"}}
    ends |= {"y": {**y, "field": "before"}, "y2": {"field": "after"}, "color": colour}
    layer = [mark("rule", {"strokeWidth": 2, "strokeCap": "round", "opacity": 0.55}, **ends)]
    few = len(spans) <= _POINTS
    pointed = [asdict(span) for span in spans if few or span.state != _STATES[0]]
    for time, value in (("start", "before"), ("end", "after")) if pointed else ():
        at = {"x": {**x, "field": time}, "y": {**y, "field": value}}
        layer.append(dots(42, pointed, **at, color=colour, shape=shape, tooltip=said))
    return chart([asdict(span) for span in spans], layer, height=200, usermeta={"narrow": 284})
