"""`assay list`: runs, studies, benchmarks, views, what is installed, and the words of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.support import answers, opened, output, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_NOTHING = {
    "mpis": "here; next: module load openmpi, or pip install 'assay[mpi]'",
    "blas": "here; next: module load openblas, or pip install 'assay[blas]'",
}
_MINUTE = 16  # 2026-11-20T14:30


def _runs(folder: str | None) -> list[dict[str, object]]:
    from assay import store

    listed = store.listing(Path(folder) if folder else None)
    return [
        {
            "id": one.id,
            "status": one.status,
            "launches": f"{one.launches}/{one.planned}",
            "started": one.started[:_MINUTE].replace("T", " "),
            "machine": one.machine,
            "title": one.title,
            **(
                {"levels": " ".join(f"{name}={level}" for name, level in one.levels.items())}
                if any(each.levels for each in listed)
                else {}
            ),
        }
        for one in listed
    ]


def _studies() -> list[dict[str, object]]:
    from assay import studies

    stored = {name: studies.get(name) for name in studies.names()}
    return [{"name": name, "title": study.title, "question": study.question} for name, study in stored.items()]


def _benchmarks() -> list[dict[str, object]]:
    from assay.catalogue import benchmarks

    known = [benchmarks.get(name) for name in benchmarks.names()]
    return [{"name": one.name, "title": one.title, "measures": one.measures} for one in known]


def _applications() -> list[dict[str, object]]:
    from assay import toolchain
    from assay.catalogue import benchmarks

    return [
        {
            "name": name,
            "title": one.title,
            "parallel": one.parallel,
            "here": "no" if toolchain.applications.absent(one) else "yes",
            "beside": f"{one.beside.benchmark} (beside:{one.beside.suite or name})" if one.beside else "",
        }
        for name, one in benchmarks.applications().items()
    ]


def _references() -> list[dict[str, object]]:
    from assay import references

    known = {name: references.get(name) for name in references.names()}
    return [
        {
            "name": name,
            "machine": one.machine,
            "figures": sum(len(table.figures) for table in one.tables),
            "source": one.sources[0].name,
        }
        for name, one in known.items()
    ]


def _placements() -> list[dict[str, object]]:
    from assay.plan import placement_words as known

    kinds = {"cores or ranks": known.WORDS, "nodes": known.NODE_WORDS, "memory": known.MEMORY_WORDS}
    return [
        {"word": word, "of": kind, "meaning": meaning}
        for kind, words in kinds.items()
        for word, meaning in words.items()
    ]


def _toolchains() -> list[dict[str, object]]:
    from assay import toolchain

    declared = settings.table("toolchain")
    mpis = settings.table("mpi")
    found = [*toolchain.find(), *(toolchain.get(name, declared, mpis) for name in declared)]
    return [
        {"name": one.name, "compiler": one.compiler, "version": one.version, "flags": " ".join(one.flags)}
        for one in found
    ]


def _mpis() -> list[dict[str, object]]:
    from assay import toolchain

    return [
        {"name": one.name, "kind": one.kind, "compiler": one.compiler, "launcher": one.launcher}
        for one in toolchain.find_mpis(settings.table("mpi"))
    ]


def _blas() -> list[dict[str, object]]:
    from assay import toolchain

    found = toolchain.find_libraries("blas", settings.table("blas"))
    return [{"name": one.name, "file": one.file, "source": one.source} for one in found]


def _print(rows: Sequence[dict[str, object]], but: str = "") -> None:
    if not rows:
        return
    names = [name for name in rows[0] if name != but]
    table = output.table(*names, unwrapped=("id", "name"))
    for row in rows:
        table.add_row(*(str(row[name]) for name in names))
    output.console().print(table)


#: What can be listed -> its rows, from the folder of runs that a user names.
_LISTED: Mapping[str, Callable[[str | None], list[dict[str, object]]]] = {
    "runs": _runs,
    "studies": lambda _: _studies(),
    "benchmarks": lambda _: _benchmarks(),
    "applications": lambda _: _applications(),
    "references": lambda _: _references(),
    "placements": lambda _: _placements(),
    "toolchains": lambda _: _toolchains(),
    "mpis": lambda _: _mpis(),
    "blas": lambda _: _blas(),
    "views": lambda _: [{"name": name, "title": view.title} for name, view in answers.views().items()],
}


@click.command()
@click.argument("what", type=click.Choice(list(_LISTED)), default="runs")
@opened.runs_option
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(what: str, runs: str | None, *, as_json: bool) -> None:
    """List runs, studies, benchmarks, applications or what is installed.

    The newest run comes last. References are published systems that come with Assay; placements are the words
    by which a study places a benchmark; views are pages over all runs, for `assay show`.
    """
    listed = _LISTED[what](runs)
    mpis = _mpis() if what == "toolchains" else []
    if as_json:
        output.print_json({"schema": 1, what: listed} | ({"mpis": mpis} if what == "toolchains" else {}))
        return
    if not listed:
        output.say(f"no {what} {_NOTHING.get(what, 'yet; next: assay run quick')}")
    _print(listed, but="title" if what == "studies" else "")  # the names repeat the titles
    if mpis:
        output.echo("\neach of them with each MPI, as gcc/mpich:")
        _print(mpis)
