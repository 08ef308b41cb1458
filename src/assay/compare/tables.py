"""Tables of runs side by side: figures at common values, ratios, laws, shared figures."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from assay.analyse.messages.curves import BYTES
from assay.analyse.messages.steps import MessageLaw, Piece
from assay.compare.curves import chosen
from assay.compare.phrases import axis_title, figure, near, number, value
from assay.compare.records import RUN, Curve, CurvePair, MessageCurve, SharedLawFigure
from assay.compare.sides import Sides
from assay.compare.yardsticks import CLOCK, MEMORY, PEAK, PRICE
from assay.model.compared import Yardstick
from assay.model.comparison import Comparison
from assay.model.imported import UNSTATED
from assay.model.quantity import Quantity
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import formatting, messages, selection, verdicts
from assay.report.section import Table, headings, trimmed
from assay.report.statements import roughly
from assay.report.vocabulary import known

#: Maximum number of curves in a chart and its table; more are split by place.
MOST = 6
#: Sizes in a table, which also has the largest one; and the maximum number of values of another axis.
_SIZES = frozenset(
    {0, 1, 8, 64, 256, *(2**power for power in (10, 11, 12, 13, 14, 16, 18, 20, 22, 24, 26, 28, 30))}
)
_VALUES = 12
_YARDSTICKS = {
    CLOCK: text("clock"),
    PEAK: text("FMA peak"),
    MEMORY: text("memory rate"),
    PRICE: text("node price"),
}


def groups(sides: Sides) -> dict[str, tuple[Curve, ...]]:
    """Return the curves of each chart, by its title: the quantity, and the place or levels.

    Too many curves for a chart are split by levels or place. Too many runs are split into parts, each with the
    curves of the first run.
    """
    found: dict[str, tuple[Curve, ...]] = {}
    for title, curves in selection.grouped(sides.found.curves, lambda curve: heading(sides, curve)).items():
        for detail, few in _split(sides, curves).items():
            parts = list(_parts(few))
            for at, part in enumerate(parts, 1):
                named = text("part {number}", number=at) if len(parts) > 1 else ""
                found[joined(", ", (title, detail, named))] = part
    return found


def heading(sides: Sides, curve: Curve) -> str:
    """Return the quantity of a curve, and its place or axis."""
    if not isinstance(curve, MessageCurve):
        axis = text("by {axis}", axis=axis_title(curve))
        return joined(", ", (selection.measure(sides.members(curve)[0]), axis))
    reach: str = text("between nodes") if curve.between else text("inside a node")
    if curve.place == UNSTATED:
        reach = text("at an unknown place")
    return joined(", ", (messages.COUNTED.get(curve.pattern, curve.pattern.capitalize()), reach))


def _split(sides: Sides, curves: tuple[Curve, ...]) -> dict[str, tuple[Curve, ...]]:
    """The curves of each chart, by as few words as possible."""
    keys: list[Callable[[Curve], str]] = [
        lambda _: "",
        lambda curve: ", ".join(f"{name} {level}" for name, level in curve.params.items()),
        sides.where,
        sides.place,
    ]
    splits = [selection.grouped(curves, key) for key in keys]
    return next((few for few in splits if max(map(len, few.values())) <= MOST), splits[-1])


def _parts(curves: tuple[Curve, ...]) -> Iterator[tuple[Curve, ...]]:
    if len(curves) <= MOST:
        yield curves
        return
    base = tuple(each for each in curves if each.run == curves[0].run)
    others = curves[len(base) :] if len(base) < MOST else curves
    first, room = (base, MOST - len(base)) if len(base) < MOST else ((), MOST)
    for start in range(0, len(others), room):
        yield (*first, *others[start : start + room])


def side_by_side(sides: Sides, title: str, curves: tuple[Curve, ...]) -> Table:
    """Return a row for each selected value that two curves or more have, a column for each curve."""
    names = sides.series(curves)
    counts = selection.grouped((at for curve in curves for at in curve.at), lambda at: at)
    of_messages = isinstance(curves[0], MessageCurve)
    single, missing = len(curves) == 1 or not of_messages, text("not stated") if of_messages else ""
    common = sorted(at for at, of in counts.items() if len(of) > 1 or single)
    rows = tuple(
        (
            value(curves[0], at),
            *(figure(sides.at(curve, at)) if at in curve.at else missing for curve in curves),
        )
        for at in _selected(curves[0], common) or sorted(counts)
    )
    columns = (_head(curves[0]), *(names[curve.id] for curve in curves))
    return Table(text("{title}, side by side", title=title), columns, rows, frozenset(range(1, len(columns))))


def _head(curve: Curve) -> str:
    return text("Message") if isinstance(curve, MessageCurve) else axis_title(curve)


def _selected(curve: Curve, values: list[int]) -> list[int]:
    """The values of the rows, if there are many."""
    if curve.axis == BYTES:
        return [at for at in values if at in _SIZES or at == values[-1]] or values
    step = -(-len(values) // _VALUES) or 1
    return values[::-step][::-1] if step > 1 else values


def ratios(sides: Sides, title: str, pairs: tuple[CurvePair, ...]) -> Table:
    """Return a row for each selected value, a column for each pair: the ratio with its interval, if any."""
    curve = sides.curves[pairs[0].a]
    values = sorted({point.at for pair in pairs for point in pair.points})
    comparisons = [{point.at: point.comparison for point in pair.points} for pair in pairs]
    rows = [
        (value(curve, at), *(compared(points.get(at), curve.better) for points in comparisons))
        for at in _selected(curve, values)
    ]
    columns = (_head(curve), *(pair_name(sides, pair) for pair in pairs))
    tested = any(point.comparison.confidence for pair in pairs for point in pair.points)
    shown = [points[at] for points in comparisons for at in _selected(curve, values) if at in points]
    ends = text("[a, b] is a 95 % interval; ratios without one have no samples.") if tested else ""
    note = joined(" ", (ends, verdicts.unsure(shown)))
    caption = text("{title}: speed, ratio to the base", title=title)
    return Table(caption, columns, tuple(rows), frozenset(range(1, len(columns))), note)


def compared(found: Comparison | None, better: str) -> str:
    """Return the ratio of speeds, its ends if there are any, and the verdict if there are samples."""
    if found is None:
        return ""
    each = verdicts.speeds(found, better)
    ratio_, ends = formatting.factor(each.ratio), verdicts.plain_ends(each)
    if each.confidence:
        return text("{ratio} {verdict}", ratio=f"{ratio_} {ends}", verdict=known(each.verdict))
    return f"{ratio_} ({ends})" if each.lo < each.hi else ratio_


def pair_name(sides: Sides, pair: CurvePair) -> str:
    """`hpcdiy-gbe / hpcdiy-qdr`."""
    a, b = (sides.subject(pair, sides.curves[name]) for name in (pair.a, pair.b))
    return text("{a} / {b}", a=a, b=b)


def laws(sides: Sides) -> tuple[Table, ...]:
    """Return latency, asymptotic rate, half-rate size and pieces of each curve of messages with a law."""
    rows, pieces = [], []

    def named(curve: MessageCurve) -> str:
        return joined(": ", [sides.label(curve.run), sides.place(curve)])

    for curve in chain.from_iterable(selection.grouped(sides.of_messages.values(), named).values()):
        model = sides.law(curve)
        if model is None:
            continue
        name = named(curve)
        counted = messages.counted(curve.pattern)
        sampled = sides.members(curve)[0].basis != "imported"
        sizes = (model.half_rate_size, model.half_rate_size_measured, model.saturation)
        figures_of = (model.start, model.rate, *sizes)
        shown = [_law_figure(each, sampled=sampled, unfit=model.is_unfit) for each in figures_of]
        residual = formatting.residual(model.residual) if model.residual is not None else ""
        rows.append((name, counted, *shown, residual))
        pieces += [(name, counted, *piece) for piece in _pieces(model, curve)]
    columns = headings(
        "Curve", "Of", "Start", "Asymptotic rate (r∞)", "Half-rate size (n½)", "n½ as measured", "Saturated from",
        "Largest residual",
    )  # fmt: skip
    if not rows:
        return ()
    caption = text(
        "Law of each curve, T(s) = a + b s in pieces: start a (latency of an exchange, gap between messages of "
        "a window), asymptotic rate 1/b, size with half of that rate, size from which the time grows in "
        "proportion"
    )
    return (
        Table(caption, columns, tuple(rows), frozenset({2, 3, 4, 5, 6, 7})),
        Table(
            text("The fitted pieces: start and rate of each, and the factor on the time at the step before it"),
            headings("Curve", "Of", "From", "To", "Start", "Rate", "Step"),
            tuple(pieces),
            frozenset({2, 3, 4, 5, 6}),
            short=text("The fitted pieces"),
        ),
    )


def _law_figure(found: Quantity | None, *, sampled: bool, unfit: bool) -> str:
    if found is None:
        return text("beyond the sizes measured")
    if unfit:
        return formatting.rough(found)
    if found.unit == "B":
        ends = f" ({near(found.lo)} to {near(found.hi)})" if sampled and found.hi > found.lo else ""
        return f"{near(found.value)}{ends}"
    return formatting.interval(found, "interval").short


def ends_of(law: MessageLaw, curve: Curve) -> Iterator[tuple[Piece, float, float]]:
    """Yield the pieces of a law, each with its first and last size."""
    first = float(curve.at[0])
    for piece in law.pieces:
        yield piece, first, piece.end.size.lo if piece.end else float(curve.at[-1])
        first = piece.end.size.hi if piece.end else first


def _pieces(law: MessageLaw, curve: Curve) -> Iterator[tuple[str, ...]]:
    step = ""
    for piece, first, last in ends_of(law, curve):
        start, per_byte = piece.start.value, piece.per_byte.value
        yield (
            *(formatting.param(round(size), "B") for size in (first, last)),
            roughly(start) if start > 0 else "0",
            formatting.quantity(1 / per_byte, "B/s") if per_byte > 0 else text("no cost by size"),
            step,
        )
        step = f"×{piece.end.factor.value:.2f}" if piece.end else ""  # noqa: RUF001 (a factor)


def machines(ratios: Iterable[tuple[str, Yardstick]]) -> tuple[Table, ...]:
    """Return the ratios of each system's machine to that of the base."""
    rows = tuple(
        (
            text("{value} ({basis})", value=_YARDSTICKS[each.name], basis=each.of),
            system,
            *(formatting.quantity(side, each.unit) for side in (each.b, each.a)),
            ratio(each.ratio),
        )
        for system, each in ratios
    )
    table = Table(
        text("Ratios of the machines"),
        headings("What", "System", "Base", "This system", "Ratio"),
        rows,
        frozenset({2, 3, 4}),
    )
    return (trimmed(table, {1}),) if rows else ()


def ratio(value: Quantity) -> str:
    """`×1.52 [1.49, 1.55]`."""  # noqa: RUF002 (a factor)
    ends = f" [{value.lo:.3g}, {value.hi:.3g}]" if value.has_interval else ""
    return f"×{value.value:.3g}{ends}"  # noqa: RUF001 (a factor)


def shared(sides: Sides) -> tuple[Table, ...]:
    """Return the figures on no curve that two sides or more have, with their ratio to the first of them."""
    rows = []
    for each in sides.found.shared:
        found = {run: sides.estimate(run, name) for run, name in each.of}
        base = next(iter(found.values()))
        cells = (
            _compared(found.get(side.run.info.id), each.comparisons.get(side.run.info.id)) for side in sides.sides
        )
        rows.append((named(base), *cells))
    columns = (text("What"), *(side.label for side in sides.sides))
    caption = text("Other figures that several systems have")
    return (Table(caption, columns, tuple(rows), frozenset(range(1, len(columns)))),) if rows else ()


def law_figures(sides: Sides) -> tuple[Table, ...]:
    """Return the figures of laws that several sides have: a row for each place, without ratios."""
    found = []
    for metric, of in selection.grouped(sides.found.law_figures, lambda each: each.metric).items():
        rows = tuple(
            (
                each.benchmark,
                joined(", ", (number(name, str(value)) for name, value in each.at.items())),
                *(_of_problems(sides, side.run.info.id, each) for side in sides.sides),
            )
            for each in of
        )
        columns = (*headings("Benchmark", "Where"), *(side.label for side in sides.sides))
        caption = text(
            "{metric}, side by side. The problem follows each figure; problems can differ",
            metric=known(metric).capitalize(),
        )
        found.append(Table(caption, columns, rows, frozenset()))
    return tuple(found)


def _of_problems(sides: Sides, run: str, shared: SharedLawFigure) -> str:
    """`1.73 (n 10,000)`: each figure of a run with its problem, and its placement where problems are equal."""
    own = [(sides.estimate(run, name), found) for of, name, found in shared.of if of == run]
    problems = [_problem(e, shared) for e, _ in own]
    lines = []
    for (e, found), problem in zip(own, problems, strict=True):
        shown = formatting.shown(e) if e.basis == "imported" else formatting.interval(found, "")
        place = formatting.placed(e) if problems.count(problem) > 1 else ""
        basis = joined(", ", (problem, place))
        lines.append(text("{value} ({basis})", value=shown.short, basis=basis) if basis else shown.short)
    return joined("; ", lines)


def _problem(estimate: Estimate, shared: SharedLawFigure) -> str:
    params = {axis: value for axis, value in chosen(estimate).items() if axis not in shared.at}
    return joined(", ", (formatting.params(params, estimate.declared.units), *estimate.factors.values()))


def _compared(estimate: Estimate | None, comparison: Comparison | None) -> str:
    """The figure, and its speed as a ratio to that of the first system."""
    if estimate is None:
        return ""
    return joined(", ", (figure(estimate), compared(comparison, estimate.better)))


def named(estimate: Estimate) -> str:
    """Return the name of a figure on no curve."""
    chosen = {name: value for name, value in estimate.params.items() if not _is_usual(estimate, name)}
    settings = [formatting.params(chosen, estimate.declared.units)]
    levels = [f"{name} {level}" for name, level in estimate.factors.items()]
    name = f"{estimate.benchmark} {estimate.kernel} {estimate.metric}"
    if not estimate.declared.is_known:  # it is named after its metric
        name = estimate.benchmark
    return joined(", ", [name, formatting.placed(estimate), *settings, *levels])


def _is_usual(estimate: Estimate, name: str) -> bool:
    return estimate.declared.is_known and (name in estimate.declared.derived or selection.is_usual(estimate, name))


def against_base(sides: Sides, curves: tuple[Curve, ...]) -> tuple[CurvePair, ...]:
    """Return the pairs among these curves: with the first run if there are several, else all."""
    names = {curve.id for curve in curves}
    inside = [each for each in sides.found.pairs if {each.a, each.b} <= names]
    base = next((each for each in sides.found.runs if any(curve.run == each for curve in curves)), "")
    of_runs = [each for each in inside if each.differ == RUN and sides.curves[each.b].run == base]
    return tuple(of_runs or inside)[:MOST]
