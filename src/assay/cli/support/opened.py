"""A run and its analysis, under the limits of the configuration and of the command line."""

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.support import settings
from assay.model.errors import UsageError
from assay.model.folders import runs_folder

if TYPE_CHECKING:
    from assay.model.result import Analysis
    from assay.model.run import Run

runs_option = click.option(
    "--runs", metavar="DIRECTORY", help="Folder of runs.  [default: $ASSAY_RUNS, else ./assay-runs]"
)
limit_option = click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    help="A limit from the data sheet, e.g. memory-bandwidth='204.8 GB/s'. Can be given several times.",
)


names_option = click.option(
    "--as",
    "names",
    multiple=True,
    metavar="NAME=NAME",
    help="Take a network of one system for a network of the other, e.g. sci=ib0. Can be given several times.",
)

factor_option = click.option(
    "--factor",
    default="",
    metavar="NAME",
    help="Compare levels of whole runs, stated by assay run --level: two runs of each or more, in turn.",
)


def given_names(options: tuple[str, ...]) -> dict[str, str]:
    """The networks of `--as sci=ib0`: name in one system -> name in the other, in lower case."""
    found = {}
    for option in options:
        name, equals, other = option.partition("=")
        if not (name and equals and other):
            raise UsageError(
                f"--as '{option}' is not a pair of names",
                why="it takes a network of one system for a network of the other",
                remedy="assay compare leo RUN --as sci=ib0",
            )
        found[name.casefold()] = other.casefold()
    return found


def without_collector() -> None:
    """Switch the garbage collector off until the end of the process.

    A run has a million lists and records; repeated searches for cycles, of which there are none, take a third of
    the time of its analysis.
    """
    import gc

    gc.disable()


def load(reference: str, limits: tuple[str, ...] = ()) -> "tuple[Run, Analysis]":
    """The run (id, unique prefix, path or `last`) and its analysis under the given limits."""
    from assay import store

    return analysed(store.find(reference), limits)


def analysed(path: Path, limits: tuple[str, ...] = ()) -> "tuple[Run, Analysis]":
    """The run in a directory or a file, and its analysis under the given limits."""
    from assay import analyse, store

    without_collector()
    run = store.load(path)
    return run, analyse.analyse(run, given_limits(limits))


def given_limits(options: tuple[str, ...]) -> dict[str, float]:
    """The limits by name in SI units: the table `[limits]` of the configuration, then the options `NAME=VALUE`."""
    from assay.model.units import parse_quantity

    wanted = {name: str(value) for name, value in settings.table("limits").items()}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals:
            raise UsageError(
                f"'{option}' is not a limit", why="write a limit as NAME=VALUE", remedy=_example(name)
            )
        wanted[name.strip()] = value
    given: dict[str, float] = {}
    for name, text in wanted.items():
        expected = _units().get(name)
        if expected is None:
            known = f"known: {', '.join(sorted(_units()))}"
            raise UsageError(f"there is no limit '{name}'", why=known, remedy=_example(name))
        try:
            amount, unit = parse_quantity(text)
        except UsageError as error:
            raise UsageError(error.what, why=error.why, remedy=_example(name)) from error
        if unit != expected:
            raise UsageError(f"the limit '{name}' is in {expected}, not in {unit}", remedy=_example(name))
        if amount <= 0:
            raise UsageError(f"the limit '{name}' must be above 0, not {text}", remedy=_example(name))
        given[name] = amount
    return given


_EXAMPLES = {
    "B/s": "204.8 GB/s",
    "flop/s": "1.2 TFLOP/s",
    "op/s": "333 Mop/s",
    "s": "85 ns",
    "Hz": "2.6 GHz",
    "bit/s": "100 Gbit/s",
    "1/s": "3.35 M/s",
}


def _example(name: str) -> str:
    """A command line with this limit, or with one that exists, nearest by name."""
    near = difflib.get_close_matches(name, _units(), n=1) or sorted(_units())
    unit = _units()[near[0]]
    context = click.get_current_context(silent=True)
    typed = context.command_path if context else "assay show"
    return f"{typed} --limit '{near[0]}={_EXAMPLES.get(unit, f'1 {unit}')}'"


def _units() -> dict[str, str]:
    """Name of each limit that benchmarks declare -> its unit."""
    from assay.catalogue import benchmarks

    declared = (benchmarks.get(name) for name in benchmarks.names())
    return {metric.limit: metric.unit for each in declared for metric in each.metrics if metric.limit}


def folder_of(runs: str | None) -> Path:
    """The folder of runs given by --runs, else the default one."""
    if runs is not None and not runs.strip():
        raise UsageError("--runs needs a folder", why="it is empty", remedy="assay run quick --runs ./assay-runs")
    return Path(runs) if runs else runs_folder()
