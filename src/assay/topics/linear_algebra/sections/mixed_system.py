"""A system of equations in mixed precision: its rate by order, against the cores and the product."""

from collections.abc import Iterable

from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, phases, selection
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, Headline, headings
from assay.topics.linear_algebra.benchmarks.hpl import operations
from assay.topics.linear_algebra.products import of_product

_PHASE = {
    "update": text("update"),
    "triangles": text("triangular solutions"),
    "diagonal": text("diagonal squares"),
    "conversion": text("conversion"),
    "refinement": text("refinement"),
}


def _charts(scene: Scene) -> Iterable[Figure]:
    if not scene.measured:
        return
    yield figures.curves(scene.measured, "figure-mixed-system", text("Rate of the solution"), series=_series)
    caption = text(
        "Where the time of a solution goes. The update is products in single precision; conversion and "
        "refinement pass the matrix through memory."
    )
    bars = ((_row(e), phases.seconds_of(scene.analysis, e)) for e in scene.measured)
    yield from phases.figure("figure-mixed-system-phases", caption, bars, _PHASE)


def _series(e: Estimate) -> str:
    """`all, openblas`: what tells the curve of an estimate from others."""
    return joined(", ", [formatting.placed(e), *e.factors.values(), selection.state(e)])


def _row(e: Estimate) -> str:
    return joined(", ", [f"n {e.params['n']}", _series(e)])


def _cells(scene: Scene, e: Estimate) -> tuple[str, ...]:
    figure, order = formatting.shown(e), int(e.params["n"])
    loaded = e.placement.proven.libraries.get("blas", {}) if e.placement.proven else {}
    seconds = formatting.seconds(operations(order) / e.median) if e.median else ""
    shared = (formatting.share_cell(e), of_product(scene, e, "fp32"), loaded.get("kernel", ""))
    return (_series(e), str(order), str(e.params["nb"]), seconds, figure.plain, figure.ends, *shared)


def _sentences(scene: Scene) -> str:
    best = scene.best
    if best is None:
        return text("It could not be measured.")
    seconds = phases.seconds_of(scene.analysis, best)
    whole = sum(seconds.values())
    said = [
        text(
            "The best rate is {figure}, at n = {n}.", figure=formatting.shown(best).short, n=str(best.params["n"])
        ),
        text(
            "Of its time {update} is the update, and {refinement} the refinement.",
            update=formatting.percent(seconds.get("update", 0.0) / whole),
            refinement=formatting.percent(seconds.get("refinement", 0.0) / whole),
        )
        if whole
        else "",
    ]
    return joined(" ", said)


declared = Declared(
    order=45,
    id="mixed-system",
    introduction=text(
        "HPL-MxP solves a dense system of n equations by LU in single precision, and refines the solution until "
        "it is as exact as in double precision. The rate counts the operations that LU takes in double precision, "
        "so it tells what units for low precision give a code that can use them. Each solution is checked by "
        "HPL's scaled residual."
    ),
    benchmark="mxp",
    select=lambda _analysis, every: tuple(e for e in every if e.kernel == "rate"),
    sentences=_sentences,
    charts=_charts,
    shared_tables=(
        Listing(
            text("Solutions in mixed precision by order"),
            headings("Solution", "n", "NB", "Time", "Rate", "Interval", "Of limit", "Of SGEMM", "Kernel"),
            lambda scene: (_cells(scene, e) for e in scene.measured),
            {1, 2, 3, 4, 5, 6, 7},
            optional={6, 7, 8},
        ),
    ),
    listed=False,
    headlines=lambda scene: (
        [Headline(text("System of equations in mixed precision, {where}", where=_series(scene.best)), scene.best)]
        if scene.best
        else []
    ),
)
