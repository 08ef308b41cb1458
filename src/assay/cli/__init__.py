"""The commands: one module each, imported only when called. Nothing else prints, prompts or exits."""

import importlib
import os
import sys
from pathlib import Path

import click

from assay import __version__
from assay.cli import settings
from assay.model.errors import AssayError, UsageError

_NOT_COMMANDS = {"__init__", "settings", "output"}
_COMMANDS = {
    path.stem.rstrip("_"): f"assay.cli.{path.stem}"
    for path in sorted(Path(__file__).parent.glob("*.py"))
    if path.stem not in _NOT_COMMANDS
}
_CONTEXT = {"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "ASSAY", "max_content_width": 100}


class _Commands(click.Group):
    """The modules beside this one, by name. A module defines `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Names, sorted."""
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command, its module imported now."""
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(_COMMANDS[cmd_name]).command
        return command


@click.group(cls=_Commands, context_settings=_CONTEXT)
@click.version_option(__version__, "-V", "--version", prog_name="assay")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colour in the terminal; NO_COLOR is kept.",
)
@click.pass_context
def assay(ctx: click.Context, color: str) -> None:
    """Find out what a machine can really do: discover, plan, measure with proven placement, explain.

    Begin with `assay run quick`.
    """
    if color != "auto":
        os.environ.pop("NO_COLOR" if color == "always" else "FORCE_COLOR", None)
        os.environ["FORCE_COLOR" if color == "always" else "NO_COLOR"] = "1"
    ctx.color = {"always": True, "never": False}.get(color)
    ctx.default_map = settings.defaults(assay)


def main() -> None:
    """Run the command line; every failure is what, why and the next command on stderr, and an exit code."""
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: list[str]) -> int:
    try:
        code = assay.main(arguments, prog_name="assay", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except AssayError as error:
        _tell(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("assay: interrupted", err=True)
        return 130
    except BrokenPipeError:  # `assay show last | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        path = f" '{error.filename}'" if error.filename else ""
        _tell(
            UsageError(f"cannot use{path}", why=error.strerror or str(error), remedy="check the path and the disk")
        )
        return 4
    return code if isinstance(code, int) else 0


def _tell(error: AssayError) -> None:
    click.echo(f"assay: {error.what}", err=True)
    if error.why:
        click.echo(f"  why:  {error.why}", err=True)
    if error.remedy:
        click.echo(f"  next: {error.remedy}", err=True)
