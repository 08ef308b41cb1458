"""The sections of the report that topics declare, in order; `general` draws all other benchmarks.

A module of a topic's `sections` defines `declared`, see `assay.report.declared`.
"""

from itertools import chain

from assay.catalogue import topics
from assay.model.result import Analysis
from assay.model.run import Run
from assay.report import general, selection
from assay.report.declared import Declared
from assay.report.section import Card, Section


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
    every = sorted([*found, *map(general.declared, titles, titles.values())], key=lambda each: each.order)
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
