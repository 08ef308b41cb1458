"""`assay export`: figures or raw samples for other programs, and charts for papers."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.catalogue import topics
from assay.cli.support import opened, output
from assay.model.errors import UsageError

if TYPE_CHECKING:
    from assay.model.answers import Export, Parts

_FORMS = ("png", "svg", "pdf")
#: Format of figures and samples -> its module.
_EXPORTS = {name.rstrip("_"): name for name in topics.found("exports")}


def _forms(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[str, ...]:
    """The formats in `svg,png,pdf`."""
    forms = tuple(dict.fromkeys(part.strip().lower() for part in value.split(",") if part.strip()))
    unknown = [form for form in forms if form not in _FORMS]
    if unknown or not forms:
        what = f"'{unknown[0]}' is not a format of a figure" if unknown else "no format of a figure is named"
        raise UsageError(what, why=f"known: {', '.join(_FORMS)}", remedy="assay export --figures DIR")
    return forms


@click.command()
@output.run_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(list(_EXPORTS)),
    default="csv",
    show_default=True,
    help="Format of the file: for DuckDB and pandas (parquet), Prometheus (openmetrics), CI (junit).",
)
@click.option("--samples", is_flag=True, help="Export every raw sample instead of the figures (csv, parquet).")
@click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Output file.  [default: stdout]",
)
@click.option(
    "--figures",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the charts of the report into this folder and print their paths.",
)
@click.option(
    "--figure-format",
    "forms",
    default="png",
    show_default=True,
    metavar="FORM,...",
    callback=_forms,
    help="Formats of the charts: png, svg, pdf, or several as svg,pdf.",
)
@click.option(
    "--figure-size",
    "size",
    type=click.Choice(["column", "page"]),
    default="column",
    show_default=True,
    help="Width of the charts: a column or a page of a paper.",
)
@opened.limit_option
def command(  # noqa: PLR0913 (each is an option)
    run: str,
    *,
    form: str,
    path: Path | None,
    folder: Path | None,
    forms: tuple[str, ...],
    size: str,
    limits: tuple[str, ...],
    samples: bool,
) -> None:
    """Export the figures of a run in SI base units, or its charts.

    RUN is an id, a unique prefix of one, a path, or `last` (the default).
    """
    if folder is not None:
        _charts(run, folder, forms, size, limits)
        return
    parts = _parts(run, form, limits, samples=samples)
    if path is not None:
        content = b"".join(part if isinstance(part, bytes) else part.encode() for part in parts)
        output.echo(output.write(path, content), err=True)
        return
    for part in parts:
        if isinstance(part, str):
            output.hand_over(part, newline=False)
        elif sys.stdout.isatty():
            raise UsageError(
                f"{form} is not text for a terminal", remedy=f"assay export {run} --format {form} -o FILE"
            )
        else:
            sys.stdout.buffer.write(part)


def _charts(run: str, folder: Path, forms: tuple[str, ...], size: str, limits: tuple[str, ...]) -> None:
    """Write each chart in each format, named after its section and figure, and print the other formats."""
    from assay.report import vega
    from assay.report.sections import sections

    charts = {
        section.id if own == section.id else f"{section.id}-{own}": figure
        for section in sections(*opened.load(run, limits))
        for figure in section.figures
        for own in (figure.id.removeprefix("figure-"),)
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, form in product(charts, forms):
            output.echo(output.write(folder / f"{name}.{form}", vega.exported(charts[name], form, size)))
    except OSError as error:
        raise UsageError(f"the charts cannot be written to {folder}", why=str(error)) from error
    others = [form for form in _FORMS if form not in forms]
    more = f"; as {' or '.join(others)}: --figure-format {','.join(others)}" if others else ""
    output.say(f"{len(charts)} charts as {', '.join(forms)} in {folder}{more}")


def _parts(run: str, form: str, limits: tuple[str, ...], *, samples: bool) -> Parts:
    """The content that a module of `exports` makes from the run."""
    declared: Export = topics.modules("exports")[_EXPORTS[form]].export
    found, analysis = opened.load(run, limits)
    if not samples:
        return declared.figures(found, analysis)
    if declared.samples is None:
        raise UsageError(f"{form} has no raw samples", remedy=f"assay export {run} --format csv --samples")
    return declared.samples(found)
