"""The folder of runs, and the names of runs."""

from pathlib import Path

import msgspec

from assay import references
from assay.model.errors import UsageError
from assay.model.folders import runs_folder
from assay.store.packed import is_packed

_STAMP = 15  # 20261120-143000


class Begun(msgspec.Struct):
    """The parts of `run.json` that every version has.

    Attributes:
        started: ISO time, UTC.
        environment: recorded environment variables.
    """

    started: str = ""
    environment: dict[str, str] = {}


def run_ids(folder: Path) -> list[str]:
    """Runs in the folder, oldest first. A directory without run.json is not a run."""
    if not folder.is_dir():
        return []
    names = [path.parent.name for path in folder.glob("*/run.json")]
    return sorted(names, key=lambda name: (name[:_STAMP], begun(folder / name).started, name))


def typed(run: Path) -> str:
    """A run as a user types it: its id if it is in the default folder, else its path."""
    return run.name if run.parent == runs_folder() else str(run)


def find(reference: str, folder: Path | None = None) -> Path:
    """Directory of a run by id, unique prefix, path or `last` (the newest run); a reference by its name.

    A packed run is found by the path of its file.

    Raises:
        UsageError: there is none, or the prefix fits several; the error names the existing ones.
    """
    if (Path(reference) / "run.json").is_file() or is_packed(Path(reference)):
        return Path(reference)
    if reference in references.names():
        return references.path(reference)
    folder = folder or runs_folder()
    ids = run_ids(folder)
    if not ids:
        raise UsageError(
            f"there is no run in '{folder}'", why="nor a reference of this name", remedy="assay run quick"
        )
    if reference == "last":
        return folder / ids[-1]
    matching = [run_id for run_id in ids if run_id.startswith(reference)]
    if reference in matching or len(matching) == 1:
        return folder / (reference if reference in matching else matching[0])
    if matching:
        raise UsageError(
            f"'{reference}' fits {len(matching)} runs",
            why=_first_ids(matching),
            remedy=f"name one of them, e.g. assay show {typed(folder / matching[-1])}",
        )
    raise UsageError(
        f"there is no run '{reference}' in '{folder}'", why=f"there are: {_first_ids(ids)}", remedy="assay list"
    )


def _first_ids(ids: list[str]) -> str:
    shown = ids[-10:]
    return ", ".join(shown) + (f" and {len(ids) - len(shown)} more" if len(ids) > len(shown) else "")


def begun(path: Path) -> Begun:
    """When and how the run in a directory began; empty if its run.json cannot be read."""
    try:
        return msgspec.json.decode((path / "run.json").read_bytes(), type=Begun)
    except (OSError, msgspec.MsgspecError):
        return Begun()


_PREDICTION = b'"type":"prediction"'


def predicting(folder: Path) -> tuple[Path, ...]:
    """Runs in the folder that hold a prediction, oldest first."""
    runs = (folder / name for name in run_ids(folder))
    return tuple(run for run in runs if _holds_one(run / "records.jsonl"))


def _holds_one(records: Path) -> bool:
    try:
        with records.open("rb") as lines:
            return any(line.startswith(b"{" + _PREDICTION) for line in lines)
    except OSError:
        return False
