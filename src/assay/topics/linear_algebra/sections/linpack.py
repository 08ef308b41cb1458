"""LINPACK 100 and 1000: what the compiler makes of plain loops, what the library does, and the cache."""

from collections.abc import Iterable

from assay.analyse.curves import machine_of
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import choose, figures, words
from assay.report.charts.intervals import Point, intervals
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, Headline, headings

_DOUBLE_BYTES = 8


def _name(e: Estimate) -> str:
    """`n 100, leading 201, plain`."""
    return joined(", ", [f"n {e.params['n']}", f"leading {e.params['leading']}", _how(e)])


def _how(e: Estimate) -> str:
    return joined(", ", [str(e.params["method"]), *e.factors.values(), choose.state(e)])


def _charts(scene: Scene) -> Iterable[Figure]:
    """A row for each order and leading dimension, a mark for each method."""
    if not scene.measured:
        return
    factor, unit = figures.scaled(scene.measured)
    points = [
        Point(
            row=f"n {e.params['n']}, leading {e.params['leading']}",
            series=_how(e),
            limit=factor * e.limit.value if e.limit else None,
            short=words.shown(e).plain,
            **figures.ends(e, factor),
            limit_text=words.limit_text(e.limit, e.unit),
        )
        for e in sorted(scene.measured, key=lambda e: int(e.params["n"]))
    ]
    title = text("Rate of the solution")
    caption = joined(" ", [text("{title}.", title=title), figures.whiskers(scene.measured)])
    result = figures.told((point.row, point.series, point.text) for point in points)
    yield Figure("figure-linpack", caption, result, intervals(points, figures.titled(title, unit)))


def _cache(scene: Scene, e: Estimate) -> str:
    """The nearest cache of the core that holds the matrix: `L2`; `memory` where none does."""
    machine = machine_of(e, scene.run.machines)
    cpus = {cpu for each in e.placement.cpus for cpu in each}
    size = _DOUBLE_BYTES * int(e.params["n"]) * int(e.params["leading"])
    caches = machine.topology.caches if machine else ()
    holding = (c.level for c in caches if c.kind != "instruction" and cpus & set(c.cpus) and c.size_bytes >= size)
    level = min(holding, default=0)
    return f"L{level}" if level else text("memory") if machine else ""


def _cells(scene: Scene, e: Estimate) -> tuple[str, ...]:
    figure = words.shown(e)
    loaded = e.placement.proven.libraries.get("blas", {}) if e.placement.proven else {}
    return (
        _how(e),
        str(e.params["n"]),
        str(e.params["leading"]),
        _cache(scene, e),
        figure.plain,
        figure.ends,
        words.share_cell(e),
        loaded.get("kernel", ""),
    )


declared = Declared(
    order=42,
    id="linpack",
    introduction=text(
        "LINPACK solves a dense system on one core. At order 100 it may use nothing but the compiler's loops, "
        "whose rate the nearest caches set; at order 1000 anything may be used. Its count, 2 n^3 / 3 + 2 n^2, is "
        "not that of HPL."
    ),
    benchmark="linpack",
    charts=_charts,
    shared_tables=(
        Listing(
            text("Solutions on one core"),
            headings("Method", "n", "Leading dimension", "Fits", "Rate", "Interval", "Of limit", "Kernel"),
            lambda scene: (_cells(scene, e) for e in scene.measured),
            {1, 2, 4, 5, 6},
            optional={7},
        ),
    ),
    listed=False,
    headlines=lambda scene: (
        [Headline(text("LINPACK, {what}", what=_name(scene.best)), scene.best)] if scene.best else []
    ),
)
