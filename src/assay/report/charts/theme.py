"""The style of all charts. Colours are CSS variables of the page: one drawing for light, dark and print."""

import json
import math
from pathlib import Path
from typing import Any

Spec = dict[str, Any]

#: Vega-Lite that the charts are written for; the one that vl-convert carries.
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
WIDE, NARROW = 790, 250
COLOURS = [f"var(--series-{number})" for number in range(1, 9)]
SHAPES = [
    "circle",
    "diamond",
    "square",
    "triangle-up",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3], [12, 3], [5, 2, 1, 2]]
#: Three families of equal widths, so that measured texts fit on every system.
FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
INK, MUTED, FAINT, GRID, LIMIT = "var(--ink)", "var(--muted)", "var(--faint)", "var(--grid)", "var(--limit)"
PAPER = "var(--paper)"
#: Maximum number of ticks of an axis of ratios; ratio of its ends from which ticks are logarithmic.
_MOST_TICKS, _FAR = 7, 8
#: The channel of a text that is short on a phone.
SHORT = {"condition": {"test": "narrow", "field": "short"}, "field": "text"}

#: Axes, legends and texts, with the colours above.
_CONFIG: Spec = json.loads(Path(__file__).with_name("config.json").read_text("utf-8"))


def chart(values: list[Spec], layer: list[Spec], **parts: Any) -> Spec:  # noqa: ANN401 (any part of a spec)
    """A layered chart over `values`, wide; `narrowed` makes the phone's version of it."""
    return {
        "$schema": SCHEMA,
        "width": WIDE,
        "params": [{"name": "narrow", "value": False}],
        "data": {"values": values},
        "layer": layer,
        "config": _CONFIG,
        **parts,
    }


def panels(values: list[Spec], drawn: list[Spec], **parts: Any) -> Spec:  # noqa: ANN401 (any part of a spec)
    """Layered charts over the same `values` in a column, each with a height; they share the axis of x."""
    spec = {name: part for name, part in chart(values, [], **parts).items() if name not in {"width", "layer"}}
    view = {**_CONFIG["view"], "continuousWidth": WIDE}
    return {**spec, "vconcat": drawn, "spacing": 10, "config": {**_CONFIG, "view": view}}


def with_legend(spec: Spec, **parts: Any) -> Spec:  # noqa: ANN401 (any part of a legend)
    """The same chart with other parts of its legend."""
    return {**spec, "config": {**spec["config"], "legend": {**spec["config"]["legend"], **parts}}}


def narrowed(spec: Spec) -> Spec:
    """The same chart for a phone: narrower, its legend in one column, its texts short (`narrow` is true)."""
    legend = {**spec["config"]["legend"], "columns": 1, "labelLimit": 240}
    axis = {**spec["config"]["axis"], "labelLimit": 112, "labelFontSize": 10.5}
    meta = spec.get("usermeta", {})
    config = {**spec["config"], "legend": legend, "axis": axis}
    config["view"] = {**config["view"], "continuousWidth": meta.get("narrow", NARROW)}
    size = {"width": meta.get("narrow", NARROW), "height": meta.get("narrow_height", spec.get("height"))}
    return {
        **spec,
        **(size if "width" in spec else {}),
        "params": [{"name": "narrow", "value": True}],
        "config": config,
    }


def numeric(field: str, scale: Spec | None = None, axis: Spec | None = None) -> Spec:
    """The channel of a field of numbers, with its scale and its axis, if given."""
    given = {"scale": scale, "axis": axis}
    return {"field": field, "type": "quantitative"} | {name: part for name, part in given.items() if part}


def slots(count: float) -> Spec:
    """The channel of rows below each other, from the top, without an axis."""
    return numeric("slot", {"domain": [0, count], "reverse": True, "nice": False}) | {"axis": None}


def mark(kind: str, style: Spec, rows: list[Spec] | None = None, **encoding: Any) -> Spec:  # noqa: ANN401 (channels)
    """A layer: marks of one kind, one for each row of the chart, or for each of its own `rows`."""
    data: Spec = {} if rows is None else {"data": {"values": rows}}
    return {**data, "mark": {"type": kind, **style}, "encoding": encoding}


def dots(size: float, **encoding: Any) -> Spec:  # noqa: ANN401 (channels)
    """A layer of filled points; see `mark`."""
    return mark("point", {"filled": True, "size": size, "opacity": 1}, **encoding)


def tooltip(**titles: str) -> list[Spec]:
    """The lines of a tooltip: each field under its title."""
    return [{"field": field, "title": title} for field, title in titles.items()]


def series_scales(names: list[str]) -> tuple[Spec, Spec]:
    """Colour and shape of each series, so that colour alone never identifies it; both share one legend.

    When colours repeat, shapes are shifted by one, so that no two series look the same.
    """
    legend = {"title": None} if len(names) > 1 else None
    cycle = range(len(names))
    colour = {"domain": names, "range": [COLOURS[index % len(COLOURS)] for index in cycle]}
    shape = {"domain": names, "range": [SHAPES[(index + index // len(COLOURS)) % len(SHAPES)] for index in cycle]}
    return (
        {"field": "series", "type": "nominal", "scale": colour, "legend": legend},
        {"field": "series", "type": "nominal", "scale": shape, "legend": legend},
    )


def dashes(names: list[str], further: int = 0) -> Spec:
    """Return the scale of a dash for each series; when dashes repeat, they are shifted by `further`."""
    turns = (at + further * (at // len(DASHES)) for at in range(len(names)))
    return {"domain": names, "range": [DASHES[turn % len(DASHES)] for turn in turns]}


def ratio_ticks(low: float, high: float) -> list[float]:
    """Return the ticks of a logarithmic axis of ratios; for a small span, multiples of one step."""
    if high > _FAR * low:
        return log_ticks(low, high, _MOST_TICKS - 3)
    steps = (base * 10.0**power for power in range(-4, 2) for base in (1, 2, 5))
    step = next((step for step in steps if (high - low) / step <= _MOST_TICKS), 1.0)
    return [round(at * step, 4) for at in range(math.ceil(low / step), math.floor(high / step) + 1)]


def log_ticks(low: float, high: float, many: int = 3) -> list[float]:
    """Return 1, 2 and 5 times each power of ten between two ends; only powers if there are more than `many`."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1.0, 2.0, 5.0) if len(powers) <= many else (1.0,)
    return [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
