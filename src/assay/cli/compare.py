"""`assay compare`: levels of one run, or any number of runs with the first one; their curves in sentences."""

from pathlib import Path

import click

from assay.cli.support import opened, output


@click.command()
@click.argument("runs", metavar="[BASE] RUN...", nargs=-1, required=True)
@output.json_option
@click.option(
    "--across",
    default="",
    metavar="NAME",
    help="The intended difference: machine, topology, toolchain, sources, memory, an axis or a factor.",
)
@opened.factor_option
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="Accept this difference: machine, topology, toolchain, sources, schema.",
)
@opened.names_option
@click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="RUN=PRICE",
    help="Price of a node of a RUN, for speed per price: leo='2000 EUR'.  [default: price.node of its [given]]",
)
@click.option("--all", "everything", is_flag=True, help="Show all comparisons, not only the significant ones.")
@click.option(
    "--junit",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the decisions of --fail-below into this file, for CI.",
)
@click.option("--fail-below", metavar="SHARE", help="Exit 3 when a figure is slower by more than this: 5%.")
def command(  # noqa: PLR0913 (one parameter an option)
    runs: tuple[str, ...],
    *,
    across: str,
    factor: str,
    allowed: tuple[str, ...],
    names: tuple[str, ...],
    fail_below: str | None,
    prices: tuple[str, ...],
    junit: Path | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Compare the factor levels of a RUN, or any number of RUNs with a BASE.

    With one RUN: the levels of its factors (see --vary of assay run), in pairs from the same blocks. With more:
    the cases that each RUN shares with BASE, the first one. The output lists what differs between the two. If
    machine, topology, toolchain or programs differ, declare it with --across or --allow.

    With --factor: each level against that of the first RUN. Runs that follow each other in time with different
    levels are a block (ABBA or ABAB), and each block is one difference. 2 and 2 runs show a range, 6 and 6 can
    make a claim.

    Curves over sizes, cores, ranks or nodes are described in words, side by side and as ratios to BASE, with the
    values where they cross. Imports and references (assay list references) have no samples, so none of their
    differences is called significant.

    Exit codes with --fail-below: 3 a figure is certainly slower by more; 5 none is, but some may be: their
    intervals reach beyond, they could not be compared, or nothing has an interval.

    RUN is an id, a unique prefix of one, a path, or `last`.
    """
    from assay.cli.support import comparing
    from assay.compare.meeting import Declared

    declared = Declared(across, allowed, opened.given_names(names), prices=prices, factor=factor)
    comparing.compare(runs, declared, comparing.Wanted(everything, as_json, fail_below, junit))
