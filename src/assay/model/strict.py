"""Read TOML files, convert their tables to records, and refuse unknown, missing and wrong keys by name."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

from assay.model.errors import UsageError, hint

Record = TypeVar("Record", bound=msgspec.Struct)


def read(path: Path, what: str, remedy: str) -> dict[str, Any]:
    """The table in a TOML file; UsageError if it cannot be read. `what` is its kind: `study`."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UsageError(f"cannot read {what} '{path}'", why=why, remedy=remedy) from error


def converted(table: Mapping[str, Any], record: type[Record], what: str, path: object, remedy: str) -> Record:
    """The table as a record.

    Args:
        table: table from the TOML file.
        record: wanted type; keys of nested records are checked, too.
        what: kind of file: `study`.
        path: path of the file.
        remedy: where the user can read what is allowed.

    Raises:
        UsageError: an unknown key, with the nearest known one; a missing key, or a value of a wrong type.
    """
    _refuse_unknown(table, record, path, "")
    try:
        return msgspec.convert(dict(table), record)
    except msgspec.ValidationError as error:
        message = re.sub(r" - at `\$\.?(.*)`", r" at '\1'", str(error))
        raise UsageError(f"{what} '{path}' cannot be used", why=message, remedy=remedy) from error


def _refuse_unknown(value: object, kind: Any, path: object, where: str) -> None:  # noqa: ANN401 (a type)
    """Walk the table along the types of the record; the conversion refuses values of a wrong type."""
    inner = get_args(kind)
    if isinstance(value, list):
        for number, each in enumerate(value):
            _refuse_unknown(each, inner[0] if inner else object, path, f"{where.rstrip('.')}[{number}].")
    if not isinstance(value, Mapping):
        return
    known = _fields(kind) if isinstance(kind, type) and issubclass(kind, msgspec.Struct) else {}
    for key, each in value.items():
        if known and key not in known:
            why = hint(key, kind.__struct_fields__)
            raise UsageError(f"unknown key '{where}{key}' in {path}", why=why, remedy=f"$EDITOR {path}")
        of_any = inner[-1] if inner else object
        _refuse_unknown(each, known.get(key, of_any), path, f"{where}{key}.")


@cache
def _fields(record: type[msgspec.Struct]) -> dict[str, Any]:
    """Name -> type: to evaluate the annotations takes longer than all the rest."""
    return get_type_hints(record)
