"""An SQLite index of the folder of runs. It only repeats data of the directories, and may be deleted."""

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from assay.model.errors import AssayError
from assay.model.folders import runs_folder
from assay.store.files import stamp
from assay.store.folder import run_ids
from assay.store.reading import load, sources

_TABLE = "CREATE TABLE IF NOT EXISTS runs (id TEXT PRIMARY KEY, stamp TEXT, listed BLOB)"


class Listed(msgspec.Struct, frozen=True):
    """One line of `assay list`.

    Attributes:
        id: id of the run.
        study: name of the study.
        title: title of the study.
        machine: machine that was measured.
        started: ISO time, UTC.
        status: `complete`, `cut`, `interrupted`; `damaged` if launches cannot be read any more; `unfinished` while
            it runs or if it was killed; else the error.
        launches: launches that were made, without repeats.
        planned: launches of the plan.
        levels: of the whole run; see Plan.
    """

    id: str
    study: str
    title: str
    machine: str
    started: str
    status: str
    launches: int
    planned: int
    levels: dict[str, str] = {}


def listing(folder: Path | None = None) -> tuple[Listed, ...]:
    """Every run of the folder, oldest first. Only runs that changed since the last call are read."""
    folder = folder or runs_folder()
    if not folder.is_dir():
        return ()
    path = folder / "index.sqlite"
    try:
        return _listing(folder, str(path))
    except sqlite3.Error:
        pass
    try:
        path.unlink(missing_ok=True)
        return _listing(folder, str(path))
    except (sqlite3.Error, OSError):  # the folder is read-only, or has no locks
        return _listing(folder, ":memory:")


def _listing(folder: Path, database: str) -> tuple[Listed, ...]:
    with closing(sqlite3.connect(database, timeout=1)) as index, index:
        index.execute(_TABLE)
        known = {row[0]: row[1:] for row in index.execute("SELECT id, stamp, listed FROM runs")}
        ids = run_ids(folder)
        listed = {run_id: _indexed(index, folder / run_id, known.get(run_id)) for run_id in ids}
        index.executemany("DELETE FROM runs WHERE id = ?", [(run_id,) for run_id in known.keys() - set(ids)])
    return tuple(listed[run_id] for run_id in ids)


def _indexed(index: sqlite3.Connection, path: Path, known: tuple[str, bytes] | None) -> Listed:
    now = stamp(sources(path))
    if known and known[0] == now:
        try:
            return msgspec.json.decode(known[1], type=Listed)
        except msgspec.MsgspecError:  # another version's row
            pass
    listed = _read(path)
    row = (path.name, now, msgspec.json.encode(listed))
    index.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", row)
    return listed


def _read(path: Path) -> Listed:
    try:
        run = load(path)
    except AssayError as error:
        return Listed(path.name, "", "", "", "", f"{error.what}: {error.why}", 0, 0)
    made = {launch.launch.id for launch in run.launches}
    plan = run.plan
    status: str = run.ending.status if run.ending else "unfinished"
    if len(made) < len(plan.order) and (status == "complete" or (run.damage and run.ending)):
        status = "damaged"
    counts = len(made), len(plan.order)
    return Listed(
        run.info.id, plan.study, plan.title, plan.machine, run.info.started, status, *counts, plan.levels
    )
