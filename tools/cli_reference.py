"""The reference of the command line, from the commands' own help: tools/cli_reference.py > docs/cli.md."""

from collections.abc import Iterator

import click

from assay import cli

HEAD = """# Command line

Written by `tools/cli_reference.py` from `--help` of every command; a test holds the two equal.

Results go to stdout, everything else to stderr. Exit codes: 0 ok; 1 a measurement failed; 2 usage; 3 a threshold
was passed; 4 this environment cannot do it; 5 partial; 130 interrupted. RUN is an id or a unique prefix of one, a
path, or `last`."""


def main() -> None:
    """Print the page."""
    print("\n\n".join([HEAD, *sections(cli.assay, "assay", 2)]))


def sections(command: click.Command, name: str, level: int) -> Iterator[str]:
    """A section for the command, then one for each that it contains."""
    context = click.Context(command, info_name=name, terminal_width=100, help_option_names=["-h", "--help"])
    yield f"{'#' * level} {name}\n\n```text\n{command.get_help(context).rstrip()}\n```"
    if isinstance(command, click.Group):
        for word in command.list_commands(context):
            inner = command.get_command(context, word)
            if inner:
                yield from sections(inner, f"{name} {word}", level)


if __name__ == "__main__":
    main()
