"""Charts of the curves of several runs: a colour for each run, a shape and a dash for each of its curves."""

import math
from collections.abc import Mapping, Sequence

from assay.compare.phrases import axis_title, unit, value
from assay.compare.records import Curve, CurvePair, MessageCurve
from assay.compare.sides import Sides
from assay.compare.tables import ends_of, pair_name
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, messages, selection, verdicts
from assay.report.charts.curve import CurvePoint, curve
from assay.report.charts.theme import COLOURS, DASHES, MUTED, SHAPES, Spec, mark, ratio_ticks
from assay.report.section import Figure
from assay.report.vocabulary import known

#: Points of a fitted piece between two sizes a factor of two apart.
_FINE = 4
#: If there are more values, only powers of two have a tick.
_TICKS = 10
#: A chart of ratios shows the line of equal speeds, and at least this ratio below it.
_BELOW = 0.9


def overlay(sides: Sides, title: str, anchor: str, curves: tuple[Curve, ...]) -> Figure | None:
    """Return the figures by value, fitted pieces as broad strokes below; None if there is a single value."""
    names = sides.series(curves)
    estimates = [e for each in curves for e in sides.members(each)]
    sampled = [e for e in estimates if e.basis != "imported"]
    factor, prefixed = figures.scaled_middle(estimates)
    points = [
        CurvePoint(
            x=float(at),
            curve=names[each.id],
            state="",
            size=value(each, at),
            **figures.ends(estimate, factor, positive=True),
        )
        for each in curves
        for at, estimate in zip(each.at, sides.members(each), strict=True)
        if at and estimate.median
    ]
    if len({point.x for point in points}) <= 1:
        return None
    spec = _curve(points, curves[0], _counted(curves[0], estimates[0]), prefixed)
    _coloured(spec, sides, curves, names)
    strokes = [row for each in curves for row in _pieces(sides, each, names[each.id], factor)]
    if strokes:
        spec = {**spec, "layer": [_strokes(strokes, spec), *spec["layer"]]}
    zero = text("{size} does not fit this axis; the table shows it.", size="0 B")
    caption = joined(
        " ",
        (
            text("{title}; both axes logarithmic, a colour for each system.", title=title),
            figures.whiskers(sampled or estimates),
            text("Imported figures are drawn as printed, without whiskers.")
            if 0 < len(sampled) < len(estimates)
            else "",
            text("Broad lines: fitted pieces of each curve's law; a gap is a break between two pieces.")
            if strokes
            else "",
            zero if any(0 in each.at for each in curves) else "",
        ),
    )
    return Figure(anchor, caption, _in_words(points), spec)


def _counted(first: Curve, estimate: Estimate) -> str:
    if isinstance(first, MessageCurve):
        return messages.COUNTED.get(first.pattern, first.pattern)
    return selection.measure(estimate)


def _curve(points: list[CurvePoint], first: Curve, title: str, prefixed: str) -> Spec:
    spec = curve(points, (axis_title(first), figures.titled(title, prefixed)), sizes=unit(first) == "B")
    if unit(first) != "B":
        for layer in spec["layer"]:
            layer["encoding"]["x"]["axis"] |= {"format": "~r", "values": _whole(points)}
    return spec


def _whole(points: Sequence[CurvePoint]) -> list[float]:
    """Ticks at the values themselves; if there are many, at powers of two."""
    values = sorted({point.x for point in points})
    powers = [
        2.0**power for power in range(math.ceil(math.log2(values[0])), math.floor(math.log2(values[-1])) + 1)
    ]
    return values if len(values) <= _TICKS else powers


def _in_words(points: Sequence[CurvePoint]) -> str:
    """The ends of each curve in words."""
    return joined(
        "; ",
        [
            text(
                "{name}: {first} at {least}, {last} at {largest}",
                name=name,
                first=members[0].text,
                least=members[0].size,
                last=members[-1].text,
                largest=members[-1].size,
            )
            for name, members in selection.grouped(points, lambda point: point.curve).items()
        ],
    )


def _coloured(spec: Spec, sides: Sides, curves: tuple[Curve, ...], names: Mapping[str, str]) -> None:
    """Give each curve the colour of its run, and each curve of a run its own shape and dash."""
    runs = list(sides.by_run)
    several = len({each.run for each in curves}) > 1
    looks: dict[str, dict[str, object]] = {}
    for number, each in enumerate(curves):
        turn = sum(other.run == each.run for other in curves[:number])
        looks[names[each.id]] = {
            "color": COLOURS[(runs.index(each.run) if several else number) % len(COLOURS)],
            "shape": SHAPES[(number if several else turn) % len(SHAPES)],
            "strokeDash": DASHES[turn % len(DASHES)],
        }
    spec["config"]["legend"] |= {"columns": 2, "labelLimit": 380}
    for layer in spec["layer"]:
        for channel in layer["encoding"].keys() & {"color", "shape", "strokeDash"}:
            if scale := layer["encoding"][channel].get("scale"):
                scale["range"] = [looks[name][channel] for name in scale["domain"]]


def _pieces(sides: Sides, each: Curve, name: str, factor: float) -> list[Spec]:
    """The law of a curve of messages, piece by piece, in the unit of the curve."""
    rows: list[Spec] = []
    law = sides.law(each)
    for number, (piece, first, last) in enumerate(ends_of(law, each) if law else ()):
        for size in _sizes(max(first, 1.0), last):
            seconds = piece.start.value + piece.per_byte.value * size
            drawn = seconds if each.unit == "s" else size / seconds if seconds > 0 else 0.0
            if drawn:
                rows.append({"x": size, "value": factor * drawn, "series": name, "piece": f"{each.id} {number}"})
    return rows


def _sizes(first: float, last: float) -> list[float]:
    steps = max(1, round(_FINE * math.log2(max(last / first, 1.0))))
    return [first * (last / first) ** (at / steps) for at in range(steps + 1)]


def _strokes(pieces: list[Spec], spec: Spec) -> Spec:
    line = _line(spec)
    kept = {channel: line[channel] for channel in ("x", "y", "color")}
    stroke = {"strokeWidth": 7, "opacity": 0.2, "strokeCap": "round"}
    return mark("line", stroke, pieces, **kept, detail={"field": "piece"})


def _line(spec: Spec) -> Spec:
    """The encoding of the layer of lines."""
    found: Spec = next(layer["encoding"] for layer in spec["layer"] if layer["mark"]["type"] == "line")
    return found


def ratio_curves(sides: Sides, title: str, anchor: str, pairs: tuple[CurvePair, ...]) -> Figure | None:
    """Return the ratios by value; whiskers are intervals if both sides have samples."""
    first = sides.curves[pairs[0].a]
    points = []
    for pair in pairs:
        for point in pair.points:
            each = verdicts.speeds(point.comparison, first.better)
            if not point.at:
                continue
            sure = each.confidence is not None
            ends = f" {verdicts.plain_ends(each)}" if sure else ""
            basis = (
                text("95 % interval, {verdict}", verdict=known(each.verdict))
                if sure
                else text("no interval, no significance")
            )
            points.append(
                CurvePoint(
                    float(point.at), pair_name(sides, pair), "", each.ratio,
                    each.lo if sure else each.ratio, each.hi if sure else each.ratio,
                    f"{formatting.factor(each.ratio)}{ends}", basis, value(first, point.at),
                )
            )  # fmt: skip
    if len({point.x for point in points}) <= 1:
        return None
    spec = _curve(points, first, text("speed, ratio to the base"), "")
    y = _line(spec)["y"]
    low, high = y["scale"]["domain"]  # of all layers, which share it
    low, high = y["scale"]["domain"] = [min(low, _BELOW), max(high, 1 / _BELOW)]
    y["axis"]["values"] = ratio_ticks(low, high)
    one = mark("rule", {"color": MUTED, "strokeDash": [4, 3]}, [{"one": 1}], y={**y, "field": "one"})
    caption = text(
        "{title}: ratio of speeds {names}, both axes logarithmic. At 1 (dashed) both are equal; above it the "
        "first one is better. Whiskers: 95 % intervals; figures without samples have none.",
        title=title,
        names=formatting.listed(dict.fromkeys(point.curve for point in points)),
    )
    spec = {**spec, "layer": [one, *spec["layer"]], "height": 240}
    return Figure(anchor, caption, _in_words(points), spec)
