"""One-sided access to the memory of another rank."""

from assay.model.result import Analysis
from assay.model.run import Run
from assay.report import operations
from assay.report.section import Section, Table

order = 65
claims = frozenset({"onesided"})

_WHY = (
    "One rank writes or reads the memory of another, which takes no part. A time ends where the data can be seen "
    "at the target, not where the call returns."
)


def section(_run: Run, analysis: Analysis) -> Section | None:
    """The section, None where none were planned."""
    return operations.section("onesided", analysis, _WHY)


def tables(_run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """Each operation with a small and the largest message."""
    return operations.tables("onesided", analysis)
