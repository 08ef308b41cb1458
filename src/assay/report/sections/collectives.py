"""Collective operations among all ranks."""

from assay.model.result import Analysis
from assay.model.run import Run
from assay.report import operations
from assay.report.section import Section, Table

order = 64
claims = frozenset({"collective"})

_WHY = (
    "A program that computes together waits for its slowest rank, so that a repetition lasts as long as that one; "
    "the mean over the ranks stands beside it."
)


def section(_run: Run, analysis: Analysis) -> Section | None:
    """The section, None where none were planned."""
    return operations.section("collective", analysis, _WHY)


def tables(_run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """Each operation with a small and the largest message."""
    return operations.tables("collective", analysis)
