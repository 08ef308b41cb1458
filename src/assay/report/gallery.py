"""The charts of a report as separate files, for papers and slides."""

from collections.abc import Iterable, Iterator

from assay.model.result import Analysis
from assay.model.run import Run
from assay.report import vega
from assay.report.sections import sections


def charts(run: Run, analysis: Analysis, forms: Iterable[str], size: str) -> Iterator[tuple[str, bytes]]:
    """File name and content of each chart in each form; names are those of section and figure, always the same."""
    forms = tuple(forms)
    for section in sections(run, analysis):
        for figure in section.figures:
            own = figure.id.removeprefix("figure-")
            name = section.id if own == section.id else f"{section.id}-{own}"
            for form in forms:
                yield f"{name}.{form}", vega.exported(figure, form, size)
