"""Common parts of the commands that print: terminal, JSON, user limits, the file of the report."""

import errno
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.model.errors import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem
    from rich.console import Console

    from assay.model.result import Analysis
    from assay.model.run import Run

#: Width of output that is not a terminal, if COLUMNS is not set.
_WIDTH = 100
#: Minimum width: narrower terminals wrap the lines themselves.
_NARROWEST = 40
#: Maximum launches of each case.
_MOST_LAUNCHES = 1000


def _whole(least: int, most: int) -> Callable[[click.Context, click.Parameter, str | None], int | None]:
    """A callback that reads an option as a whole number within bounds, both included."""

    def number(ctx: click.Context, param: click.Parameter, text: str | None) -> int | None:
        if text is None:
            return None
        try:
            value = int(text)
        except ValueError:  # also more digits than Python reads
            value = least - 1
        if not least <= value <= most:
            shown = f"'{text}'" if len(text) <= _WIDTH else "this"
            raise click.BadParameter(f"{shown} is not a whole number from {least} to {most}", ctx, param)
        return value

    return number


def each_once(ctx: click.Context, param: click.Parameter, names: Sequence[str]) -> tuple[str, ...]:
    """A callback that returns the names; none may be empty or repeated."""
    for name in names:
        if not name.strip():
            raise click.BadParameter("a name is empty", ctx, param)
        if names.count(name) > 1:
            raise click.BadParameter(f"'{name}' is given twice", ctx, param)
    return tuple(names)


launches_option = click.option(
    "--launches",
    metavar="N",
    callback=_whole(1, _MOST_LAUNCHES),
    help=f"Launches of each case, at most {_MOST_LAUNCHES}.",
)
seed_option = click.option(
    "--seed", metavar="N", callback=_whole(0, 2**63 - 1), help="Seed of the random order.  [default: random]"
)
toolchains_option = click.option(
    "--toolchain",
    "toolchains",
    metavar="NAME",
    multiple=True,
    callback=each_once,
    help="Toolchain of the programs; several become a factor.",
)
mpis_option = click.option(
    "--mpi",
    "mpis",
    metavar="NAME",
    multiple=True,
    callback=each_once,
    help="MPI of the MPI programs, by its name in assay list mpis; several become a factor.",
)
blas_option = click.option(
    "--blas",
    metavar="NAME,...",
    help="BLAS that programs load: its name in assay list blas, or a path of a library. Several become a factor.",
)
networks_option = click.option(
    "--network",
    "networks",
    metavar="NAME=DEVICE,...",
    help="Network between nodes, by interface or port: gbe=eth0,ib=mlx5_0:1. Several become a factor.",
)
messages_option = click.option(
    "-m", "--messages", metavar="FROM:TO", default="", help="Message sizes, instead of those of the study: 1:4M."
)
set_option = click.option(
    "--set",
    "values",
    metavar="AXIS=VALUE,...",
    multiple=True,
    help="Values of an axis, instead of those of the study: hpl.n=8192, nb=256. Can be given several times.",
)
sweep_option = click.option(
    "--sweep",
    "sweeps",
    metavar="WHAT=NUMBERS",
    multiple=True,
    help="For scale:BENCHMARK: ranks=1,2,4,all (of a node), threads=1,2,4 (of a rank), nodes=1,2,all.",
)
refine_option = click.option(
    "--refine",
    metavar="ROUNDS",
    callback=_whole(0, 10),
    help="Rounds that add sizes where curves have steps or go on; 0 for none.  [default: that of the study]",
)
folders_option = click.option(
    "--folder",
    "folders",
    metavar="PATH",
    multiple=True,
    callback=each_once,
    help="Folder for benchmarks that write files; each rank makes its own there and removes it at the end. With "
    "several, each rank gets the next one.",
)
full_option = click.option(
    "--full",
    is_flag=True,
    help="After the study, solve the largest system that fits the memory, once, beyond the budget.",
)
nic_node_option = click.option(
    "--nic-node",
    metavar="N|NETWORK=N,...",
    help="NUMA node of the network card, if the machine does not report it; one for each network: ib=1,gbe=0.",
)
confirm_option = click.option(
    "--confirm",
    is_flag=True,
    help="After the study, run experiments that confirm or refute the candidate findings.",
)
confirm_budget_option = click.option(
    "--confirm-budget",
    metavar="DURATION",
    help="Time for these experiments, in addition to the budget of the study; implies --confirm.  "
    "[default: that of the study, else 5m]",
)


def complete_run(_ctx: click.Context, _param: click.Parameter, begun: str) -> "list[str | CompletionItem]":
    """Completions for a shell: ids of runs with this beginning, newest first; else files."""
    from click.shell_completion import CompletionItem

    from assay.model.folders import runs_folder
    from assay.store.folder import run_ids

    found = [each for each in ("last", *reversed(run_ids(runs_folder()))) if each.startswith(begun)]
    return [*found] or [CompletionItem(begun, type="file")]


run_argument = click.argument("run", default="last", required=False, metavar="[RUN]", shell_complete=complete_run)
limit_option = click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    help="A limit from the data sheet, e.g. memory-bandwidth='204.8 GB/s'. Can be given several times.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


#: Characters that a terminal executes or hides: control characters, and those that change the direction of text,
#: with which a name can look like another one.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_COLOURED = re.compile(rf"(?P<colour>\x1b\[[\d;]*m)|{_UNSEEN.pattern}")


def visible(text: str) -> str:
    """The text with such characters replaced by their numbers, as in JSON."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def coloured(page: str) -> str:
    """The page with its colours; other control characters as in `visible`."""
    return _COLOURED.sub(lambda found: found["colour"] or visible(found[0]), page)


def echo(text: object, *, err: bool = False, newline: bool = True) -> None:
    """Print a line, made visible; every command prints by this function or to a `console`."""
    click.echo(visible(str(text)), err=err, nl=newline)


def hand_over(text: str, *, newline: bool = True) -> None:
    """Print text for other programs unchanged; only for a terminal, it is made visible."""
    end = "\n" if newline else ""
    sys.stdout.write((visible(text) if sys.stdout.isatty() else text) + end)


def console(*, stderr: bool = False, markup: bool = False) -> "Console":
    """A rich console that respects NO_COLOR, --color and COLUMNS, and prints visible text."""
    from rich.console import Console, ConsoleDimensions, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Visible(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else segment._replace(text=visible(segment.text))

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError(errno.EPIPE, "nobody reads the output")

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDTH
    shown = Visible(stderr=stderr, highlight=False, soft_wrap=False, width=width, markup=markup, emoji=False)
    shown.size = ConsoleDimensions(max(shown.width, _NARROWEST), shown.height)  # else each line asks the terminal
    return shown


def typed(without: set[str]) -> list[str]:
    """The given options of the current command, as words for another command, without some of them."""
    from click.core import ParameterSource

    context = click.get_current_context()
    words: list[str] = []
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name)) is not ParameterSource.DEFAULT
        value = context.params.get(str(parameter.name))
        if not given or parameter.name in without:
            continue
        if parameter.name == "nodes":
            words += ["--hosts", ",".join(value or ())]
        else:
            for each in value if isinstance(value, tuple) else (value,):
                flag = isinstance(parameter, click.Option) and parameter.is_flag
                words += [parameter.opts[-1]] if flag else [parameter.opts[-1], str(each)]
    return words


def given_options() -> set[str]:
    """Names of the parameters on the command line, without defaults and the configuration."""
    from click.core import ParameterSource

    context = click.get_current_context()
    return {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}


def say(text: str) -> None:
    """Print a sentence to stderr."""
    echo(f"assay: {text}", err=True)


def as_json(value: Any) -> str:  # noqa: ANN401 (any record)
    """The value as indented JSON, made visible."""
    import msgspec

    from assay.model.text import encoded

    return visible(msgspec.json.format(encoded(value)).decode())


def print_json(value: Any) -> None:  # noqa: ANN401 (any record)
    """Print the value as indented JSON to stdout."""
    click.echo(as_json(value))


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
    from assay.cli import settings
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
    import difflib

    near = difflib.get_close_matches(name, _units(), n=1) or sorted(_units())
    unit = _units()[near[0]]
    context = click.get_current_context(silent=True)
    typed = context.command_path if context else "assay show"
    return f"{typed} --limit '{near[0]}={_EXAMPLES.get(unit, f'1 {unit}')}'"


def _units() -> dict[str, str]:
    """Name of each limit that benchmarks declare -> its unit."""
    from assay.model import benchmarks

    declared = (benchmarks.get(name) for name in benchmarks.names())
    return {metric.limit: metric.unit for each in declared for metric in each.metrics if metric.limit}


def write(path: Path, content: str | bytes) -> Path:
    """Write a file named by the user, and return its absolute path."""
    from assay.store import writing

    path = path.absolute()
    with writing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return path


def write_page(run: "Run", page: str, path: Path | None = None) -> Path:
    """Write the report of a run to `path`, by default to `report.html` in the run's directory."""
    folder = Path(run.path)
    if path is not None or not folder.is_dir():
        return write(path or Path(f"{run.info.id}.html"), page)
    from assay.store import replacing

    default = folder.absolute() / "report.html"  # in a run from elsewhere it may be a link
    with replacing(default) as file:
        file.write(page.encode())
    return default
