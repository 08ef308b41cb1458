"""A published study that the run repeats: its conclusions, judged, and each of its figures beside the run's."""

from collections.abc import Iterator

from assay.model.text import text
from assay.report import repetition, test_bed
from assay.report.declared import Declared, Scene
from assay.report.section import Table

_HOW = text(
    "Each sentence of the authors is a rule about figures. It holds if the whole 95 % interval of its quantity "
    "lies where the sentence is true. It does not hold if the interval lies outside; else it cannot be told. A "
    "ratio of two figures of one run is paired within blocks. Published figures have no samples: they are taken "
    "as printed, without an interval."
)


def _sentences(scene: Scene) -> tuple[str, ...]:
    found = scene.analysis.repetition
    if found is None:
        return ()
    return repetition.counted(found) if found.conclusions else "", repetition.undecided(found)


def _tables(scene: Scene) -> Iterator[Table]:
    found = scene.analysis.repetition
    if found and found.conclusions:
        yield repetition.conclusions(found, (scene.run,))
    if found:
        yield from repetition.rows(found, scene.run)
    if found and found.rows and (beside := test_bed.table(found.reference, scene.run)):
        yield beside


declared = Declared(
    order=1,
    id="repetition",
    title=text("What the authors concluded"),
    introduction=_HOW,
    applies=lambda scene: scene.analysis.repetition,
    sentences=_sentences,
    page_tables=(_tables,),
)
