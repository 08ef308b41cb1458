"""Curves of several runs over each other: a colour for each run, a shape and a dash for each of its ways."""

import copy
import math
from collections.abc import Mapping, Sequence

from assay.model.result import Estimate, Model
from assay.model.several import Beside, Way
from assay.model.text import joined, text
from assay.report import choose, figures, messages, words
from assay.report.charts.curve import CurvePoint, curve
from assay.report.charts.theme import COLOURS, DASHES, MUTED, SHAPES, log_ticks
from assay.report.section import Figure, Spec
from assay.report.several.tables import pair_name
from assay.report.several.together import Together
from assay.report.vocabulary import known

#: Points of a fitted piece between two sizes a factor of two apart.
_FINE = 4
#: Of more decades only the powers of ten have a tick.
_DECADES = 3
#: The line of equal ones is drawn in any chart of ratios, with so much room beside it.
_BELOW = 0.9


def overlay(together: Together, title: str, anchor: str, ways: tuple[Way, ...]) -> Figure | None:
    """Time or bandwidth by size, the fitted pieces as broad strokes below; None where no curve has two sizes."""
    names = together.series(ways)
    every = [e for way in ways for e in together.members(way)]
    factor, unit = figures.scaled_middle(every)
    points = [
        CurvePoint(
            x=float(size),
            curve=names[way.id],
            state="",
            value=factor * (estimate.median or 0.0),
            lo=factor * (estimate.lo or estimate.median or 0.0),
            hi=factor * (estimate.hi or estimate.median or 0.0),
            text=figure.short,
            basis=figure.basis,
            size=words.param(size, "B"),
        )
        for way in ways
        for size, estimate in zip(way.sizes, together.members(way), strict=True)
        if size and estimate.median and (figure := words.shown(estimate))
    ]
    if len({point.x for point in points}) <= 1:
        return None
    noun = messages.COUNTED.get(ways[0].pattern, ways[0].pattern)
    titles = (text("size of a message"), text("{title} ({unit})", title=noun, unit=unit))
    spec = _coloured(curve(points, titles), together, ways, names)
    pieces = [row for way in ways for row in _pieces(together, way, names[way.id], factor)]
    if pieces:
        spec = {**spec, "layer": [_strokes(pieces, spec), *spec["layer"]]}
    caption = joined(
        " ",
        (
            text("{title}, by size, both axes logarithmic; a colour for each system.", title=title),
            *_basis(every),
            text("Broad strokes are the fitted pieces of each curve's law; a gap in them is a break."),
            text("{size} has no place on such an axis; the table has it.", size="0 B")
            if any(0 in way.sizes for way in ways)
            else "",
        ),
    )
    result = joined("; ", [_told(names[way.id], [p for p in points if p.curve == names[way.id]]) for way in ways])
    return Figure(anchor, caption, result, spec)


def _basis(estimates: Sequence[Estimate]) -> tuple[str, ...]:
    """What points and whiskers are."""
    sampled = [e for e in estimates if e.method != "imported"]
    if not sampled:
        return (figures.whiskers(estimates),)
    others = text("Figures of others are drawn as their source printed them, without whiskers.")
    return (figures.whiskers(sampled), others)


def _told(name: str, points: list[CurvePoint]) -> str:
    if not points:
        return text("{name}: none", name=name)
    first, last = points[0], points[-1]
    return text(
        "{name}: {first} at {least}, {last} at {largest}",
        name=name,
        first=first.text,
        least=first.size,
        last=last.text,
        largest=last.size,
    )


def _coloured(spec: Spec, together: Together, ways: tuple[Way, ...], names: Mapping[str, str]) -> Spec:
    """The chart with the colour of its run for each curve, and a shape and dash for each way of a run."""
    runs = [side.run.info.id for side in together.sides]
    several = len({way.run for way in ways}) > 1
    seen: dict[str, int] = {}
    ranges: dict[str, dict[str, object]] = {}
    for number, way in enumerate(ways):
        turn = seen.get(way.run, 0)
        seen[way.run] = turn + 1
        colour = COLOURS[(runs.index(way.run) if several else number) % len(COLOURS)]
        ranges[names[way.id]] = {
            "color": colour,
            "shape": SHAPES[(number if several else turn) % len(SHAPES)],
            "strokeDash": DASHES[turn % len(DASHES)],
        }
    spec["config"] = {**spec["config"], "legend": {**spec["config"]["legend"], "columns": 2, "labelLimit": 380}}
    # Shared parts would change, too.
    layers = [{**layer, "encoding": copy.deepcopy(layer.get("encoding", {}))} for layer in spec["layer"]]
    for layer in layers:
        for channel, encoding in layer["encoding"].items():
            if channel in {"color", "shape", "strokeDash"} and isinstance(encoding, dict) and "scale" in encoding:
                scale = encoding["scale"]
                scale["range"] = [ranges[name][channel] for name in scale["domain"]]
    return {**spec, "layer": layers}


def _pieces(together: Together, way: Way, name: str, factor: float) -> list[Spec]:
    """The law of a curve between the sizes of each of its pieces, as the curve counts."""
    side = together.by_run[way.run]
    model = next((each for each in side.analysis.models if each.id == way.law), None) if way.law else None
    rows: list[Spec] = []
    number, first = 1, float(way.sizes[0])
    while model and f"start {number}" in model.parameters:
        broken = model.parameters.get(f"break {number}")
        last = broken[1] if broken else float(way.sizes[-1])
        rows += [
            {"x": size, "value": factor * value, "series": name, "piece": f"{way.id} {number}"}
            for size in _sizes(max(first, 1.0), last)
            if (value := _value(model, number, size, way))
        ]
        first, number = (broken[2] if broken else last), number + 1
    return rows


def _sizes(first: float, last: float) -> list[float]:
    steps = max(1, round(_FINE * math.log2(max(last / first, 1.0))))
    return [first * (last / first) ** (at / steps) for at in range(steps + 1)]


def _value(model: Model, number: int, size: float, way: Way) -> float:
    seconds = model.parameters[f"start {number}"][0] + model.parameters[f"per byte {number}"][0] * size
    if way.unit == "s":
        return seconds
    return size / seconds if seconds > 0 else 0.0


def _strokes(pieces: list[Spec], spec: Spec) -> Spec:
    line = next(layer["encoding"] for layer in spec["layer"] if layer["mark"]["type"] == "line")
    kept = {channel: line[channel] for channel in ("x", "y", "color")}
    return {
        "data": {"values": pieces},
        "mark": {"type": "line", "strokeWidth": 7, "opacity": 0.2, "strokeCap": "round"},
        "encoding": {**kept, "detail": {"field": "piece"}},
    }


def ratio_curves(together: Together, title: str, anchor: str, besides: tuple[Beside, ...]) -> Figure | None:
    """Ratios by size; whiskers are intervals where both sides have samples."""
    points = []
    for beside in besides:
        for point in beside.points:
            each = point.comparison
            if not point.bytes:
                continue
            sure = each.confidence is not None
            ends = f" [{each.lo:.3g}, {each.hi:.3g}]" if sure else ""
            basis = (
                text("95 % interval, {verdict}", verdict=known(each.verdict))
                if sure
                else text("no interval, nothing is claimed")
            )
            points.append(
                CurvePoint(
                    float(point.bytes), pair_name(together, beside), "", each.ratio,
                    each.lo if sure else each.ratio, each.hi if sure else each.ratio,
                    f"{each.ratio:.3g}{ends}", basis, words.param(point.bytes, "B"),
                )
            )  # fmt: skip
    if len({point.x for point in points}) <= 1:
        return None
    names = list(dict.fromkeys(point.curve for point in points))
    spec = curve(points, (text("size of a message"), text("ratio to the base")))
    reached = [1.0, *(point.lo for point in points), *(point.hi for point in points)]
    y = _y(spec)
    low, high = y["scale"]["domain"]  # of all layers, which share it
    y["scale"]["domain"] = [min(low, _BELOW), max(high, 1 / _BELOW)]
    y["axis"]["values"] = log_ticks(min(reached), max(reached), _DECADES)
    one = {
        "data": {"values": [{"one": 1}]},
        "mark": {"type": "rule", "color": MUTED, "strokeDash": [4, 3]},
        "encoding": {"y": {**y, "field": "one"}},
    }
    higher = together.ways[besides[0].a].better == "higher"
    caption = text(
        "{title}: ratio {names} by size, both axes logarithmic; at 1 (dashed) both are equal, above it the first "
        "one is better, and where a curve passes it one overtakes the other. Whiskers are 95 % intervals; figures "
        "without samples have none, and nothing is claimed of them."
        if higher
        else "{title}: ratio {names} by size, both axes logarithmic; at 1 (dashed) both are equal, below it the "
        "first one is better, and where a curve passes it one overtakes the other. Whiskers are 95 % "
        "intervals; figures without samples have none, and nothing is claimed of them.",
        title=title,
        names=words.listed(names),
    )
    curves = choose.grouped(points, lambda point: point.curve)
    result = joined("; ", [_told(name, [*members]) for name, members in curves.items()])
    spec = {**spec, "layer": [one, *spec["layer"]], "height": 240}
    return Figure(anchor, caption, result, spec)


def _y(spec: Spec) -> Spec:
    line: Spec = next(layer["encoding"] for layer in spec["layer"] if layer["mark"]["type"] == "line")
    found: Spec = line["y"]
    return found
