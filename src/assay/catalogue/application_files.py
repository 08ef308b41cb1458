"""Find and read declarations of applications: in topics, in the user's folder, and in files that a user names."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from assay.catalogue import topics
from assay.model import strict
from assay.model.application import Application
from assay.model.application_faults import refuse_faults
from assay.model.errors import UsageError

#: The table that distinguishes an application from a study.
TABLE = "application"
_REMEDY = "see docs/applications.md"


@cache
def stored() -> dict[str, Path]:
    """Name -> file of each application of a topic, in its folder of benchmarks."""
    found = (path for folder in topics.paths("benchmarks") for path in sorted(folder.glob("*.toml")))
    return {path.stem: path for path in found}


def of_user() -> dict[str, Path]:
    """Name -> file of each application in the user's folder."""
    import platformdirs  # noqa: PLC0415 (most commands need none of it)

    folder = Path(platformdirs.user_config_dir("assay")) / "applications"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def is_application(table: dict[str, Any]) -> bool:
    """Whether a TOML file declares an application (else a study)."""
    return TABLE in table


def read(path: Path) -> Application:
    """Read the declaration in a file.

    Raises:
        UsageError: it cannot be read; a key is unknown; a pattern or a placeholder is wrong.
    """
    return of_table(strict.read(path, "application", "assay list applications"), path)


def of_table(table: dict[str, Any], path: Path) -> Application:
    """The declaration in a table that was read from `path`."""
    for key in table:
        if key != TABLE:
            raise UsageError(
                f"unknown key '{key}' in {path}", why=f"all of it stands in [{TABLE}]", remedy=f"$EDITOR {path}"
            )
    application = strict.converted(table, _File, "application", path, _REMEDY).application
    refuse_faults(application, path)
    inputs = {
        name: msgspec.structs.replace(each, file=str(path.resolve().parent / each.file)) if each.file else each
        for name, each in application.inputs.items()
    }
    return msgspec.structs.replace(application, inputs=inputs, name=application.name or path.stem)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    application: Application


def everywhere() -> Iterator[tuple[str, Path]]:
    """Name and file of each application of a topic or of the user's folder."""
    yield from (stored() | of_user()).items()


def named(name: str) -> Application:
    """The application with this name, or in this file.

    Raises:
        UsageError: there is none, or its file is wrong.
    """
    if Path(name).suffix == ".toml":
        return read(Path(name))
    known = dict(everywhere())
    if name not in known:
        raise UsageError(
            f"there is no application '{name}'",
            why=f"known: {', '.join(known)}; or the path of a .toml file",
            remedy="assay list applications",
        )
    return read(known[name])
