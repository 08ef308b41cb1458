"""Configuration: flag > `ASSAY_*` > ./assay.toml > user's config > /etc/assay. Unknown keys are refused by name.

A file holds one table per command whose keys are its options, e.g. `[run]` with `budget = "60s"`, and the tables
of `TABLES`, which describe a site rather than a command.
"""

import tomllib
from pathlib import Path
from typing import Any

import click

from assay.model.errors import UsageError

#: Tables that are no command: `[toolchain.NAME]` declares a toolchain, `[limits]` gives what the vendor promises.
TABLES = ("toolchain", "limits")


def files() -> list[Path]:
    """Configuration files that exist, the one that wins last."""
    import platformdirs

    candidates = [
        Path("/etc/assay/assay.toml"),
        Path(platformdirs.user_config_dir("assay")) / "assay.toml",
        Path("assay.toml"),
    ]
    return [path for path in candidates if path.is_file()]


def table(name: str) -> dict[str, Any]:
    """A site table of all files together, e.g. `limits`; the file that wins replaces single keys."""
    merged: dict[str, Any] = {}
    for path in files():
        merged |= _read(path).get(name, {})
    return merged


def defaults(group: click.Group) -> dict[str, Any]:
    """Click's default map from all files; UsageError names an unknown table or key and its file."""
    merged: dict[str, Any] = {}
    for path in files():
        for name, values in _read(path).items():
            if name in TABLES:
                continue
            command = group.get_command(click.Context(group), name)
            if command is None or not isinstance(values, dict):
                raise _unknown(path, f"[{name}]", group.list_commands(click.Context(group)) + list(TABLES))
            keys = {key.replace("-", "_"): value for key, value in values.items()}
            known = [parameter.name for parameter in command.params if isinstance(parameter, click.Option)]
            for key in keys:
                if key not in known:
                    raise _unknown(path, f"{name}.{key}", [str(option) for option in known])
            merged[name] = merged.get(name, {}) | keys
    return merged


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read '{path}'", why=str(error), remedy=f"mend it, e.g. with $EDITOR {path}"
        ) from error


def _unknown(path: Path, key: str, known: list[str]) -> UsageError:
    import difflib

    near = difflib.get_close_matches(key.rpartition(".")[2].strip("[]"), known, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(known)}"
    return UsageError(f"unknown key '{key}' in {path}", why=hint, remedy=f"$EDITOR {path}")
