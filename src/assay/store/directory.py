"""A run directory while it is measured: one writer, who appends launch by launch and loses nothing."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from assay import __version__
from assay.model.errors import AssayError, UsageError
from assay.model.job import JOB_VARIABLE
from assay.model.machine import Machine
from assay.model.plan import Plan
from assay.model.record import Launch, encode_record
from assay.model.run import RUN_SCHEMA, Ending, RunInfo
from assay.model.text import encoded
from assay.model.toolchain import Build
from assay.store.files import append_whole, lock, sync_folder, unwritable, write_whole
from assay.store.folder import runs_folder
from assay.store.reading import load, read_records

#: Variables that change what programs do; all others are nobody's business.
_RECORDED = (
    *("OMP_", "GOMP_", "KMP_", "SLURM_JOB_", "SLURM_CPUS", "MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD"),
    JOB_VARIABLE,
)


class RunDirectory:
    """Holds the lock of a run directory; a context manager that gives it back.

    Attributes:
        path: of the directory.
        info: run.json.
    """

    def __init__(self, path: Path, info: RunInfo, handle: int) -> None:
        self.path = path
        self.info = info
        self._lock = handle
        try:
            self._records = os.open(path / "records.jsonl", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            os.close(handle)
            raise unwritable(path / "records.jsonl", error) from error
        self._committed = os.fstat(self._records).st_size

    def append(self, records: Sequence[bytes], launch: Launch) -> None:
        """Commit the records of a launch (lines without newline), on disk when this returns.

        Raises:
            UnfitEnvironmentError: it could not be written whole; then nothing of it is.
        """
        content = b"".join(line + b"\n" for line in [*records, encode_record(launch)])
        try:
            self._committed = append_whole(self._records, self._committed, content)
        except OSError as error:
            raise unwritable(self.path / "records.jsonl", error) from error

    def log(self, name: str, content: bytes) -> None:
        """Keep `content` as logs/`name`: what a program said that is no record."""
        try:
            (self.path / "logs" / name).write_bytes(content)
        except OSError as error:
            raise unwritable(self.path / "logs" / name, error) from error

    def end(self, ending: Ending) -> None:
        """Write how the run ended."""
        write_whole(self.path / "ending.json", _pretty(ending))

    def close(self) -> None:
        """Give the directory back."""
        for handle in (self._records, self._lock):
            os.close(handle)

    def __enter__(self) -> Self:
        """The directory itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the directory back."""
        self.close()


def create(
    plan: Plan,
    machines: Mapping[str, tuple[Machine, str]],
    builds: Mapping[str, Build],
    command: Sequence[str],
    folder: Path | None = None,
) -> RunDirectory:
    """Begin a run in the folder of runs; its id is sortable by time.

    Args:
        plan: what will be measured.
        machines: host -> its facts, and hwloc's description of it, empty where there is none.
        builds: toolchain -> manifest.
        command: the command line that begins it.
        folder: of runs; `runs_folder()` where None.

    Raises:
        UnfitEnvironmentError: the folder cannot be written.
    """
    now = datetime.now(UTC)
    run_id = f"{now:%Y%m%d-%H%M%S}-{plan.study}-{os.urandom(2).hex()}"
    path = (folder or runs_folder()) / run_id
    environment = {name: value for name, value in os.environ.items() if name.startswith(_RECORDED)}
    info = RunInfo(
        RUN_SCHEMA, run_id, plan.study, now.isoformat(), __version__, tuple(command), environment, dict(builds)
    )
    try:
        (path / "logs").mkdir(parents=True)
        (path / "machine").mkdir()
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        handle = lock(path / "lock")
        write_whole(path / "plan.json", _pretty(plan))
        for host, (machine, xml) in machines.items():
            name = re.sub(r"[^\w.-]+", "-", host)
            write_whole(path / "machine" / f"{name}.json", _pretty(machine))
            if xml:
                write_whole(path / "machine" / f"{name}.xml", xml.encode())
        directory = RunDirectory(path, info, handle)
        write_whole(path / "run.json", _pretty(info))  # last: with it the directory is a run
        sync_folder(path.parent)
    except AssayError:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return directory


def reopen(path: Path, budget_s: float | None = None, plan: Plan | None = None) -> RunDirectory:
    """Take a run up again where it stopped, with a new budget for the whole of it where one is given.

    A plan that holds more than the run's own takes its place: what was measured is part of both.

    Records that cannot be read are moved to logs/torn-N.jsonl, never into oblivion.

    Raises:
        UnfitEnvironmentError: another process measures it, or it cannot be written.
        UsageError: it is no run, or a newer Assay made it.
    """
    if path.is_file():
        raise UsageError(
            f"'{path}' is only read",
            why="a run goes on in its directory, not packed in a file",
            remedy="assay list",
        )
    handle = lock(path / "lock")
    try:
        run = load(path)
        _set_aside(path / "records.jsonl", path / "logs")
        if budget_s is not None or plan is not None:
            plan = plan or run.plan
            budget_s = plan.budget_s if budget_s is None else budget_s
            write_whole(path / "plan.json", _pretty(msgspec.structs.replace(plan, budget_s=budget_s)))
        (path / "ending.json").unlink(missing_ok=True)
    except OSError as error:
        os.close(handle)
        raise unwritable(path, error) from error
    except AssayError:
        os.close(handle)
        raise
    return RunDirectory(path, run.info, handle)


def _set_aside(records: Path, logs: Path) -> None:
    """Move the lines that belong to no launch out of the records."""
    content = records.read_bytes() if records.is_file() else b""
    believed = read_records(content).lines
    lines = re.findall(rb"[^\n]*\n|[^\n]+", content)
    kept = b"".join(line for number, line in enumerate(lines, 1) if number in believed)
    if kept == content:
        return
    number = sum(1 for _ in logs.glob("torn-*.jsonl")) + 1
    aside = b"".join(line for number, line in enumerate(lines, 1) if number not in believed)
    write_whole(logs / f"torn-{number}.jsonl", aside)
    if not content.startswith(kept):
        write_whole(records, kept)
        return
    with records.open("r+b") as file:  # only the tail goes: that works on a full disk, too
        file.truncate(len(kept))
        os.fsync(file.fileno())


def _pretty(value: msgspec.Struct) -> bytes:
    return msgspec.json.format(encoded(value), indent=2) + b"\n"
