"""The folder of runs, and the names of runs."""

import os
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from assay import __version__, references
from assay.model.errors import AssayError, UsageError
from assay.model.folders import runs_folder
from assay.model.run import RUN_SCHEMA, RunInfo
from assay.store.files import sync_folder, write_errors
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


def new_run(study: str, command: Sequence[str], folder: Path | None = None) -> tuple[Path, RunInfo]:
    """Directory and `run.json` of a run that begins now; its id is sortable by time. Nothing is written.

    Args:
        study: name of the study.
        command: the command line.
        folder: folder of runs; None: `runs_folder()`.
    """
    now = datetime.now(UTC)
    run_id = f"{now:%Y%m%d-%H%M%S}-{study.replace(':', '-')}-{os.urandom(2).hex()}"
    info = RunInfo(RUN_SCHEMA, run_id, study, now.isoformat(), __version__, tuple(command), {}, {}, chained=True)
    return (folder or runs_folder()) / run_id, info


@contextmanager
def beginning(path: Path) -> Generator[None]:
    """Make the directory of a run, and remove it if the run cannot begin.

    Raises:
        UnfitEnvironmentError: the folder cannot be written.
    """
    with write_errors(path):
        path.mkdir(parents=True)
    try:
        yield
        sync_folder(path.parent)
    except AssayError:
        shutil.rmtree(path, ignore_errors=True)
        raise


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
