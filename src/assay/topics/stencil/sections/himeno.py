"""The stencil, and the ledger: its rate compared with the prediction from other measurements."""

from collections.abc import Iterable

from assay.model import places
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import figures, formatting, sections, selection
from assay.report.declared import Declared, Scene
from assay.report.ledger import Ledger
from assay.report.section import Figure, Headline
from assay.report.vocabulary import known as known_word
from assay.topics.stencil.predictions.himeno import LAW


def _name(e: Estimate) -> str:
    """Name a predicted figure: `himeno L, all`."""
    name = f"{e.benchmark} {e.params.get('size', '')}".strip()
    touched = "" if selection.is_usual(e, "touch") else known_word(f"{e.params['touch']} touch")
    return joined(", ", [name, formatting.placed(e), touched, selection.state(e)])


_LEDGER = Ledger(LAW, _name)


def _charts(scene: Scene) -> Iterable[Figure]:
    elsewhere = sections.selected("first-touch", scene.analysis)
    if not {e.id for e in scene.measured} <= elsewhere:
        yield figures.placements(scene.measured, "figure-himeno", text("Rate of the stencil"))
    yield from _LEDGER.figure(scene)


def _sentences(scene: Scene) -> str:
    if not scene.measured:
        return text("It could not be measured.")
    return joined(" ", _LEDGER.sentences(scene)) or text(
        "There is no prediction: bandwidth was not measured at the same placement, or the grid fits the caches."
    )


def _headlines(scene: Scene) -> Iterable[Headline]:
    if scene.best:
        placed = scene.best.placement
        where = joined(", ", [places.cores(placed.label), places.memory(placed.policy)])
        yield Headline(text("Himeno, {where}", where=where), scene.best)


declared = Declared(
    order=50,
    id="himeno",
    introduction=text(
        "A Jacobi sweep over a three-dimensional grid does 34 operations per point and uses 14 arrays, as "
        "weather, flow and heat codes do. It has few operations per byte, so memory bandwidth predicts its "
        "rate. The band comes from other measurements only."
    ),
    benchmark="himeno",
    sentences=_sentences,
    charts=_charts,
    shared_tables=(_LEDGER.table(),),
    headlines=_headlines,
)
