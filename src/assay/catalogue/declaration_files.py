"""Declarations as files: `native/benchmarks/<topic>/<name>.json`, and `native/<name>.json` in packages of others.

A record with `like` takes the members of the shared record of that name, and its own in their place. `shared.json`
has the shared records, beside the declaration or in Assay's `native/benchmarks`.
"""

import importlib
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from assay.catalogue import topics
from assay.model.declaration import Declaration
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.strict import converted

_SHARED = "shared.json"
_PAGE = "docs/adding-a-benchmark.md"


def native() -> Path:
    """The folder `native`: of the checkout of this package, else inside the installed package.

    Raises:
        UnfitEnvironmentError: the installation lacks it.
    """
    package = Path(__file__).resolve().parents[1]
    for candidate in (package.parents[1] / "native", package / "native"):
        if (candidate / "CMakeLists.txt").is_file():
            return candidate
    raise UnfitEnvironmentError(
        "the sources of the native programs are missing",
        why=f"neither {package.parents[1]} nor {package} has a folder 'native'",
        remedy="install Assay again, or run it from a checkout",
    )


def further_folders() -> tuple[Path, ...]:
    """Folders `native` of topics in other packages: one program per source file, and the declarations."""
    added = (package for package in topics.packages() if not package.startswith(f"{topics.GROUP}."))
    folders = (Path(place) / "native" for package in added for place in importlib.import_module(package).__path__)
    return tuple(folder for folder in folders if folder.is_dir())


@cache
def declaration(name: str) -> Declaration:
    """The declaration of this name.

    Raises:
        UsageError: there is no such file, or it is not valid: an unknown or missing key is named.
    """
    return read(place(name))


def declared(name: str) -> dict[str, Any]:
    """The fields of a declaration, for `Benchmark(**declared("stream"), memory_bytes=...)`."""
    record = declaration(name)
    return {field: getattr(record, field) for field in Declaration.__struct_fields__}


def resolved(file: Path) -> dict[str, Any]:
    """The record in a file with the shared records that it names, as the program prints it by `--describe`."""
    record = _content(file)
    for kind in ("axes", "metrics"):
        if kind in record:
            record[kind] = [_resolved(entry, kind, file) for entry in record[kind]]
    for kind in ("work", "parts"):
        if kind in record:
            record[kind] = {part: _resolved(amounts, kind, file) for part, amounts in record[kind].items()}
    return record


def read(file: Path) -> Declaration:
    """The declaration in a file; UsageError if it is not valid."""
    record = resolved(file)
    made = converted(record, Declaration, "declaration", file, _PAGE)
    if made.name != file.stem:
        raise UsageError(f"{file} declares '{made.name}'", why="a file has the name of its benchmark")
    return made


def files() -> tuple[Path, ...]:
    """Every declaration: Assay's own, then those of other packages."""
    own = sorted((native() / "benchmarks").glob("*/*.json"))
    added = (file for folder in further_folders() for file in sorted(folder.glob("*.json")))
    return tuple(file for file in (*own, *added) if file.name != _SHARED)


@cache
def _by_name() -> dict[str, Path]:
    return {file.stem: file for file in reversed(files())}


def place(name: str) -> Path:
    """The file of a declaration; UsageError if there is none."""
    if name not in _by_name():
        raise UsageError(
            f"benchmark '{name}' has no declaration",
            why=f"no folder 'native' has a file {name}.json",
            remedy=_PAGE,
        )
    return _by_name()[name]


def _content(file: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise UsageError(f"declaration '{file}' cannot be used", why=str(error), remedy=_PAGE) from error


@cache
def _shared(folder: Path) -> dict[str, Any]:
    return _content(folder / _SHARED) if (folder / _SHARED).is_file() else {}


def _resolved(entry: dict[str, Any], kind: str, file: Path) -> dict[str, Any]:
    if "like" not in entry:
        return entry
    own = dict(entry)
    name = own.pop("like")
    for folder in (file.parent, native() / "benchmarks"):
        if (base := _shared(folder).get(kind, {}).get(name)) is not None:
            return {**base, **own}
    raise UsageError(f"{file} has '{name}' in 'like'", why=f"no {_SHARED} has it among its {kind}", remedy=_PAGE)
