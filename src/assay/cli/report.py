"""`assay report`: the HTML report of a run, or of several runs and published systems side by side."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from assay.cli.support import opened, output, sharing

if TYPE_CHECKING:
    from assay.model.run import Run
    from assay.report.section import Section

#: Maximum length of a file's name.
_LONGEST = 120


@click.command()
@click.argument("runs", metavar="[RUN]...", nargs=-1, shell_complete=output.complete_run)
@click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Output file.  [default: report.html in the run's directory; for several runs a file in this folder]",
)
@opened.limit_option
@opened.names_option
@opened.factor_option
@click.option(
    "--lang",
    "language",
    type=click.Choice(("en", "ja", "ru")),
    default="en",
    help="Initial language of the page; its reader can choose another.  [default: en]",
)
@sharing.share_option
@sharing.list_option
def command(  # noqa: PLR0913 (each is an option)
    runs: tuple[str, ...],
    path: Path | None,
    *,
    limits: tuple[str, ...],
    names: tuple[str, ...],
    factor: str,
    language: str,
    share: bool,
    listed: bool,
) -> None:
    """Write the report of a run as one HTML file and print its path.

    RUN is an id, a unique prefix of one, a path, or `last` (the default). With several runs or references (assay
    list references) the page overlays their curves over sizes, cores, ranks or nodes and puts their tables side by
    side; ratios are to the first one. With --factor the systems are the levels of whole runs, as in assay compare.
    """
    opened.without_collector()
    given = opened.given_limits(limits)
    with sharing.loaded(runs or ("last",), share=share, listed=listed) as found:
        if len(found) > 1 or factor:
            output.echo(_several(found, path, _Given(given, opened.given_names(names), factor), language))
        else:
            output.echo(_single(found, path, given, language))


class _Given(NamedTuple):
    """The limits, the names of networks, and the factor of levels of whole runs that the user gives."""

    limits: dict[str, float]
    names: dict[str, str]
    factor: str


def _single(found: list[Run], path: Path | None, limits: dict[str, float], language: str) -> Path:
    from assay.analyse import analyse
    from assay.report import html
    from assay.report.ahead import Ahead

    (run,) = found
    with closing(Ahead(run)) as ahead:
        ahead.packed(run)
        analysis = analyse(run, limits)
        own = _own(run) if run.imported else None
        return output.write_page(run, html.render(run, analysis, language, own, ahead), path)


def _own(run: Run) -> Section | None:
    """The section on the curves of an import; for measured runs, findings and comparisons cover it."""
    from assay.compare import page
    from assay.compare.sides import sides

    return page.section(sides([run]))


def _several(found: list[Run], path: Path | None, given: _Given, language: str) -> Path:
    from assay.cli.support.comparing import others_like
    from assay.compare import page
    from assay.compare.meeting import ANYTHING, Declared
    from assay.compare.sides import sides
    from assay.report.ahead import Ahead

    with closing(Ahead(*found)) as ahead:
        declared = Declared(factor=given.factor) if given.factor else ANYTHING
        earlier = () if given.factor else others_like(found)
        together = sides(found, given.limits, declared._replace(names=given.names), earlier)
        name = "+".join(side.run.info.id for side in together.sides)
        return output.write(path or Path(f"{name[:_LONGEST]}.html"), page.render(together, language, ahead))
