"""Configuration: flag > `ASSAY_*` > ./assay.toml > user's file > /etc/assay. Unknown keys are refused by name.

A file has one table per command whose keys are its options, e.g. `[run]` with `budget = "60s"`, and the tables of
`TABLES`, which describe a site. In the environment the same option is `ASSAY_RUN_BUDGET`.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from assay.cli.support.output import say
from assay.model.errors import UsageError, hint

#: Tables other than commands: `[toolchain.NAME]` and `[mpi.NAME]` declare a toolchain and an MPI, `[blas]` names
#: libraries, `[limits]` gives limits of the vendor, `[factor.NAME]` the commands that set the levels of a factor,
#: `[given]` facts of the site that nodes do not report.
TABLES = ("toolchain", "mpi", "blas", "limits", "factor", "given")
#: Variables that do not belong to a command.
VARIABLES = {
    "ASSAY_RUNS": "folder of the runs, ./assay-runs when unset",
    "ASSAY_CACHE": "folder of the builds, the user's cache folder when unset",
    "ASSAY_COLOR": "the option --color",
    "ASSAY_PARENT": "process that native programs end with; set for them by assay run",
    "ASSAY_JOB": "job that a run belongs to; set by assay submit",
    "ASSAY_RUN": "run that a process belongs to, so that it can be found and ended; set by assay run",
}
SYSTEM_FILE = Path("/etc/assay/assay.toml")
#: Files that cannot be read; each is reported once.
_left_out: set[Path] = set()


def files() -> list[Path]:
    """Existing configuration files, that of the highest precedence last."""
    import platformdirs

    user = Path(platformdirs.user_config_dir("assay")) / "assay.toml"
    return [path for path in (SYSTEM_FILE, user, Path("assay.toml")) if _is_file(path)]


def table(name: str) -> dict[str, Any]:
    """A site table merged from all files, e.g. `limits`; files of higher precedence replace single keys."""
    merged: dict[str, Any] = {}
    for path in files():
        values = _read(path).get(name, {})
        if not isinstance(values, dict):
            raise UsageError(f"'{name}' in {path} is not a table", remedy=f"write it as [{name}]")
        merged |= values
    return merged


def defaults(group: click.Group) -> dict[str, Any]:
    """Click's default map from all files and the environment; UsageError names unknown keys."""
    merged: dict[str, dict[str, Any]] = {}
    for path in files():
        for name, values in _read(path).items():
            if name not in TABLES:
                merged.setdefault(name, {}).update(_from_table(group, path, name, values))
    for variable, text in os.environ.items():
        if variable.startswith("ASSAY_") and variable not in VARIABLES:
            name, values = _from_variable(group, variable, text)
            merged.setdefault(name, {}).update(values)
    return merged


def _from_table(group: click.Group, path: Path, name: str, values: object) -> dict[str, Any]:
    commands = group.list_commands(click.Context(group))
    if name not in commands:
        raise _unknown(f"key '{name}' in {path}", name, [*commands, *TABLES], f"$EDITOR {path}")
    if not isinstance(values, dict):
        raise UsageError(
            f"'{name}' in {path} is not a table",
            why="it holds the options of a command",
            remedy=f"write it as [{name}]",
        )
    options = _options(group, name)
    for key in values:
        if key.replace("-", "_") not in options:
            raise _unknown(f"key '{name}.{key}' in {path}", key, options, f"$EDITOR {path}")
    return dict(
        _default(options[key.replace("-", "_")], value, f"'{name}.{key}' in {path}")
        for key, value in values.items()
    )


def _from_variable(group: click.Group, variable: str, text: str) -> tuple[str, dict[str, Any]]:
    """Name and value of a variable; UsageError if it is unknown, because a typing error would have no effect."""
    name, _, key = variable.removeprefix("ASSAY_").lower().partition("_")
    options = _options(group, name)
    if key not in options:
        known = [f"ASSAY_{name}_{option}".upper() for option in options]
        raise _unknown(f"variable '{variable}'", variable, [*known, *VARIABLES], f"unset {variable}")
    return name, dict([_default(options[key], text, f"'{variable}'")])


def _options(group: click.Group, name: str) -> dict[str, click.Option]:
    """The options of a command by their long names, `-` written as `_`; empty if there is no such command."""
    command = group.get_command(click.Context(group), name)
    found = [parameter for parameter in command.params if isinstance(parameter, click.Option)] if command else []
    return {
        spelling.lstrip("-").replace("-", "_"): option
        for option in found
        for spelling in option.opts
        if spelling.startswith("--")
    }


def _default(option: click.Option, value: object, where: str) -> tuple[str, object]:
    """Name and value for click's default map; a repeatable option also accepts several words in one string."""
    if option.multiple:
        words = value.split() if isinstance(value, str) else value if isinstance(value, list) else [value]
        return str(option.name), [_word(each, where) for each in words]
    return str(option.name), value if option.is_flag and isinstance(value, bool) else _word(value, where)


def _word(value: object, where: str) -> str:
    """A value as on the command line."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    shown = {bool: "true or false", list: "a list", dict: "a table"}.get(type(value), "a date")
    raise UsageError(f"{where} is {shown}", why="it must be one value", remedy='write it as KEY = "VALUE"')


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # in a folder without permission
        return True


def _content(path: Path) -> str:
    """The content of a file; empty, with one warning, if it cannot be read."""
    try:
        return path.read_text()
    except OSError as error:
        if path not in _left_out:
            say(f"{path} is left out: {(error.strerror or str(error)).lower()}")
        _left_out.add(path)
        return ""


def _read(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(_content(path))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read '{path}'", why=str(error), remedy=f"correct it, e.g. with $EDITOR {path}"
        ) from error


def _unknown(what: str, key: str, known: Iterable[str], remedy: str) -> UsageError:
    return UsageError(f"unknown {what}", why=hint(key, known), remedy=remedy)
