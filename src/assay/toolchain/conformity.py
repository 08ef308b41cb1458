"""Whether the programs of a package measure what its declarations say."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import msgspec

from assay.catalogue import benchmarks, declaration_files, topics
from assay.model import other_programs
from assay.model.declaration import Declaration
from assay.model.errors import AssayError, UsageError
from assay.model.record import Header, Series, Verdict, decode_record
from assay.model.toolchain import Build

#: Sampling of the case that is tried, in seconds, and how long a program may take for it.
_SECONDS, _MOST_SECONDS = "0.02", 120
_PROGRAM, _DECLARATION = ".cpp", ".json"
_SHARED = "shared"
_STARTER = "start"


class Builder(Protocol):
    """Builds programs, with an MPI if one of them passes messages."""

    def __call__(self, programs: frozenset[str], *, by_mpi: bool) -> Build:
        """The build with at least these programs."""


class Conformity(msgspec.Struct, frozen=True):
    """How a benchmark of a package was checked.

    Attributes:
        benchmark: name.
        problems: what is wrong, a sentence each; empty if nothing is.
        tried: whether its program measured a case; programs of several ranks, and those that need devices or a
            folder, are only asked to describe themselves.
    """

    benchmark: str
    problems: tuple[str, ...]
    tried: bool = False


def package_of(word: str) -> str:
    """The package of a topic, by its name as installed (`assay-fill`), as imported, or as a topic; else empty."""
    wanted = word.replace("-", "_")
    return next((name for name in topics.packages() if wanted in {name, name.rpartition(".")[2]}), "")


def check(package: str, build: Builder) -> tuple[Conformity, ...]:
    """Check every benchmark of a package.

    Args:
        package: as `package_of` returns it.
        build: builds programs.

    Raises:
        UsageError: a program has no declaration, a declaration no program, or a file cannot be used; each by name.
        UnfitEnvironmentError: the programs cannot be built.
    """
    _require_pairs(package)
    names = _benchmarks(package)
    declared = {name: benchmarks.get(name).declaration for name in names}
    native = {name: one for name, one in declared.items() if _file(name)}
    by_mpi = any(one.launcher == "mpi" for one in native.values())
    made = build(frozenset(one.program for one in native.values()), by_mpi=by_mpi)
    return tuple(_conformity(one, made) for one in native.values())


def _benchmarks(package: str) -> tuple[str, ...]:
    """Names of the benchmarks that a package declares."""
    prefix = f"{package}.benchmarks."
    return tuple(name for name, module in topics.found("benchmarks").items() if module.startswith(prefix))


def _file(name: str) -> Path | None:
    """The file of a declaration beside a program; None for a program of others, which Assay does not build."""
    file = declaration_files.place(name)
    return file if file.with_suffix(_PROGRAM).is_file() else None


def _folders(package: str) -> Iterator[Path]:
    own = package.removeprefix(f"{topics.GROUP}.")
    if own != package:
        yield declaration_files.native() / "benchmarks" / own
        return
    for place in importlib.import_module(package).__path__:
        yield Path(place) / "native"


def _require_pairs(package: str) -> None:
    """UsageError for a program, a declaration or a benchmark that comes without the others."""
    names = frozenset(_benchmarks(package))
    programs, files = (
        frozenset(file.stem for folder in _folders(package) for file in folder.glob(f"*{kind}")) - {_SHARED}
        for kind in (_PROGRAM, _DECLARATION)
    )
    # A program of others is started by Assay's starter: its declaration has no program beside it.
    started = {name for name in files & names if declaration_files.declaration(name).program == _STARTER}
    for name in sorted((programs ^ (files - started)) | (files ^ names)):
        parts = {f"native/{name}{_DECLARATION}": files, f"native/{name}{_PROGRAM}": programs}
        parts[f"benchmarks/{name}.py"] = names
        raise UsageError(
            f"package '{package}' ships '{name}' apart",
            why="it lacks " + " and ".join(part for part, having in parts.items() if name not in having),
            remedy="put them into the package, and into its wheel",
        )


def _conformity(declared: Declaration, build: Build) -> Conformity:
    """Check one benchmark by its program."""
    if declared.program in build.absent:
        return Conformity(declared.name, (f"its program is left out: {build.absent[declared.program]}",))
    program = build.programs.get(declared.program)
    if program is None:
        return Conformity(declared.name, (f"the build has no program '{declared.program}'",))
    problems = tuple(_described(declared, program))
    alone = declared.launcher == "direct" and declared.min_cpus == 1 and not declared.needs
    if problems or not alone or declared.devices or declared.folder:
        return Conformity(declared.name, problems)
    return Conformity(declared.name, tuple(_measured(declared, program)), tried=True)


def _described(declared: Declaration, program: str) -> Iterator[str]:
    """Members in which `--describe` and the file differ."""
    stated: dict[str, Any] = declaration_files.resolved(declaration_files.place(declared.name))
    try:
        described = msgspec.json.decode(_output(program, "--describe"), type=dict[str, Any])
    except (AssayError, msgspec.MsgspecError) as error:
        yield f"{Path(program).name} --describe prints no declaration: {error}"
        return
    described.pop("schema", None)
    for member in sorted(stated.keys() | described.keys()):
        if stated.get(member) != described.get(member):
            yield f"the program declares {member} {described.get(member)!r}, its file {stated.get(member)!r}"


def _measured(declared: Declaration, program: str) -> Iterator[str]:
    """How the records of a short case differ from the declaration."""
    try:
        records = list(map(decode_record, _output(program, "--seconds", _SECONDS).encode().splitlines()))
    except AssayError as error:
        yield f"{error.what}: {error.why}"
        return
    header = next((record for record in records if isinstance(record, Header)), None)
    if header is None:
        yield "it writes no header"
        return
    if (axes := {axis.name for axis in declared.axes}) != header.params.keys():
        yield f"its header has the axes {', '.join(header.params)}, declared are {', '.join(sorted(axes))}"
    if (kernels := {record.kernel for record in records if isinstance(record, Series)}) != set(declared.kernels):
        yield f"it measured {', '.join(sorted(kernels)) or 'nothing'}, declared are {', '.join(declared.kernels)}"
    yield from _unstated_work(declared, header)
    if not any(isinstance(record, Verdict) and record.passed for record in records):
        yield "its own check of the results did not pass"


def _unstated_work(declared: Declaration, header: Header) -> Iterator[str]:
    """Metrics whose work the program does not state."""
    for kernel in declared.kernels:
        for metric in declared.metrics_of(kernel, header.params):
            if metric.work and not header.work.get(kernel, {}).get(metric.work):
                yield f"it states no work in {metric.work} for {kernel}, of which {metric.name} is the rate"


def _output(program: str, *words: str) -> str:
    """Standard output of a program; AssayError with its last words if it fails."""
    name = f"{Path(program).name} {' '.join(words)}"
    done = other_programs.outcome((program, *words), _MOST_SECONDS)
    if done is None:
        raise AssayError(f"{name} failed", why=f"it did not end within {_MOST_SECONDS} s")
    if done.returncode:
        why = "; ".join(map(str.strip, done.stderr.splitlines())) or f"it ended with exit code {done.returncode}"
        raise AssayError(f"{name} failed", why=why)
    return done.stdout
