"""A system of equations in mixed precision: its rate by order, compared with the cores and the product."""

from collections.abc import Iterable

from assay.model import roles
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import formatting, solution
from assay.report.declared import Scene
from assay.report.solution import Column, Solutions
from assay.topics.linear_algebra.benchmarks.hpl import operations
from assay.topics.linear_algebra.products import KERNEL, best_sentence, share_of_product
from assay.topics.linear_algebra.steps import numbers_of

_PHASE = {
    "update": text("update"),
    "triangles": text("triangular solutions"),
    "diagonal": text("diagonal blocks"),
    "conversion": text("conversion"),
    "refinement": text("refinement"),
}


def _series(e: Estimate) -> str:
    """Return `all, fp32, openblas`: placement, format and library."""
    return solution.placed(e, roles.precision(e))


def _steps(scene: Scene, e: Estimate) -> str:
    """Return the number of refinement steps; several numbers where solutions differ."""
    return " / ".join(map(str, numbers_of(scene.run, e.case, "refinement")))


def _sentences(scene: Scene, best: Estimate) -> Iterable[str]:
    yield best_sentence(best)
    if shares := solution.phase_shares(scene, best):
        yield text(
            "The update takes {update} of its time, the refinement {refinement}.",
            update=formatting.percent(shares.get("update", 0.0)),
            refinement=formatting.percent(shares.get("refinement", 0.0)),
        )


declared = Solutions(
    order=45,
    id="mixed-system",
    benchmark="mxp",
    introduction=text(
        "HPL-MxP solves a dense system of n equations by LU in low precision, and refines the solution to the "
        "accuracy of double precision. The rate counts the operations of LU in double precision, so it shows what "
        "low-precision units give a code that can use them. Each solution is checked by HPL's scaled residual."
    ),
    name=lambda e: joined(", ", [f"n {e.params['n']}", _series(e)]),
    series=_series,
    label=lambda e: text("HPL-MxP, {where}", where=_series(e)),
    chart=text("Rate of the solution"),
    phases=_PHASE,
    phases_caption=text(
        "Where the time of a solution goes. The update is products in low precision; conversion and "
        "refinement pass the matrix through memory."
    ),
    caption=text("Solutions in mixed precision by order"),
    columns=(
        solution.level(text("n"), "n"),
        solution.level(text("NB"), "nb"),
        solution.time(lambda e: operations(int(e.params["n"]))),
        *solution.RATE,
        solution.OF_LIMIT,
        Column(text("Of GEMM"), share_of_product),
        Column(text("Steps"), _steps),
        KERNEL,
    ),
    sentences=_sentences,
).declared()
