"""Other programs beside Assay's benchmarks of the same: each pair in a row, and what differs by necessity."""

from collections.abc import Iterator

from assay.analyse.comparisons import PROGRAM
from assay.model.comparison import Comparison
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import formatting, verdicts
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import headings


def _pairs(scene: Scene) -> tuple[tuple[Comparison, Estimate, Estimate], ...]:
    """Comparisons of speeds of Assay's programs, as a, with others, and their figures."""
    known = {each.id: each for each in scene.analysis.estimates}
    return tuple(
        (verdicts.speeds(each, known[each.a].better), known[each.a], known[each.b])
        for each in scene.analysis.comparisons
        if each.differ == PROGRAM and not each.is_control and {each.a, each.b} <= known.keys()
    )


def _rows(scene: Scene) -> Iterator[tuple[str, ...]]:
    titles = {each.name: each.title for each in scene.run.plan.applications}
    for comparison, ours, theirs in scene.cached(_pairs):
        settings = formatting.params(theirs.params, theirs.declared.units)
        figure = "" if theirs.kernel == theirs.benchmark else theirs.kernel
        yield (
            joined(", ", [part for part in (titles[theirs.benchmark], figure, settings) if part]),
            formatting.placed(theirs),
            formatting.shown(ours).plain,
            formatting.shown(theirs).plain,
            formatting.factor(comparison.ratio),
            verdicts.plain_ends(comparison),
            verdicts.word(comparison),
        )


def _sentence(scene: Scene) -> tuple[str, ...]:
    pairs = [each for each, _, _ in scene.cached(_pairs)]
    counts = text(
        "{comparisons}: Assay's program is {verdicts}.",
        comparisons=formatting.count(len(pairs), "comparison", "comparisons"),
        verdicts=verdicts.counted(pairs),
    )
    differs = [
        text("{program}: {sentence}.", program=each.title, sentence=sentence)
        for each in scene.run.plan.applications
        for sentence in (each.beside.differs if each.beside else ())
    ]
    return counts, joined(" ", (text("What differs by necessity:"), *differs)) if differs else ""


declared = Declared(
    order=6,
    id="programs",
    title=text("Assay beside other programs"),
    introduction=text(
        "Both programs ran in the same blocks, in random order, on the same cores. The ratio is of speeds: above 1 "
        "Assay's program is faster, also where times were measured."
    ),
    applies=lambda scene: scene.cached(_pairs),
    sentences=lambda scene: tuple(filter(None, _sentence(scene))),
    shared_tables=(
        Listing(
            text("Figures of both programs, and the ratio of their speeds, paired within blocks"),
            headings("What", "Placement", "Assay", "Other", "Ratio", "Interval", "Verdict"),
            _rows,
            figures={2, 3, 4, 5},
            short=text("Assay beside other programs"),
        ),
    ),
    listed=False,
)
