"""Tables of runs beside each other: figures at common sizes, ratios, laws, what else they share."""

from assay.model.imported import UNSTATED
from assay.model.result import Estimate, Model
from assay.model.several import RUN, Beside, Way
from assay.model.text import joined, text
from assay.report import choose, messages, words
from assay.report.section import Table, headings
from assay.report.several.statements import near, roughly
from assay.report.several.together import Together
from assay.report.vocabulary import known

#: Curves of a figure and of its table: more are split by place.
MOST = 6
#: Sizes that a reader compares; the largest is always there.
_TELLING = (0, 1, 8, 64, 256, 2**10, 2**11, 2**12, 2**13, 2**14, 2**16, 2**18, 2**20, 2**22)
_STARTS = ("latency", "gap")
_TOLD = (("rate", "B/s"), ("half-rate size", "B"), ("half-rate size measured", "B"), ("saturation", "B"))


def groups(together: Together) -> dict[tuple[str, str], tuple[Way, ...]]:
    """(pattern, where) -> curves that are drawn together: between nodes or inside one, by place where many."""
    found: dict[tuple[str, str], tuple[Way, ...]] = {}
    for (pattern, reach), ways in choose.grouped(
        together.several.ways, lambda way: (way.pattern, _reach(way))
    ).items():
        if len(ways) <= MOST:
            found[pattern, reach] = ways
            continue
        for place, few in choose.grouped(ways, lambda way: way.place).items():
            shown = together.place(few[0])
            for number, start in enumerate(range(0, len(few), MOST)):
                part = text("part {number}", number=number + 1) if len(few) > MOST and place else ""
                told = text("between {partners}", partners=shown) if place else reach
                found[pattern, joined(", ", (told, part)) if part else told] = few[start : start + MOST]
    return found


def _reach(way: Way) -> str:
    if way.place == UNSTATED:
        return text("at a place that is not stated")
    return text("between nodes") if way.between else text("inside a node")


def title(pattern: str, reach: str) -> str:
    """What the curves of a pattern count, and where."""
    return joined(", ", (messages.COUNTED.get(pattern, pattern.capitalize()), reach))


def side_by_side(together: Together, title: str, ways: tuple[Way, ...]) -> Table:
    """A row for each telling size that two curves or more have, a column for each curve."""
    names = together.series(ways)
    counts = choose.grouped((size for way in ways for size in way.sizes), lambda size: size)
    common = sorted(size for size, of in counts.items() if len(of) > 1 or len(ways) == 1)
    sizes = [size for size in common if size in _TELLING or size == common[-1]] or common
    sizes = sizes or sorted(counts)
    rows = tuple(
        (
            words.param(size, "B"),
            *(_cell(together.at(way, size)) if size in way.sizes else text("not stated") for way in ways),
        )
        for size in sizes
    )
    columns = (text("Message"), *(names[way.id] for way in ways))
    return Table(text("{title}, side by side", title=title), columns, rows, frozenset(range(1, len(columns))))


def _cell(estimate: Estimate) -> str:
    figure = words.shown(estimate)
    return figure.short if figure else ""


def ratios(together: Together, title: str, besides: tuple[Beside, ...]) -> Table:
    """A row for each telling size, a column for each pair: the ratio, with its interval where there is one."""
    sizes = sorted({point.bytes for beside in besides for point in beside.points})
    chosen = [size for size in sizes if size in _TELLING or size == sizes[-1]]
    at = [{point.bytes: point.comparison for point in beside.points} for beside in besides]
    rows = []
    for size in chosen:
        cells: list[str] = []
        for points in at:
            each = points.get(size)
            if each is None:
                cells.append("")
            elif each.confidence:
                ends = f"{each.ratio:.3g} [{each.lo:.3g}, {each.hi:.3g}]"
                cells.append(text("{ratio} {verdict}", ratio=ends, verdict=known(each.verdict)))
            else:
                cells.append(
                    f"{each.ratio:.3g}" + (f" ({each.lo:.3g} to {each.hi:.3g})" if each.lo < each.hi else "")
                )
        rows.append((words.param(size, "B"), *cells))
    columns = (text("Message"), *(pair_name(together, beside) for beside in besides))
    caption = text(
        "{title}: ratio to the base. [a, b] is a 95 % interval; bare ratios are of figures without samples",
        title=title,
    )
    return Table(caption, columns, tuple(rows), frozenset(range(1, len(columns))))


def pair_name(together: Together, beside: Beside) -> str:
    """`hpcdiy-gbe / hpcdiy-qdr`."""
    a, b = (together.subject(beside, together.ways[name]) for name in (beside.a, beside.b))
    return text("{a} / {b}", a=a, b=b)


def laws(together: Together) -> tuple[Table, ...]:
    """Latency, endless rate, half-rate size and pieces of each curve that a law was fitted to."""
    models = {(side.run.info.id, model.id): model for side in together.sides for model in side.analysis.models}
    rows, pieces = [], []
    for way in together.several.ways:
        model = models.get((way.run, way.law))
        if model is None or not model.parameters:
            continue
        name = joined(": ", [together.label(way), together.way(way)])
        counted = messages.counted(way.pattern)
        sampled = together.members(way)[0].method != "imported"
        start = next((each for each in _STARTS if each in model.parameters), "")
        told = [_parameter(model, each, unit, sampled=sampled) for each, unit in ((start, "s"), *_TOLD)]
        residual = words.percent(model.residual) if model.residual is not None else ""
        rows.append((name, counted, *told, residual))
        pieces += [(name, counted, *piece) for piece in _pieces(model, way)]
    columns = headings(
        "Curve", "Of", "Start", "Endless rate (r∞)", "Half of it at (n½)", "n½ as measured", "Saturated from",
        "Largest residual",
    )  # fmt: skip
    if not rows:
        return ()
    told_caption = text(
        "The law of each curve, T(s) = a + b s in pieces: start a (latency of an exchange, gap between messages "
        "of a window), rate 1/b of endless messages, the size that gets half of it, where time grows with size"
    )
    return (
        Table(told_caption, columns, tuple(rows), frozenset({2, 3, 4, 5, 6, 7})),
        Table(
            text("The fitted pieces: start and rate of each, and the factor on the time at the break before it"),
            headings("Curve", "Of", "From", "To", "Start", "Rate", "Step"),
            tuple(pieces),
            frozenset({2, 3, 4, 5, 6}),
            short=text("The fitted pieces"),
        ),
    )


def _parameter(model: Model, name: str, unit: str, *, sampled: bool) -> str:
    if name not in model.parameters:
        return text("beyond the sizes measured")
    value, low, high = model.parameters[name]
    if unit == "B":
        ends = f" ({near(low)} to {near(high)})" if sampled and high > low else ""
        return f"{near(value)}{ends}"
    return words.interval(value, (low, high) if sampled else (None, None), unit, "interval").short


def _pieces(model: Model, way: Way) -> list[tuple[str, str, str, str, str]]:
    found = []
    first: float = way.sizes[0]
    number = 1
    while f"start {number}" in model.parameters:
        start, per_byte = (model.parameters[f"{part} {number}"][0] for part in ("start", "per byte"))
        broken = model.parameters.get(f"break {number}")
        last = broken[1] if broken else way.sizes[-1]
        rate = words.quantity(1 / per_byte, "B/s") if per_byte > 0 else text("no cost by size")
        step = model.parameters.get(f"step {number - 1}")
        told = f"×{step[0]:.2f}" if step else ""  # noqa: RUF001 (a factor)
        sizes = (words.param(round(first), "B"), words.param(round(last), "B"))
        found.append((*sizes, roughly(start) if start > 0 else "0", rate, told))
        first = broken[2] if broken else last
        number += 1
    return found


def alike(together: Together) -> tuple[Table, ...]:
    """Figures on no curve that two sides or more have."""
    sides = together.sides
    rows = []
    for each in together.several.alike:
        known = {run: together.estimate(run, name) for run, name in each.of.items()}
        first = next(iter(known.values()))
        cells = [_cell(known[side.run.info.id]) if side.run.info.id in known else "" for side in sides]
        rows.append((_what(first), *cells))
    columns = (text("Figure"), *(side.label for side in sides))
    caption = text("Other figures that more than one has")
    return (Table(caption, columns, tuple(rows), frozenset(range(1, len(columns)))),) if rows else ()


def _what(estimate: Estimate) -> str:
    settings = [words.params(estimate.params, choose.units(estimate.benchmark))]
    levels = [f"{name} {level}" for name, level in estimate.factors.items()]
    name = estimate.benchmark if ":" in estimate.benchmark else f"{estimate.benchmark} {estimate.kernel}"
    return joined(", ", [f"{name} {estimate.metric}", words.placed(estimate), *settings, *levels])


def against_base(together: Together, ways: tuple[Way, ...]) -> tuple[Beside, ...]:
    """Pairs among these curves: with the first run where there are several, else all."""
    names = {way.id for way in ways}
    inside = [each for each in together.several.besides if {each.a, each.b} <= names]
    base = next((each for each in together.several.runs if any(way.run == each for way in ways)), "")
    of_runs = [each for each in inside if each.differ == RUN and together.ways[each.b].run == base]
    return tuple(of_runs or inside)[:MOST]
