"""The commands: one module each, imported when called. No other code prints, prompts or exits."""

import codecs
import contextlib
import gc
import importlib
import io
import os
import sys
from pathlib import Path
from typing import TextIO

import click

from assay import __version__
from assay.cli.support import answers, opened, settings
from assay.model.answers import Site
from assay.model.errors import AssayError, InterruptedRunError, UnfitEnvironmentError, UsageError

_COMMANDS = {
    path.stem.rstrip("_"): f"assay.cli.{path.stem}"
    for path in sorted(Path(__file__).parent.glob("*.py"))
    if path.stem != "__init__"
}
#: Replacements of characters for terminals with ASCII only.
_PLAIN = {"µ": "u", "·": "-", "≥": ">=", "≤": "<=", "…": "...", "“": '"', "”": '"', "½": "1/2"}
_PLAIN |= {"–": "-", "×": "x"}  # noqa: RUF001 (the ambiguous characters are intended)
_PLAINLY = "assay.plainly"
#: Allocations between two searches for cycles: imports make far more than Python's 700, and almost no cycles.
_ALLOCATIONS = 50_000
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _Commands(click.Group):
    """The modules of this package, and of `commands` in topics, by name. A module defines `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """The names, sorted."""
        return sorted({*_COMMANDS, *answers.commands()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the module of a command and return the command."""
        if cmd_name not in _COMMANDS:
            module = answers.commands().get(cmd_name)
            return answers.command(module) if module else None
        command: click.Command = importlib.import_module(_COMMANDS[cmd_name]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of the first word; UsageError names the nearest one, or all."""
        if args[0].startswith("-") or args[0] in _COMMANDS:
            return super().resolve_command(ctx, args)
        import difflib

        known = self.list_commands(ctx)
        if args[0] in known:
            return super().resolve_command(ctx, args)
        near = difflib.get_close_matches(args[0], known, n=1)
        raise UsageError(
            f"there is no command '{args[0]}'",
            why=f"known: {', '.join(known)}",
            remedy=f"assay {near[0]} --help" if near else "assay --help",
        )


@click.group(cls=_Commands, context_settings=_CONTEXT)
@click.version_option(__version__, "-V", "--version", prog_name="assay")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    envvar="ASSAY_COLOR",
    show_default=True,
    help="Colour in the terminal; NO_COLOR is respected.",
)
@click.pass_context
def assay(ctx: click.Context, color: str) -> None:
    """Find out what a machine can do: discover, plan, measure with proven placement, explain.

    Start with `assay run quick`.
    """
    if color != "auto":
        os.environ.pop("NO_COLOR" if color == "always" else "FORCE_COLOR", None)
        os.environ["FORCE_COLOR" if color == "always" else "NO_COLOR"] = "1"
    ctx.color = {"always": True, "never": False}.get(color)
    ctx.default_map = settings.defaults(assay)
    ctx.obj = Site(lambda: opened.given_limits(()))


def main() -> None:
    """Run the command line; a failure prints what, why and the next command to stderr, and sets an exit code."""
    gc.set_threshold(_ALLOCATIONS)
    codecs.register_error(_PLAINLY, _plain)
    if sys.stderr is None:  # closed, as by `2>&-`
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 (until the end)
    if sys.stdout is None:
        _tell(UnfitEnvironmentError("standard output is closed", remedy="assay ... > FILE"), [])
        sys.exit(UnfitEnvironmentError.exit_code)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors != "surrogateescape":
            stream.reconfigure(errors=_PLAINLY)
    code = _run(sys.argv[1:])
    for each in filter(None, (sys.__stdout__, sys.__stderr__)):
        _mute_broken(each)
    gc.freeze()  # else Python searches all imported objects for cycles again: a seventh of `assay show`
    sys.exit(code)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that the terminal does not have."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


def _run(arguments: list[str]) -> int:
    screen = sys.stdout
    try:
        code = assay.main(arguments, prog_name="assay", standalone_mode=False)
        screen.flush()  # report a closed pipe or a full disk now, not at the very end
    except BrokenPipeError:
        return 0  # `assay show last | head`
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except SystemExit:
        if sys.stdout is screen:
            raise
        return 0  # click found a closed pipe and replaced stdout by a silent one
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (no traceback ever reaches a user)
        explained = _explained(error)
        with contextlib.suppress(OSError):  # a terminal that was closed
            _tell(explained, arguments)
        return explained.exit_code
    return code if isinstance(code, int) else 0


def _mute_broken(stream: TextIO) -> None:
    """Discard output to a closed pipe or a full disk; else Python prints an error at its end."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _explained(error: BaseException) -> AssayError:
    """Any failure as an error for users."""
    match error:
        case AssayError():
            return error
        case click.Abort() | KeyboardInterrupt():
            return InterruptedRunError("interrupted")
        case click.ClickException():
            return _usage(error)
        case OSError():
            return _unfit(error)
    return _internal(error)


def _usage(error: click.ClickException) -> UsageError:
    """An error of click as an error for users."""
    path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "assay"
    what = error.format_message().rstrip(".")
    return UsageError(what[:1].lower() + what[1:], remedy=f"{path} --help")


def _unfit(error: OSError) -> UnfitEnvironmentError:
    path = f"'{error.filename}'" if error.filename else "a file, or the output"
    return UnfitEnvironmentError(
        f"cannot use {path}", why=error.strerror or str(error), remedy="check the path, its rights and the disk"
    )


def _internal(error: BaseException) -> AssayError:
    """An error in Assay: the traceback goes to a file for a report."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="assay-error-", suffix=".log", delete=False) as log:
        log.write(f"assay {__version__}, Python {sys.version}\n{sys.argv}\n\n")
        traceback.print_exception(error, file=log)
    return AssayError(
        f"internal error, {type(error).__name__}: {error}",
        why="this is an error in Assay; runs keep every launch that has ended",
        remedy=f"report it with {log.name}",
    )


def _tell(error: AssayError, arguments: list[str]) -> None:
    from assay.cli.support.output import echo

    remedy = error.remedy
    if not remedy and isinstance(error, UsageError):
        named = next((word for word in arguments if word in _COMMANDS or word in answers.commands()), "")
        remedy = " ".join(filter(None, ("assay", named, "--help")))
    echo(f"assay: {error.what}", err=True)
    if error.why:
        echo(f"  why:  {error.why}", err=True)
    if remedy:
        echo(f"  next: {remedy}", err=True)
