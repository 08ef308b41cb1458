"""`assay report`: the HTML report of a run."""

from pathlib import Path

import click

from assay.cli import output


@click.command()
@output.run_argument
@click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write; report.html in the run's directory without it.",
)
@output.limit_option
def command(run: str, path: Path | None, limits: tuple[str, ...]) -> None:
    """Write the report of a run as one HTML file and print its path.

    RUN is an id, a unique prefix of one, a path, or `last` (the default).
    """
    found, analysis = output.load(run, limits)
    click.echo(output.write_report(found, analysis, path))
