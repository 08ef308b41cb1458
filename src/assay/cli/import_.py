"""`assay import`: the output of other benchmarks as a run that can be shown and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assay.cli import output

if TYPE_CHECKING:
    from assay.importing import Text

_TOOLS = ("osu", "imb", "netpipe", "stream", "hpl", "himeno", "npb", "numactl", "csv")
_STDIN = "-"
#: Nobody pastes more; a core dump is no text.
_MOST_BYTES = 64 * 2**20


@click.command()
@click.argument("tool", type=click.Choice(_TOOLS))
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--title", default="", metavar="TEXT", help="Title of the run.  [default: tool and files]")
@click.option("--machine", default="", metavar="TEXT", help="Description of the measured machine.")
@click.option(
    "--placement",
    default="",
    metavar="WORD",
    help="Placement of figures whose command line does not show it: all, one-core@2.",
)
@click.option(
    "--test", default="", metavar="PROGRAM", help="Program that printed rows without a heading: osu_bw, NPtcp."
)
@click.option("--runs", metavar="DIRECTORY", help="Folder of runs.  [default: $ASSAY_RUNS, else ./assay-runs]")
@output.json_option
def command(  # noqa: PLR0913 (one parameter an option)
    tool: str,
    files: tuple[str, ...],
    *,
    title: str,
    machine: str,
    placement: str,
    test: str,
    runs: str | None,
    as_json: bool,
) -> None:
    """Import the output of another benchmark, or a CSV file, as a run.

    Prints the id of the run. FILE is a path, or `-` for standard input. Text around the tables is ignored, so the
    text of a terminal or a web page can be imported unchanged; its command lines give placement and options. Means
    have no samples: `assay compare` shows their differences but calls none significant.

    If a row cannot be read, nothing is imported (exit 2).
    """
    import sys
    from pathlib import Path

    from assay import importing, store

    wanted = importing.ImportOptions(title=title, machine=machine, test=test, placement=placement)
    imported = importing.read(tool, [_read(name) for name in files], wanted)
    kept = store.save_import(imported, sys.argv, Path(runs) if runs else None)
    figures = sum(len(table.figures) for table in imported.tables)
    if as_json:
        output.print_json({"schema": 1, "run": kept.name, "tables": len(imported.tables), "figures": figures})
        return
    click.echo(kept.name)
    tables = f"{len(imported.tables)} table{'s' * (len(imported.tables) > 1)}"
    told = f"{figures} figure{'s' * (figures > 1)} in {tables}"
    output.say(f"{told}; next: assay show {kept.name}; assay report {kept.name}")


def _read(name: str) -> Text:
    """A file, or standard input."""
    import sys
    from pathlib import Path

    from assay.importing import Text
    from assay.model.errors import UsageError

    if name == _STDIN:
        content, name = sys.stdin.buffer.read(_MOST_BYTES + 1), "standard input"
    else:
        try:
            with Path(name).open("rb") as file:
                content = file.read(_MOST_BYTES + 1)
        except (OSError, ValueError) as error:
            why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
            raise UsageError(f"cannot read '{name}'", why=why, remedy="assay import --help") from error
    if len(content) > _MOST_BYTES:
        raise UsageError(f"'{name}' is larger than 64 MiB", why="the output of a benchmark is not")
    return Text.of(name, content)
