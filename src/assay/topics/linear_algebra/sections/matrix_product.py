"""The rate of matrix products by order, library and placement, against what the cores reach in registers."""

from collections.abc import Iterable

from assay.model import places, roles
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, selection
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, Headline, headings
from assay.topics.linear_algebra.products import library

#: Name of the product in BLAS, by precision.
_LETTERS = {"fp64": "DGEMM", "fp32": "SGEMM"}


def _charts(scene: Scene) -> Iterable[Figure]:
    if scene.measured:
        title = text("Rate of the product")
        yield figures.curves(scene.measured, "figure-matrix-product", title, series=_name)


def _best(measured: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    groups = selection.grouped(measured, _name)
    found = (selection.best(members) for members in groups.values())
    return tuple(each for each in found if each)


def _name(e: Estimate) -> str:
    how = text("each core has its own") if _is_own(e) else ""
    form = str(e.params.get("format", ""))
    return joined(", ", [places.cores(e.placement.label), form, how, *e.factors.values(), selection.state(e)])


def _is_own(e: Estimate) -> bool:
    """Whether every core works on a product of its own."""
    return e.params.get("product") == "own"


def _sentences(scene: Scene) -> str:
    """Compare the rate of a core during products of all cores with its rate alone."""
    own = [e for e in scene.measured if _is_own(e) and len(_cpus(e)) > 1]
    alone = {_key(e): e for e in scene.measured if not _is_own(e) and len(_cpus(e)) == 1}
    pairs = [(e, alone[_key(e)]) for e in own if _key(e) in alone]
    sentences = []
    for e, one in pairs:
        each = (e.median or 0.0) / len(_cpus(e))
        sentences.append(
            text(
                "When every core computes its own product, a core reaches {rate}, {share} of what one core "
                "reaches alone (n = {n}, {form}).",
                rate=formatting.quantity(each, e.unit),
                share=formatting.percent(each / (one.median or 1.0)),
                n=str(e.params["n"]),
                form=str(e.params["format"]),
            )
        )
    return joined(" ", sentences)


def _cpus(e: Estimate) -> set[int]:
    return {cpu for each in e.placement.cpus for cpu in each}


def _key(e: Estimate) -> tuple[object, ...]:
    return e.params.get("n"), e.params.get("format"), tuple(e.factors.items()), e.placement.hosts, e.state


def _row(e: Estimate) -> tuple[str, ...]:
    figure = formatting.shown(e)
    loaded = library(e)
    cells = (figure.plain, figure.ends, formatting.against(e))
    return (_name(e), str(e.params.get("n", "")), *cells, loaded.get("version", ""), loaded.get("kernel", ""))


declared = Declared(
    order=43,
    id="matrix-product",
    introduction=text(
        "A product of two n x n matrices does 2 n^3 operations on 3 n^2 numbers. A good library keeps them in the "
        "caches, and its rate is near the peak of the arithmetic units. HPL spends most of its time here. A rate "
        "far below the peak can mean that the library chose a kernel that does not fit the processor."
    ),
    benchmark="dgemm",
    sentences=_sentences,
    charts=_charts,
    shared_tables=(
        Listing(
            text("Best rate of each placement and library"),
            headings("Product", "n", "Rate", "Interval", "Of limit", "Library", "Kernel"),
            lambda scene: map(_row, _best(scene.measured)),
            {1, 2, 3, 4},
        ),
    ),
    headlines=lambda scene: [
        Headline(joined(", ", (_LETTERS.get(roles.precision(e), "GEMM"), _name(e))), e)
        for e in _best(scene.measured)
    ],
)
