"""The declared benchmarks of all topics, by name."""

import contextlib
import importlib
from collections.abc import Mapping
from functools import cache
from typing import Literal

from assay.catalogue import application_files, topics
from assay.model import roles
from assay.model.application import Application
from assay.model.benchmark import Benchmark
from assay.model.declaration import Pattern
from assay.model.errors import UsageError
from assay.model.role_words import Role

#: Benchmarks declared by files of the user and by runs.
_declared: dict[str, Benchmark] = {}


@cache
def names() -> tuple[str, ...]:
    """Every benchmark's name, sorted; applications of users are found by `get`."""
    return tuple(sorted((*topics.found("benchmarks"), *application_files.stored())))


def exists(name: str) -> bool:
    """Whether there is a benchmark of this name, an application of the user's included."""
    return name in names() or name in _declared or name in application_files.of_user()


def get(name: str) -> Benchmark:
    """The declaration; UsageError names those that exist."""
    return _declared.get(name) or _of_catalogue(name) or _of_user(name)


def declare(application: Application) -> Benchmark:
    """Register an application, of a user's file or of a run, as a benchmark of this process.

    Raises:
        UsageError: Assay has a benchmark of this name.
    """
    if application.name in names():
        raise UsageError(
            f"application '{application.name}' has the name of a benchmark of Assay's own",
            why="figures of the two could not be distinguished",
            remedy='give it another one: name = "..."',
        )
    known = _declared.get(application.name)
    if known is None or known.foreign is None or known.foreign.application != application:
        _declared[application.name] = application.benchmark()
        of.cache_clear()
    return _declared[application.name]


def applications() -> dict[str, Application]:
    """Name -> application, of topics and of the user's folder; a file that cannot be read is left out."""
    found: dict[str, Application] = {}
    for name, path in application_files.everywhere():
        with contextlib.suppress(UsageError):
            found[name] = application_files.read(path)
    return dict(sorted(found.items()))


@cache
def _of_catalogue(name: str) -> Benchmark | None:
    """A benchmark of Assay's own; None for any other name."""
    if name in application_files.stored():
        return application_files.read(application_files.stored()[name]).benchmark()
    if name not in names():
        return None
    benchmark: Benchmark = importlib.import_module(topics.found("benchmarks")[name]).benchmark
    return benchmark


def _of_user(name: str) -> Benchmark:
    path = application_files.of_user().get(name)
    if path is None:
        raise UsageError(
            f"there is no benchmark '{name}'",
            why=f"known: {', '.join(names())}",
            remedy="assay list benchmarks",
        )
    return declare(application_files.read(path))


@cache
def message_curves() -> Mapping[str, Literal["", "MPI", "TCP"]]:
    """The benchmarks of the catalogue with curves of messages between two ranks; see `roles.message_curves`."""
    return roles.message_curves(map(get, names()))


@cache
def patterns() -> Mapping[str, Pattern]:
    """Pattern -> its meaning: first those that Assay measures, then those of imported figures."""
    axes = [found for each in names() if (found := get(each).axis("message-pattern"))]
    own = {name: axis.patterns[str(name)] for axis in axes for name in axis.values if name in axis.patterns}
    return {str(name): each for name, each in own.items()} | {
        name: each for axis in axes for name, each in axis.patterns.items() if name not in own
    }


@cache
def measuring(wanted: Role) -> tuple[Benchmark, ...]:
    """The benchmarks that have a metric of this role, by name."""
    every = map(get, names())
    return tuple(each for each in every if any(found.role == wanted for found in each.metrics))


@cache
def probe() -> Benchmark:
    """The benchmark whose hand-overs show the state of the machine around every launch."""
    return measuring("hand-over-time")[0]


@cache
def sentinel() -> Benchmark:
    """The benchmark that declares the fixed work between blocks; the first by name if there are several."""
    return next(each for each in map(get, names()) if each.sentinel)


@cache
def of(name: str) -> Benchmark:
    """The declaration; an empty one for a benchmark of another tool, or of another version."""
    if name in names() or name in _declared:  # no file is read: this is called for every figure
        return get(name)
    return Benchmark(name=name, title=name, memory_bytes=lambda _params, _placement: 0)
