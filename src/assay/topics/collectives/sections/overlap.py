"""How much of a collective operation is hidden behind computing."""

from collections.abc import Iterable

from assay.analyse.overlap import Overlap
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, messages, operations, selection
from assay.report.charts.intervals import Point, intervals
from assay.report.declared import Declared, Listing, Scene
from assay.report.fitted import Fitted
from assay.report.section import Figure, headings


def _rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    """List the hidden share of each operation, size and number of calls, and the three times."""
    for each in scene.found:
        times = (formatting.shown(estimate).short for estimate in each.estimates)
        launches = min(estimate.launches for estimate in each.estimates)
        yield _row(each), _calls(each.estimates[0]), _shown(each).short, *times, f"{launches}"


def _shown(found: Fitted[Overlap]) -> formatting.Shown:
    """Return the share, which may be below 0, with three digits."""
    value, low, high = map(formatting.plain, found.model.hidden)
    return formatting.Shown(value, low, high, "", found.basis, found.sure)


def _row(found: Fitted[Overlap]) -> str:
    """Return `allreduce 8 KiB, 64 ranks`."""
    return joined(", ", (_what(found), formatting.count(found.estimates[0].placement.ranks, "rank", "ranks")))


def _what(found: Fitted[Overlap]) -> str:
    """Return `allreduce 8 KiB`, with the levels and state that differ from others."""
    estimate = found.estimates[0]
    name = f"{operations.operation(estimate)} {messages.at(estimate)}"
    return joined(", ", [name, selection.levels(estimate, estimate.factors), found.state])


def _calls(estimate: Estimate) -> str:
    tests = int(estimate.params.get("tests", 0))
    return (
        formatting.count(tests, "call of MPI_Test", "calls of MPI_Test") if tests else text("no call of MPI_Test")
    )


def _charts(scene: Scene) -> Iterable[Figure]:
    found = scene.found
    if not found:
        return
    several = len({each.estimates[0].placement.ranks for each in found}) > 1
    points = [_point(each, _row(each) if several else _what(each)) for each in found]
    caption = text(
        "Share of an operation that overlaps with computing, by operation and number of MPI calls during "
        "computing. Whiskers are {kinds}. The vertical line means full overlap.",
        kinds=formatting.listed(dict.fromkeys(each.basis for each in found)),
    )
    result = figures.alternative_text((point.row, point.series, point.text) for point in points)
    yield Figure("figure-overlap", caption, result, intervals(points, text("share that is hidden")))


def _point(found: Fitted[Overlap], row: str) -> Point:
    value, low, high = found.model.hidden
    shown = _shown(found)
    series = _calls(found.estimates[0])
    return Point(row, series, value, low, high, 1.0, shown.short, shown.value, found.basis, text("all of it"))


declared = Declared(
    order=61,
    id="overlap",
    benchmark="overlap",
    introduction=text(
        "A nonblocking operation can proceed while the program computes. The hidden share is (operation alone + "
        "computing alone - both at once) / (the shorter of the two): 1 means full overlap, 0 means none, and a "
        "negative value means that they slow each other down. Many MPIs proceed only while the program calls "
        "them: calls of MPI_Test show this."
    ),
    law=Overlap,
    select=lambda analysis, _headline: selection.of_benchmark(analysis, "overlap"),
    charts=_charts,
    shared_tables=(
        Listing(
            text("Share of an operation that overlaps with computing"),
            headings(
                "Operation", "While computing", "Hidden", "Operation alone", "Computing alone", "Both at once", "n"
            ),
            _rows,
            {2, 3, 4, 5, 6},
        ),
    ),
)
