"""Collective operations among all ranks, and how much of them is hidden behind computing."""

import dataclasses

from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import choose, figures, fitted, messages, operations, words
from assay.report.charts.intervals import Point, intervals
from assay.report.fitted import Fitted
from assay.report.section import Figure, Section, Table, headings

order = 64
claims = frozenset({"collective", "overlap"})

LAW = "overlap"
_TESTS = "tests"
_TITLE = text("Share of an operation that is hidden behind computing")

_WHY = text(
    "A program that computes together waits for its slowest rank, so that a repetition lasts as long as that one; "
    "the mean over the ranks stands beside it."
)
_HIDDEN = text(
    "An operation that is only begun can go on while the program computes. Hidden is (the operation alone + "
    "computing alone - both begun at once) over the shorter of the two: 1 where nothing of it is waited for, 0 "
    "where one simply follows the other, less where they hinder each other. Many MPIs go on only while the "
    "program calls them: calls of MPI_Test show that."
)


def section(_run: Run, analysis: Analysis) -> Section | None:
    """The section, None where none were planned."""
    drawn = operations.section("collective", analysis, _WHY)
    beside = choose.of_benchmark(analysis, LAW)
    if not beside:
        return drawn
    found = fitted.fitted(analysis, LAW)
    drawn = drawn or Section(id="collective", title=choose.title(LAW), meaning=())
    return dataclasses.replace(
        drawn,
        meaning=(*drawn.meaning, joined(" ", (_HIDDEN, _meaning(found)))),
        figures=(*drawn.figures, *([_figure(found)] if found else [])),
        tables=(*drawn.tables, *_tables(found)),
        estimates=(*drawn.estimates, *beside),
        benchmarks=claims,
    )


def tables(_run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """Each operation with a small and the largest message, and what of it is hidden."""
    return (*operations.tables("collective", analysis), *_tables(fitted.fitted(analysis, LAW)))


def _tables(found: tuple[Fitted, ...]) -> tuple[Table, ...]:
    """A row for each operation, size and number of calls: what is hidden, and the three times."""
    rows = tuple((_row(each), _calls(each.estimates[0]), *_figures(each)) for each in found)
    columns = headings(
        "Operation", "While computing", "Hidden", "Operation alone", "Computing alone", "Both at once", "n"
    )
    return (Table(_TITLE, columns, rows, frozenset(range(2, len(columns)))),) if rows else ()


def _figures(found: Fitted) -> tuple[str, ...]:
    times = (figure.short if (figure := words.shown(each)) else "" for each in found.estimates)
    launches = min(each.launches for each in found.estimates)
    return (_shown(found).short, *times, f"{launches}")


def _shown(found: Fitted) -> words.Shown:
    """The share, which may be below 0, to three places."""
    value, low, high = map(words.plain, found.model.parameters["hidden"])
    return words.Shown(value, low, high, "", found.basis)


def _row(found: Fitted) -> str:
    """`allreduce 8 KiB, 64 ranks`."""
    return joined(", ", (_what(found), words.count(_ranks(found), "rank", "ranks")))


def _what(found: Fitted) -> str:
    """`allreduce 8 KiB`, with what else tells it from others."""
    estimate = found.estimates[0]
    name = f"{operations.operation(estimate)} {messages.at(estimate)}"
    return joined(", ", [name, choose.levels(estimate, estimate.factors), found.state])


def _ranks(found: Fitted) -> int:
    return sum(map(len, found.estimates[0].placement.cpus))


def _calls(estimate: Estimate) -> str:
    tests = int(estimate.params.get(_TESTS, 0))
    return words.count(tests, "call of MPI_Test", "calls of MPI_Test") if tests else text("no call of MPI_Test")


def _figure(found: tuple[Fitted, ...]) -> Figure:
    several = len({_ranks(each) for each in found}) > 1
    points = [_point(each, _row(each) if several else _what(each)) for each in found]
    made = dict.fromkeys(each.basis for each in found)
    caption = text(
        "Share of an operation that is hidden behind computing, by operation and by how often MPI is called "
        "meanwhile. Whiskers are {kinds}. At the red line nothing is waited for.",
        kinds=words.listed(made),
    )
    result = figures.told((point.row, point.series, point.text) for point in points)
    return Figure("figure-overlap", caption, result, intervals(points, text("share that is hidden")))


def _point(found: Fitted, row: str) -> Point:
    value, low, high = found.model.parameters["hidden"]
    shown = _shown(found)
    series = _calls(found.estimates[0])
    return Point(row, series, value, low, high, 1.0, shown.short, shown.value, found.basis, text("all of it"))


def _meaning(found: tuple[Fitted, ...]) -> str:
    if not found:
        return ""
    ordered = sorted(found, key=lambda each: each.model.parameters["hidden"][0])
    told = [
        text(
            "{row}, {series}: {figure}",
            row=_row(each),
            series=_calls(each.estimates[0]),
            figure=_shown(each).short,
        )
        for each in (ordered[-1], *ordered[:-1][:1])
    ]
    if len(told) == 1:
        return text("Hidden is of {what}.", what=told[0])
    return text("Most is hidden of {most}; least of {least}.", most=told[0], least=told[1])
