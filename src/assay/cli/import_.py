"""`assay import`: the output of other benchmarks as a run that can be shown and compared."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from assay.cli.support import opened, output

#: Number of unreadable places that are listed one by one.
_SHOWN = 10


@click.command()
@click.argument("files", metavar="[TOOL] FILE...", nargs=-1, required=True)
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
@click.option("--strict", is_flag=True, help="Import nothing if a place in the files cannot be read.")
@opened.runs_option
@output.json_option
def command(  # noqa: PLR0913 (one parameter an option)
    files: tuple[str, ...],
    *,
    title: str,
    machine: str,
    placement: str,
    test: str,
    strict: bool,
    runs: str | None,
    as_json: bool,
) -> None:
    """Import the output of other benchmarks, or a CSV file, as a run.

    Prints the id of the run. FILE is a path, or `-` for standard input. What is in it is found, also the output of
    several benchmarks; where a file says too little, name the tool: osu, imb, netpipe, stream, hpl, himeno, npb,
    numactl, csv, nccl-tests, nvbandwidth, babelstream, iperf3, perftest, sockperf, hpcg, hpcc, mlc, likwid-bench,
    ior, mdtest, gromacs, wrf, reframe. Text around the tables is ignored, so the text of a terminal or a web page
    can be imported unchanged; its command lines give placement and options. Means have no samples: `assay compare`
    shows their differences but calls none significant.

    What cannot be read is listed and the rest is imported; with --strict, or if nothing can be read, nothing is
    imported (exit 2).
    """
    import msgspec

    from assay import importing, store
    from assay.model.units import count_of

    tool = files[0] if files[0] in importing.FORMATS and len(files) > 1 else ""
    texts = [importing.Text.read(name, "assay import --help") for name in files[bool(tool) :]]
    wanted = importing.ImportOptions(title=title, machine=machine, test=test, placement=placement, strict=strict)
    imported = importing.read(tool, texts, wanted)
    kept = store.save_import(imported, sys.argv, Path(runs) if runs else None)
    figures = sum(len(table.figures) for table in imported.tables)
    if as_json:
        skipped = [msgspec.to_builtins(each) for each in imported.skipped]
        counts = {"tables": len(imported.tables), "figures": figures}
        output.print_json({"schema": 1, "run": kept.name} | counts | {"skipped": skipped})
        return
    output.echo(kept.name)
    name = store.typed(kept)
    counted = f"{count_of(figures, 'figure')} in {count_of(len(imported.tables), 'table')}"
    for each in imported.skipped[:_SHOWN]:
        output.say(f"not read: {', '.join(filter(None, (each.source, each.where)))}: {each.reason}")
    if len(imported.skipped) > _SHOWN:
        output.say(f"not read: {len(imported.skipped) - _SHOWN} more places; all of them: --json")
    output.say(f"{counted}; next: assay show {name}; assay report {name}")
