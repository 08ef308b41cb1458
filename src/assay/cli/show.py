"""`assay show`: what was found, in the terminal or as JSON."""

import click

from assay.cli import output


@click.command()
@output.run_argument
@output.json_option
@output.limit_option
def command(run: str, limits: tuple[str, ...], *, as_json: bool) -> None:
    """Show the figures and findings of a run.

    RUN is an id, a unique prefix of one, a path, or `last` (the default).
    """
    found, analysis = output.load(run, limits)
    if as_json:
        output.print_json(analysis)
        return
    from assay.report import terminal

    terminal.render(found, analysis, output.console())
