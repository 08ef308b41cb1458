"""The sections of the report that topics declare, in order; `general` draws the benchmarks that none claims.

A module of a topic's `sections` defines `declared`, see `assay.report.declared`.
"""

from itertools import chain

from assay.model import topics
from assay.model.result import Analysis
from assay.model.run import Run
from assay.report import general, selection
from assay.report.declared import Declared
from assay.report.section import Card, Section


def declared() -> list[Declared]:
    """Every section, in the order of the report."""
    return sorted((module.declared for module in topics.modules("sections").values()), key=lambda each: each.order)


def sections(run: Run, analysis: Analysis) -> list[Section]:
    """Every section that this run can fill, in order."""
    found = declared()
    claimed = frozenset().union(*(topic.claims for topic in found))
    others = selection.grouped(
        (e for e in analysis.estimates if e.benchmark not in claimed), lambda e: e.benchmark
    )
    titles = {name: selection.named(run, members[0]) for name, members in others.items()}
    every = sorted([*found, *map(general.declared, titles, titles.values())], key=lambda each: each.order)
    return [section for topic in every if (section := topic.section(run, analysis))]


def cards(analysis: Analysis) -> tuple[Card, ...]:
    """What topics say on the first page of the paths of a run: those of each module of `cards`."""
    return tuple(chain.from_iterable(module.cards(analysis) for module in topics.modules("cards").values()))


def contrast(analysis: Analysis) -> tuple[str, ...]:
    """What the cards show together, in sentences."""
    return tuple(chain.from_iterable(module.contrast(analysis) for module in topics.modules("cards").values()))


def drawn_elsewhere(analysis: Analysis) -> frozenset[str]:
    """The ids of the estimates that a matrix or a curve shows: see `Declared.exclusive`."""
    return frozenset().union(*(each.exclusive(analysis) for each in declared()))
