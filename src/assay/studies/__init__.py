"""The studies: stored plans that fit any machine, one TOML file each, and users' own by their path."""

import difflib
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from assay.model import topics
from assay.model.errors import UsageError
from assay.model.plan import Measure, Study
from assay.studies import like, scaling

_FOLDER = Path(__file__).parent
#: Studies that are made for something, by the word before the colon.
_KINDS = {"scale": scaling.study, "like": like.study}


def names() -> tuple[str, ...]:
    """Every stored study's name, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def fits_any(name: str) -> bool:
    """Whether a study is Assay's own: what a machine lacks is left out of it."""
    return name in names() or _made(name) is not None


def _made(name: str) -> tuple[str, str] | None:
    """The kind of a study that is made for something, and that: `scale:hpl`; None for all others."""
    kind, colon, of = name.partition(":")
    return (kind, of) if colon and kind in _KINDS else None


def get(name_or_path: str, sweeps: Sequence[str] = ()) -> Study:
    """A stored study by its name, a user's own by the path of its TOML file, or the input file of another program.

    `scale:NAME` is made for a benchmark; `sweeps` say on how many ranks, threads and nodes; `like:NAME` of a
    reference.

    Raises:
        UsageError: no such study or file; the file is no TOML, has an unknown key, or lacks one.
    """
    if made := _made(name_or_path):
        kind, of = made
        return _KINDS[kind](of, sweeps)
    if sweeps:
        raise UsageError(
            f"study '{name_or_path}' is not swept", why="--sweep is for scale:NAME", remedy="assay plan scale:hpl"
        )
    stored = name_or_path in names()
    path = _FOLDER / f"{name_or_path}.toml" if stored else Path(name_or_path)
    if not stored and path.suffix != ".toml":
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


def _of_input(path: Path) -> Study | None:
    """What an input file of another program asks for; None for any other file, or none."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    found = (module.study(text) for module in topics.modules("inputs").values())
    return next(filter(None, found), None)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        raise UsageError(f"cannot read study '{path}'", why=why, remedy="assay list studies") from error


def _convert(table: dict[str, Any], path: Path) -> Study:
    _refuse_unknown(table, Study, path, "")
    measures = table.get("measure", [])
    for number, measure in enumerate(measures if isinstance(measures, list) else []):
        _refuse_unknown(measure, Measure, path, f"measure[{number}].")
    try:
        study = msgspec.convert(table, Study)
    except msgspec.ValidationError as error:
        message = re.sub(r" - at `\$\.?(.*)`", r" at '\1'", str(error))
        raise UsageError(f"study '{path}' cannot be used", why=message, remedy="see docs/studies.md") from error
    if not study.measure:
        raise UsageError(
            f"study '{path}' asks for nothing", why="it has no [[measure]]", remedy="see docs/studies.md"
        )
    return study


def _refuse_unknown(table: Any, record: type[msgspec.Struct], path: Path, where: str) -> None:  # noqa: ANN401 (TOML)
    known = record.__struct_fields__
    for key in table if isinstance(table, dict) else ():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(known)}"
            raise UsageError(f"unknown key '{where}{key}' in {path}", why=hint, remedy=f"$EDITOR {path}")
