"""Common parts of the commands that print: terminal, JSON, user limits, the file of the report."""

import errno
import os
import re
import sys
import textwrap
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

from assay.model.folders import runs_folder
from assay.model.node_sets import folded

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from assay.model.run import Run

#: Width of output that is not a terminal, if COLUMNS is not set.
_WIDTH = 100
#: Minimum width: narrower terminals wrap the lines themselves.
_NARROWEST = 40


def complete_run(_ctx: click.Context, _param: click.Parameter, begun: str) -> "list[str | CompletionItem]":
    """Completions for a shell: ids of runs with this beginning, newest first; else files."""
    from click.shell_completion import CompletionItem

    from assay.store.folder import run_ids

    found = [each for each in ("last", *reversed(run_ids(runs_folder()))) if each.startswith(begun)]
    return [*found] or [CompletionItem(begun, type="file")]


run_argument = click.argument("run", default="last", required=False, metavar="[RUN]", shell_complete=complete_run)
JSON: dict[str, Any] = {"is_flag": True, "help": "Print JSON."}
json_option = click.option("--json", "as_json", **JSON)
fail_on_option = click.option(
    "--fail-on",
    type=click.Choice(("problem", "advice")),
    help="Exit 3 if there is a finding of this severity; advice includes problems and candidates.",
)


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


def table(*columns: str, unwrapped: Collection[str] = (), right: Collection[str] = ()) -> "Table":
    """An empty table with a line below its headings; columns fold long words, but not those `unwrapped`."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, show_edge=False)
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in right else "left"
        made.add_column(column, overflow="fold", no_wrap=column in unwrapped, justify=justify)
    return made


def paragraph(
    words: str, console: "Console", lead: "str | Text" = "", *, style: str = "", hang: int | None = None
) -> None:
    """Print a paragraph, wrapped at the width of the terminal.

    Args:
        words: of the paragraph.
        console: where to print.
        lead: what stands before them.
        style: of the words.
        hang: indentation of the further lines; None: the width of `lead`.
    """
    from rich.text import Text

    further = " " * (len(lead) if hang is None else hang)
    lines = textwrap.wrap(
        words,
        console.width,
        initial_indent=" " * len(lead),
        subsequent_indent=further,
        break_on_hyphens=False,
        break_long_words=False,
    )
    first, *others = lines or [""]
    console.print(Text.assemble(lead, (first[len(lead) :], style)), soft_wrap=True)
    for line in others:
        console.print(Text(line, style), soft_wrap=True)


def typed(without: set[str]) -> list[str]:
    """The given options of the current command, as words for another command, without some of them."""
    context = click.get_current_context()
    words: list[str] = []
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name)) is not ParameterSource.DEFAULT
        value = context.params.get(str(parameter.name))
        if not given or parameter.name in without:
            continue
        if parameter.name == "nodes":
            words += ["--hosts", folded(value or ())]
        else:
            for each in value if isinstance(value, tuple) else (value,):
                flag = isinstance(parameter, click.Option) and parameter.is_flag
                words += [parameter.opts[-1]] if flag else [parameter.opts[-1], str(each)]
    return words


def given_options() -> set[str]:
    """Names of the parameters on the command line, without defaults and the configuration."""
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
