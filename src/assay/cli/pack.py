"""`assay pack`: a run as one file."""

from pathlib import Path

import click

from assay.cli.support import output, sharing
from assay.model.errors import UsageError


@click.command()
@output.run_argument
@click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Output file.  [default: RUN.tar.xz in this folder]",
)
@sharing.share_option
@sharing.list_option
def command(run: str, path: Path | None, *, share: bool, listed: bool) -> None:
    """Pack a run into one file and print its path.

    Every command that reads a run also reads this file: assay show RUN.tar.xz. It has all records, the plan, the
    machines and the output of the programs, but no report. With --share it can leave the site: the figures stay,
    private data is replaced, and the command says what it replaced.

    RUN is an id, a unique prefix of one, a path, or `last` (the default).
    """
    from assay import store
    from assay.report.provenance import chained

    found = store.find(run)
    loaded = store.load(found)
    info = loaded.info
    if found.is_file() and not share:
        raise UsageError(f"'{found}' is not a run directory", why="it is already one file", remedy="assay list")
    packed = path or Path(f"{info.id}{store.SUFFIX}")
    if share:
        with sharing.shared([found], listed=listed) as (folder,):
            loaded = store.load(folder)
            store.pack(folder, packed)
    else:
        store.pack(found, packed)
    if not loaded.imported:
        output.say(f"records: {chained(loaded)}")
    output.echo(packed)
