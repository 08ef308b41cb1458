"""`assay pack`: a run as one file."""

from pathlib import Path

import click

from assay.cli import output
from assay.model.errors import UsageError


@click.command()
@output.run_argument
@click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write; RUN.tar.xz in this folder without it.",
)
def command(run: str, path: Path | None) -> None:
    """Pack a run into one file, to send or to keep, and print its path.

    Every command that reads a run reads the file as well: assay show RUN.tar.xz. It holds all records, the plan,
    the machines and what programs said, but no report.

    RUN is an id, a unique prefix of one, a path, or `last` (the default).
    """
    from assay import store

    found = store.find(run)
    info = store.load(found).info
    if found.is_file():
        raise UsageError(f"'{found}' is no directory of a run", why="it is one file already", remedy="assay list")
    packed = path or Path(f"{info.id}{store.SUFFIX}")
    store.pack(found, packed)
    click.echo(packed)
