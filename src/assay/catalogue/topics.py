"""The contents of topics, found by their place: `assay.topics.<topic>.<kind>.<module>`, and by entry points.

A package outside Assay adds a topic by an entry point of the group `assay.topics`: its value is the package with
folders named as the kinds below. The engine asks for a kind and never imports a topic by name.
"""

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Literal

#: The group of entry points by which other packages add topics; also the package of Assay's own topics.
GROUP = "assay.topics"

Kind = Literal[
    "benchmarks",
    "models",
    "rules",
    "limits",
    "members",
    "predictions",
    "profiles",
    "cards",
    "sections",
    "formats",
    "exports",
    "inputs",
    "commands",
    "views",
]


@cache
def packages() -> tuple[str, ...]:
    """The packages of all topics, Assay's own first, each group sorted by name."""
    own = sorted(each.name for each in pkgutil.iter_modules(importlib.import_module(GROUP).__path__))
    return (*(f"{GROUP}.{name}" for name in own), *(_added() if any(map(_may_add, sys.path)) else ()))


def _may_add(folder: str) -> bool:
    """Whether a folder holds a package whose entry points mention the group: to parse them all takes 20 ms."""
    for file in Path(folder).glob("*-info/entry_points.txt"):
        try:
            if GROUP.encode() in file.read_bytes():
                return True
        except OSError:
            continue
    return False


def _added() -> list[str]:
    """The packages that are added by entry points."""
    from importlib.metadata import entry_points  # noqa: PLC0415 (most have none)

    return [each.value for each in sorted(entry_points(group=GROUP), key=lambda each: each.name)]


def folders() -> tuple[str, ...]:
    """The folders of all packages that hold topics: Assay's, and those of others."""
    specs = [importlib.util.find_spec(each.split(".")[0]) for each in packages()]
    return tuple({path: 0 for spec in specs if spec for path in spec.submodule_search_locations or ()})


@cache
def _folders(package: str) -> frozenset[str]:
    """Names of the modules and folders of a topic."""
    return frozenset(each.name for each in pkgutil.iter_modules(importlib.import_module(package).__path__))


@cache
def found(kind: Kind) -> Mapping[str, str]:
    """Name of a module of this kind -> its full name; if two topics have a name, the second is `topic.name`."""
    modules: dict[str, str] = {}
    for package in packages():
        if kind not in _folders(package):
            continue
        folder = importlib.import_module(f"{package}.{kind}")
        for each in pkgutil.iter_modules(folder.__path__):
            name = each.name if each.name not in modules else f"{package.rpartition('.')[2]}.{each.name}"
            modules[name] = f"{folder.__name__}.{each.name}"
    return dict(sorted(modules.items()))


@cache
def paths(kind: Kind) -> tuple[Path, ...]:
    """The folders of this kind in all topics, for files other than modules."""
    folders = (importlib.import_module(f"{each}.{kind}") for each in packages() if kind in _folders(each))
    return tuple(Path(path) for folder in folders for path in folder.__path__)


def each(name: Literal["simulate"]) -> Iterator[ModuleType]:
    """The module of this name of every topic that has one."""
    for package in packages():
        if importlib.util.find_spec(f"{package}.{name}"):
            yield importlib.import_module(f"{package}.{name}")


@cache
def modules(kind: Kind) -> Mapping[str, ModuleType]:
    """Name -> module, of every module of this kind, sorted by name."""
    return {name: importlib.import_module(full) for name, full in found(kind).items()}
