"""The topics of the report: one module each, found by its name. Nothing else needs to know that one exists.

A module defines `order` (where it stands), `claims` (benchmarks that need no general section because of it),
`section(run, analysis) -> Section | None` (None when the run has nothing for it) and `tables(run, analysis)`: what
a terminal shows in place of a general list of the benchmarks that it claims; where that is empty, the list.
`general` draws every benchmark that no module claims.
"""

import importlib
import pkgutil
from typing import Protocol, cast

from assay.model.result import Analysis
from assay.model.run import Run
from assay.report.section import Section, Table
from assay.report.sections import general


class Topic(Protocol):
    """What a module of this package defines."""

    order: int
    claims: frozenset[str]

    def section(self, run: Run, analysis: Analysis) -> Section | None:
        """The topic's section, None when the run has nothing for it."""

    def tables(self, run: Run, analysis: Analysis) -> tuple[Table, ...]:
        """What a terminal shows of it."""


def topics() -> list[Topic]:
    """Every topic, in the order of the report."""
    names = (module.name for module in pkgutil.iter_modules(__path__) if module.name != "general")
    found = [cast("Topic", importlib.import_module(f"{__name__}.{name}")) for name in names]
    return sorted(found, key=lambda topic: topic.order)


def sections(run: Run, analysis: Analysis) -> list[Section]:
    """Every section that this run can fill, in order."""
    found = topics()
    claimed = frozenset().union(*(topic.claims for topic in found))
    others = dict.fromkeys(e.benchmark for e in analysis.estimates if e.benchmark not in claimed)
    written = [topic.section(run, analysis) for topic in found if topic.order < general.order]
    written += [general.section(name, analysis) for name in others]
    written += [topic.section(run, analysis) for topic in found if topic.order > general.order]
    return [section for section in written if section is not None]
