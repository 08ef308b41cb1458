"""The JSON that `assay show --json` prints, on one line."""

from collections.abc import Iterator

from assay.model.answers import Export
from assay.model.result import Analysis
from assay.model.run import Run
from assay.model.text import encoded


def figures(_run: Run, analysis: Analysis) -> Iterator[str]:
    """Yield the whole analysis."""
    yield encoded(analysis).decode() + "\n"


export = Export("the whole analysis, as assay show --json", figures)
