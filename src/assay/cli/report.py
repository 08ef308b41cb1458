"""`assay report`: the HTML report of a run, or of several runs and published systems side by side."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import output

if TYPE_CHECKING:
    from assay.model.run import Run
    from assay.report.section import Section

#: A file's name is no longer than this.
_LONGEST = 120


@click.command()
@click.argument("runs", metavar="[RUN]...", nargs=-1)
@click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write; report.html in the run's directory without it, of several runs one here.",
)
@output.limit_option
@click.option(
    "--lang",
    "language",
    type=click.Choice(("en", "ja", "ru")),
    default="en",
    help="Language that the page opens in: English without it. Its reader can choose another in it.",
)
def command(runs: tuple[str, ...], path: Path | None, limits: tuple[str, ...], language: str) -> None:
    """Write the report of a run as one HTML file and print its path.

    RUN is an id, a unique prefix of one, a path, or `last` (the default). With several, references among them
    (assay list references), their curves of messages lie over each other on one page, with tables side by side;
    ratios are to the first one.
    """
    if len(runs) > 1:
        click.echo(_several(runs, path, limits, language))
        return
    click.echo(_single(runs[0] if runs else "last", path, limits, language))


def _single(reference: str, path: Path | None, limits: tuple[str, ...], language: str) -> Path:
    from assay import store
    from assay.analyse import analyse
    from assay.report import html
    from assay.report.ahead import Ahead

    output.without_collector()
    given = output.given_limits(limits)
    run = store.load(store.find(reference))
    with closing(Ahead(run)) as ahead:
        ahead.packed(run)
        analysis = analyse(run, given)
        own = _own(run) if run.imported else None
        return output.write_page(run, html.render(run, analysis, language, own, ahead), path)


def _own(run: Run) -> Section | None:
    """What the ways of an import show beside each other: of what was measured here findings and comparisons do."""
    from assay.cli import beside
    from assay.report.several import section

    return section.own(beside.together([run]))


def _several(runs: tuple[str, ...], path: Path | None, limits: tuple[str, ...], language: str) -> Path:
    from assay import store
    from assay.cli import beside
    from assay.report.ahead import Ahead
    from assay.report.several import page

    output.without_collector()
    given = output.given_limits(limits)
    found = [store.load(store.find(each)) for each in runs]
    with closing(Ahead(*found)) as ahead:
        together = beside.together(found, given)
        name = "+".join(side.run.info.id for side in together.sides)
        return output.write(path or Path(f"{name[:_LONGEST]}.html"), page.render(together, language, ahead))
