"""The sections of the report: those that topics declare, in order, and a general one for all other benchmarks.

A module of a topic's `sections` defines `declared`, see `assay.report.declared`.
"""

from collections.abc import Iterator
from itertools import chain

from assay.catalogue import topics
from assay.model import places
from assay.model.declaration import Declaration
from assay.model.imported import UNSTATED
from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import figures, formatting, selection
from assay.report.declared import Declared, Scene
from assay.report.section import Card, Figure, Headline, Section
from assay.report.vocabulary import known

#: Place of the general sections.
_ORDER = 80


def declared() -> list[Declared]:
    """Return every declared section, in the order of the report."""
    return sorted((module.declared for module in topics.modules("sections").values()), key=lambda each: each.order)


def sections(run: Run, analysis: Analysis) -> list[Section]:
    """Return the sections that a run has, in order."""
    found = declared()
    claimed = frozenset().union(*(topic.claims for topic in found))
    others = selection.grouped(
        (e for e in analysis.estimates if e.benchmark not in claimed), lambda e: e.benchmark
    )
    titles = {name: selection.named(run, members[0]) for name, members in others.items()}
    every = sorted([*found, *map(_general, titles, titles.values())], key=lambda each: each.order)
    return [section for topic in every if (section := topic.section(run, analysis))]


def selected(name: str, analysis: Analysis) -> frozenset[str]:
    """Return the ids of the estimates of the section with this id; none without such a section."""
    return frozenset(e.id for each in declared() if each.id == name for e in each.select(analysis, ()))


def cards(analysis: Analysis) -> tuple[Card, ...]:
    """Return the cards of the paths of a run on the first page, from each module of `cards`."""
    return tuple(chain.from_iterable(module.cards(analysis) for module in topics.modules("cards").values()))


def contrast(analysis: Analysis) -> tuple[str, ...]:
    """Return sentences that compare the cards."""
    return tuple(chain.from_iterable(module.contrast(analysis) for module in topics.modules("cards").values()))


def drawn_elsewhere(analysis: Analysis) -> frozenset[str]:
    """Return the ids of the estimates that a matrix or a curve shows: see `Declared.exclusive`."""
    return frozenset().union(*(each.exclusive(analysis) for each in declared()))


def _general(name: str, title: str) -> Declared:
    """The section of a benchmark without its own: a curve if an axis is swept, else a plot by placement."""
    return Declared(
        order=_ORDER,
        id=name.replace("_", "-"),
        title=title,
        benchmark=name,
        applies=lambda _scene: True,
        sentences=lambda scene: _sentences(scene.run.plan.declared(name), scene.best),
        charts=_charts,
        headlines=_general_headlines,
    )


def _general_headlines(scene: Scene) -> tuple[Headline, ...]:
    """The best figure with its place, and with levels that vary and differ from their defaults."""
    best = scene.best
    if best is None:
        return ()
    defaults = best.declared.defaults
    names = [name for name in selection.varied(scene.estimates) if best.params.get(name, "") != defaults.get(name)]
    label = joined(", ", (selection.named(scene.run, best), selection.levels(best, names)))
    where = best.placement.label
    return (Headline(label, best, "" if where == UNSTATED else places.cores(where)),)


def _charts(scene: Scene) -> Iterator[Figure]:
    by_kernel = selection.grouped(scene.measured, lambda e: e.kernel)
    for kernel, members in by_kernel.items():
        metric, name = known(members[0].metric), members[0].benchmark
        title = metric if len(by_kernel) == 1 else text("{metric} of {kernel}", metric=metric, kernel=kernel)
        draw = figures.curves if members[0].declared.swept else figures.placements
        yield draw(members, f"figure-{name}-{kernel}".replace("_", "-"), title)


def _sentences(declared: Declaration, best: Estimate | None) -> str:
    """What the benchmark measures, and the best figure."""
    measures = known(declared.measures)
    sentences: list[str] = [text("This is {what}.", what=measures)] if measures else []
    figure = formatting.shown(best)
    if best is None or not figure:
        sentences.append(text('Nothing could be measured. The section "What was not measured" lists the reasons.'))
        return joined(" ", sentences)
    sentences.append(
        text(
            "The best figure is {figure} ({kernel}, placement {where}).",
            figure=figure.full,
            kernel=best.kernel,
            where=formatting.placed(best),
        )
    )
    if selection.meaning(best):
        sentences.append(
            text("{metric} counts {what}.", metric=best.metric.capitalize(), what=selection.meaning(best))
        )
    return joined(" ", sentences)
