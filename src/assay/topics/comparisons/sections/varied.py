"""What was varied on purpose: paired ratios, their verdicts, and the resolution of the machine."""

from assay.analyse.comparisons import PROGRAM
from assay.model.comparison import Comparison
from assay.model.result import Analysis, Estimate
from assay.model.role_words import usual_axes
from assay.model.text import Text, joined, text
from assay.report import figures, formatting, selection, verdicts
from assay.report.charts.intervals import Point, intervals
from assay.report.declared import Declared, Scene
from assay.report.section import Figure, Table, headings
from assay.report.statements import Difference, Named, difference

#: Most rows of a figure; the table has all of them.
_ROWS = 36
#: Axes that are always named, because they say what was measured.
_ALWAYS = set(usual_axes("operation-name", "message-pattern"))

_WHY = text(
    "Levels were measured side by side in the same blocks, in random order, so a drift of the machine affects "
    "all equally. Ratios are of speeds: above 1 the level is faster than the base, also where times were "
    "measured. A verdict uses the interval, never the point. “Inconclusive” means that the interval is too wide, "
    "or that such a difference can be chance among so many comparisons."
)


def _charts(scene: Scene) -> tuple[Figure, ...]:
    known = scene.cached(_known)
    factors = selection.grouped(scene.cached(_varied), lambda each: each.differ)
    return tuple(
        _figure(factor, members, known)
        for factor, members in factors.items()
        if any(each.a in known for each in members)
    )


def _known(scene: Scene) -> dict[str, Estimate]:
    return {e.id: e for e in scene.analysis.estimates}


def _curve(each: Comparison, known: dict[str, Estimate]) -> str:
    """Return the name of the curve of a comparison; empty where it has none."""
    axis = known[each.a].declared.swept
    return _what(each, known, axis) if axis in known[each.a].params else ""


def _varied(scene: Scene) -> tuple[Comparison, ...]:
    """Return what was varied on purpose, as ratios of speeds; of several nodes that of the median node."""
    shown = {e.id for e in selection.middle(scene.analysis.estimates)}
    known = scene.cached(_known)
    return tuple(
        verdicts.speeds(c, known[c.a].better)
        for c in scene.analysis.comparisons
        if c.varied and c.differ != PROGRAM and not c.is_control and {c.a, c.b} <= shown
    )


def _what(each: Comparison, known: dict[str, Estimate], but: str = "", *, whole: bool = False) -> str:
    """Return the kernel and its place, without the varied word and without the axis `but`."""
    return joined(", ", _parts(each, known, but, whole=whole))


def _parts(each: Comparison, known: dict[str, Estimate], but: str = "", *, whole: bool = False) -> list[str]:
    """The same in parts; the whole has also the sizes that have no default."""
    a = known[each.a]
    units = a.declared.units
    settings = [
        formatting.setting(name, value, units.get(name, ""))
        for name, value in a.params.items()
        if name not in {each.differ, but}
        and (name in _ALWAYS or not selection.is_usual(a, name) or (whole and name not in a.declared.defaults))
    ]
    where = a.placement.label if each.differ == "memory" else formatting.placed(a)
    state = selection.state(a) if each.state else ""
    kernel = a.kernel if a.kernel == a.benchmark else f"{a.benchmark} {a.kernel}"
    return [part for part in (kernel, where, *settings, state) if part]


def _figure(factor: str, members: tuple[Comparison, ...], known: dict[str, Estimate]) -> Figure:
    shown = members
    if len(members) > _ROWS:
        chosen = tuple(each for each in members if selection.headline_kernel([known[each.a]]))
        shown = (tuple(each for each in chosen if not _curve(each, known)) or chosen or members)[:_ROWS]
    parts = [_parts(each, known) for each in shown]
    common = set[str]() if len(shown) == 1 else set.intersection(*map(set, parts))
    rows = [
        _point(each, joined(", ", [part for part in own if part not in common] or own))
        for each, own in zip(shown, parts, strict=True)
    ]
    base = formatting.listed(f"“{name}”" for name in dict.fromkeys(each.base for each in members))
    caption = (
        text(
            "Speed of each level of “{factor}”, ratio to {base}, paired within blocks, with its interval or "
            "range, logarithmic: right is faster. The grey band counts as no difference, up to {margin} on "
            "each side: 1 %, or the A-against-A difference of this machine if it is larger.",
            factor=factor,
            base=base,
            margin=formatting.percent(max(each.margin for each in shown)),
        ),
        text("All rows: {what}.", what=joined(", ", [part for part in parts[0] if part in common]))
        if common
        else "",
        text(
            "The chart shows {some} of {count} comparisons; the table shows all.",
            some=len(shown),
            count=len(members),
        )
        if len(shown) < len(members)
        else "",
    )
    result = figures.alternative_text((row.row, row.series, row.text) for row in rows)
    anchor = f"figure-compare-{factor}".replace("_", "-").replace(" ", "-")
    spec = intervals(rows, text("speed, ratio to {base}", base=base), text("no difference"), 1.0)
    return Figure(anchor, joined(" ", caption), result, spec)


def _point(each: Comparison, row: str) -> Point:
    """Return the mark of a comparison in its row, with the band of no difference."""
    ratio, verdict = formatting.factor(each.ratio), verdicts.word(each)
    band = 1 / (1 + each.margin), 1 + each.margin
    return Point(
        row=row,
        series=each.level,
        value=each.ratio,
        lo=each.lo,
        hi=each.hi,
        limit=None,
        text=text(
            "{ratio} {ends}, {verdict}" if each.confidence else "{ratio} ({ends}), {verdict}",
            ratio=ratio,
            ends=verdicts.plain_ends(each),
            verdict=verdict,
        ),
        short=text("{ratio} {verdict}", ratio=ratio, verdict=verdict),
        basis=verdicts.basis(each),
        limit_text=formatting.ends(*band),
        band=band,
    )


def _tables(scene: Scene) -> tuple[Table, ...]:
    known = scene.cached(_known)
    members = scene.cached(_varied)
    names = [(_what(each, known), each.level, each.base) for each in members]
    rows = [
        (
            _what(each, known, whole=names.count(name) > 1),
            text("{a} against {b}", a=each.level, b=each.base),
            formatting.factor(each.ratio),
            verdicts.plain_ends(each),
            verdicts.basis(each),
            verdicts.word(each),
            formatting.percent(each.margin),
            text("none") if each.detectable is None else formatting.percent(each.detectable),
            "" if each.adjusted_p is None else f"{each.adjusted_p:.2g}",
        )
        for each, name in zip(members, names, strict=True)
    ]
    columns = headings(
        "What", "Levels", "Ratio", "Interval", "Basis", "Verdict", "Margin", "Detectable", "Adjusted p"
    )
    caption = text(
        "Comparisons: ratio of speeds, of medians paired within blocks (Hodges-Lehmann), the margin of practical "
        "equivalence, the smallest detectable difference (power 80 %), p adjusted in its family (Westfall and "
        "Young)"
    )
    numeric = frozenset({2, 3, 6, 7, 8})
    return (Table(caption, columns, tuple(rows), numeric, short=text("Comparisons")), *_controls(scene.analysis))


def _controls(analysis: Analysis) -> tuple[Table, ...]:
    """Make the table of A against A, if it was measured."""
    shown = {c.b: c.resolution for c in analysis.comparisons if c.varied and c.resolution is not None}
    rows = [
        (
            each.b,
            formatting.factor(each.ratio),
            verdicts.plain_ends(each),
            verdicts.basis(each),
            formatting.percent(shown[each.b]) if each.b in shown else "",
        )
        for each in analysis.comparisons
        if each.is_control
    ]
    columns = headings("What", "Ratio", "Interval", "Basis", "Resolution")
    caption = text(
        "A against A: the first level measured twice in each block, which shows the resolution of this machine"
    )
    return (Table(caption, columns, tuple(rows), frozenset({1, 2, 4}), short=text("A against A")),) if rows else ()


def largest(scene: Scene) -> Difference | None:
    """Return the statement on the largest certain difference, else on the largest seen one; None without any."""
    known, shown = scene.cached(_known), {each.id for each in scene.cached(_varied)}
    of = (each for each in scene.analysis.comparisons if each.id in shown)
    found = [_said(each, known) for each in of]
    sure = [each for each in found if each.relation == "more"] or [
        each for each in found if each.relation == "open"
    ]
    return max(sure, key=lambda each: each.ratio.value, default=None)


def _said(each: Comparison, known: dict[str, Estimate]) -> Difference:
    a, b = (Named(f"{each.differ} {level}", known[e]) for level, e in ((each.level, each.a), (each.base, each.b)))
    return difference(each, a, b, _what(each, known), of_speeds=True)


def _largest(most: Difference) -> Text:
    if most.relation == "more":
        return text("The largest certain difference: {difference}", difference=most.text)
    return text("The largest difference that was seen: {difference}", difference=most.text)


def _meaning(scene: Scene) -> str:
    varied, most = scene.cached(_varied), largest(scene)
    compared = formatting.count(len(varied), "comparison", "comparisons")
    return joined(
        " ",
        (
            text("{comparisons}: {verdicts}.", comparisons=compared, verdicts=verdicts.counted(varied)),
            _largest(most) if most else "",
            verdicts.unsure(varied),
        ),
    )


declared = Declared(
    order=7,
    id="comparisons",
    title=text("What was varied"),
    introduction=_WHY,
    applies=lambda scene: scene.cached(_varied),
    sentences=lambda scene: (_meaning(scene), verdicts.resolution(scene.analysis.comparisons)),
    charts=_charts,
    page_tables=(_tables,),
)
