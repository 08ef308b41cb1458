"""What each node gets with each other node: pairs alone, and all pairs of a round at once."""

from assay.model.result import Analysis, Point
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import choose, figures, fitted, words
from assay.report.charts.heatmap import Cell, heatmap
from assay.report.fitted import Fitted
from assay.report.section import Figure, Section, Table, headings
from assay.report.vocabulary import known

order = 67
claims = frozenset({"pairs"})

LAW = "node-pairs"
#: Fewer ranks make no matrix.
_MATRIX = 3

_WHY = text(
    "A program on many nodes waits for the slowest way between two of them. Every pair was measured once: a node, "
    "a cable or a switch that is slower than its like stands out."
)


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where no pair was planned."""
    estimates = choose.headline_metric(choose.of_benchmark(analysis, "pairs"))
    if not estimates:
        return None
    found = fitted.fitted(analysis, LAW)
    return Section(
        id="node-pairs",
        title=text("Every pair of nodes"),
        meaning=(joined(" ", (_WHY, _meaning(found))),)
        if found
        else (joined(" ", (_WHY, text("No pair could be measured."))),),
        figures=tuple(
            _figure(each, found, number) for number, each in enumerate(found) if len(_ends(each)) >= _MATRIX
        ),
        tables=tables(run, analysis),
        estimates=estimates,
        benchmarks=claims,
    )


def tables(_run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """Of each pattern and schedule the median pair and the two ends, with the pairs that they are."""
    found = fitted.fitted(analysis, LAW)
    names = fitted.labels(found)
    rows = []
    for each in found:
        unit = each.estimates[0].unit
        ordered = sorted(each.model.points, key=lambda point: point.value[0])
        ends = (
            text("{value} ({basis})", value=words.quantity(point.value[0], unit), basis=_pair(point))
            for point in (ordered[0], ordered[-1])
        )
        middle = words.quantity(each.model.parameters["all pairs"][0], unit)
        rows.append((_name(each, names), f"{len(ordered):,}", middle, *ends))
    columns = headings("What", "Pairs", "Median", "Least pair", "Largest pair")
    return (Table(text("Every pair: medians of pairs"), columns, tuple(rows), frozenset({1, 2})),) if rows else ()


def _name(each: Fitted, names: dict[str, str]) -> str:
    return names[each.model.id] or known(each.estimates[0].metric)


def _pair(point: Point) -> str:
    return text("{a} with {b}", a=str(point.at["a"]), b=str(point.at["b"]))


def _ends(each: Fitted) -> list[str]:
    return list(dict.fromkeys(str(point.at[end]) for end in ("a", "b") for point in each.model.points))


def _figure(each: Fitted, found: tuple[Fitted, ...], number: int) -> Figure:
    factor, unit = figures.scaled(each.estimates)
    own = each.estimates[0]
    cells = [
        _cell(point, (str(point.at[row]), str(point.at[column])), (factor, unit), each.basis)
        for point in each.model.points
        for row, column in (("a", "b"), ("b", "a"))
    ]
    name = _name(each, fitted.labels(found))
    caption = text(
        "{metric} between each two nodes in {unit} ({name}). Each pair was measured once and stands on both sides "
        "of the diagonal. Dark is slow. Below each figure stands its ratio to the median.",
        metric=text("Latency") if own.metric == "latency" else text("Bandwidth"),
        unit=unit,
        name=name,
    )
    title = text("{title} ({unit})", title=known(own.metric), unit=unit)
    spec = heatmap(cells, (text("node"), text("node"), title), own.better, sorted(_ends(each), key=_order))
    return Figure(f"figure-node-pairs-{number}", caption, _meaning((each,)), spec)


def _order(name: str) -> tuple[int, str]:
    """n2 stands before n10."""
    return len(name), name


def _cell(point: Point, at: tuple[str, str], scale: tuple[float, str], basis: str) -> Cell:
    factor, unit = scale
    value, low, high = (factor * each for each in point.value)
    digits = words.decimals(value)
    ratio = f"×{point.ratio:.2f}" if point.ratio is not None else ""  # noqa: RUF001 (a factor)
    ends = text("{low} to {high}", low=f"{low:.{digits}f}", high=f"{high:.{digits}f} {unit}")
    told, turn = joined(", ", (ends, basis)), text("round {number}", number=str(point.at["round"]))
    return Cell(*at, value, f"{value:.{digits}f}", ratio, told, note=turn)


def _meaning(found: tuple[Fitted, ...]) -> str:
    names = fitted.labels(found)
    told = []
    for each in found:
        unit = each.estimates[0].unit
        middle, low, high = (words.quantity(one, unit) for one in each.model.parameters["all pairs"])
        told.append(
            text(
                "{name}: the median pair has {middle}, the pairs lie from {low} to {high}",
                name=_name(each, names),
                middle=middle,
                low=low,
                high=high,
            )
        )
    return text("{sentence}.", sentence=joined("; ", told)) if told else ""
