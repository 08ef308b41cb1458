"""`assay show`: what was found, in the terminal or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assay.cli import output

if TYPE_CHECKING:
    from assay.model.result import Analysis


@click.command()
@output.run_argument
@output.json_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "osu"]),
    default="text",
    show_default=True,
    help="osu: tables of messages as the OSU Micro-Benchmarks print them.",
)
@output.limit_option
def command(run: str, limits: tuple[str, ...], form: str, *, as_json: bool) -> None:
    """Show the figures and findings of a run.

    RUN is an id, a unique prefix of one, a path, or `last` (the default).
    """
    found, analysis = output.load(run, limits)
    if as_json or form == "json":
        output.print_json(analysis)
        return
    if form == "osu":
        _print_osu(analysis, run)
        return
    from assay.report import terminal

    console = output.console()
    terminal.render(found, analysis, console)
    if found.plan.factors:
        from assay.compare import figure_rows
        from assay.compare.runs import within

        figure_rows.render(within(found, analysis), console)
    if found.imported:
        from assay.compare.sides import sides
        from assay.compare.terminal import in_words

        in_words(sides([found]), console)


def _print_osu(analysis: Analysis, run: str) -> None:
    from assay.model.errors import UsageError
    from assay.report import osu

    lines = list(osu.tables(analysis))
    if not lines:
        raise UsageError(
            f"run '{run}' has no table of OSU's",
            why="it has no complete measurement of messages",
            remedy="assay run network",
        )
    for line in lines:
        click.echo(line)
