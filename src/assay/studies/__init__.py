"""Studies: stored requests that fit any machine, one TOML file each, and users' own by their path.

An application is also a study: of itself, at its usual placements.
"""

import difflib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from assay.catalogue import application_files, benchmarks, topics
from assay.model import strict
from assay.model.errors import UsageError
from assay.model.plan import Measure, Study
from assay.studies import beside, like, scaling

_FOLDER = Path(__file__).parent
#: Generated studies: the word before the colon -> function that makes the study.
_KINDS = {"scale": scaling.study, "like": like.study, "beside": beside.study}


@cache
def names() -> tuple[str, ...]:
    """Every stored study's name, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def fits_any(name: str) -> bool:
    """Whether a study is Assay's own, from which cases that a machine lacks are left out."""
    return name in names() or name in application_files.stored() or _made(name) is not None


def _made(name: str) -> tuple[str, str] | None:
    """Kind and subject of a generated study: `scale:hpl`; None for all others."""
    kind, colon, subject = name.partition(":")
    return (kind, subject) if colon and kind in _KINDS else None


def get(name_or_path: str, sweeps: Sequence[str] = ()) -> Study:
    """A stored study by its name, a user's own by the path of its TOML file, or another program's input file.

    `scale:NAME` is for a benchmark or the file of an application, with `sweeps` for numbers of ranks, threads and
    nodes; `like:NAME` repeats a reference; `beside:NAME` measures other programs and
    Assay's of the same.

    Raises:
        UsageError: no such study or file; the file is not TOML, has an unknown key, or lacks one.
    """
    if made := _made(name_or_path):
        kind, subject = made
        application = _application(subject)
        return _KINDS[kind](application.measure[0].benchmark if application else subject, sweeps)
    if sweeps:
        raise UsageError(
            f"study '{name_or_path}' is not swept", why="--sweep is for scale:NAME", remedy="assay plan scale:hpl"
        )
    if name_or_path in names():
        return _stored(name_or_path)
    if application := _application(name_or_path):
        return application
    path = Path(name_or_path)
    if path.suffix != ".toml":
        if study := _of_input(path):
            return study
        near = difflib.get_close_matches(name_or_path, names(), n=1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise UsageError(
            f"there is no study '{name_or_path}'",
            why=f"{hint}known: {', '.join(names())}; or the path of a .toml file or of an HPL.dat",
            remedy=f"assay plan {near[0]}" if near else "assay list studies",
        )
    return _convert(_read(path), path)


@cache
def _stored(name: str) -> Study:
    path = _FOLDER / f"{name}.toml"
    return _convert(_read(path), path)


def _application(name_or_path: str) -> Study | None:
    """The study of an application, by its name or by the path of its file; None if there is none."""
    path = Path(name_or_path)
    if path.suffix == ".toml":
        table = _read(path)
        if not application_files.is_application(table):
            return None
        declared = application_files.of_table(table, path)
        benchmarks.declare(declared)
    else:
        known = application_files.stored() | application_files.of_user()
        foreign = benchmarks.get(name_or_path).foreign if name_or_path in known else None
        if foreign is None or foreign.application is None:
            return None
        declared = foreign.application
    question = f"How much is it, and at which placement: {declared.measures}?"
    measure = Measure(declared.name, declared.usual_placements)
    return Study(declared.title, question, (measure,), declared.launches, precision=0.02)


def _of_input(path: Path) -> Study | None:
    """The study for another program's input file; None for any other file, or without one."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    found = (module.study(text) for module in topics.modules("inputs").values())
    return next(filter(None, found), None)


def _read(path: Path) -> dict[str, Any]:
    return strict.read(path, "study", "assay list studies")


def _convert(table: dict[str, Any], path: Path) -> Study:
    study = strict.converted(table, Study, "study", path, "see docs/studies.md")
    if not study.measure:
        raise UsageError(
            f"study '{path}' asks for nothing", why="it has no [[measure]]", remedy="see docs/studies.md"
        )
    return study
