"""Plain loops: the rates of the eight mixes by compiler and flags."""

from collections.abc import Iterable

from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, selection
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, Table, headings


def _mix(e: Estimate) -> str:
    return str(e.params.get("mix", e.kernel))


def _built(e: Estimate) -> str:
    """Name the levels of factors, for example the compiler, and the place where it is not one core."""
    place = "" if e.placement.label == "one-core" else formatting.placed(e)
    return joined(", ", [*e.factors.values(), place, selection.state(e)])


def _charts(scene: Scene) -> Iterable[Figure]:
    ordered = tuple(sorted(scene.measured, key=_mix))
    if ordered:
        title, usual = text("Rate of plain loops"), text("rate")
        yield figures.placements(ordered, "figure-flops-plain", title, _mix, lambda e: _built(e) or usual)


def _table(scene: Scene) -> Iterable[Table]:
    """Make a row for each mix, a column for each of several builds, as in the table of the source."""
    builds = list(dict.fromkeys(map(_built, scene.measured)))
    known = {(_mix(e), _built(e)): formatting.shown(e).short for e in scene.measured}
    rows = tuple(
        (mix, *(known.get((mix, build), "") for build in builds))
        for mix in sorted({_mix(e) for e in scene.measured})
    )
    if rows and len(builds) > 1:
        columns = (text("Mix"), *builds)
        yield Table(text("Rate of each mix by build"), columns, rows, frozenset(range(1, len(columns))))


def _cells(e: Estimate) -> tuple[str, ...]:
    figure = formatting.shown(e)
    return _mix(e), _built(e), figure.plain, figure.ends, formatting.share_cell(e)


declared = Declared(
    order=41,
    id="flops-plain",
    introduction=text(
        "Loops of plain C++ sum a function, with the same numbers of operations as the eight tests of flops. The "
        "compiler chooses wide instructions and fused operations, so the rates show compilers and flags."
    ),
    benchmark="flops_plain",
    charts=_charts,
    shared_tables=(
        _table,
        Listing(
            text("Plain loops, each with its interval"),
            headings("Mix", "Build", "Rate", "Interval", "Of limit"),
            lambda scene: map(_cells, scene.measured),
            {2, 3, 4},
            optional={1, 4},
        ),
    ),
    listed=False,
)
