"""A run directory while it is measured: a single writer appends launch by launch and loses nothing."""

import gzip
import os
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from assay.model.errors import AssayError, UsageError
from assay.model.job import JOB_VARIABLE
from assay.model.machine import Machine
from assay.model.plan import Plan
from assay.model.record import REFUSALS, Header, Launch, Prediction, encode_record
from assay.model.run import Chain, Ending, LaunchRecords, Run
from assay.model.toolchain import Build
from assay.store.chain import Link, root
from assay.store.files import (
    COLUMNS,
    append_atomically,
    lock,
    sync_folder,
    write_atomically,
    write_errors,
    write_json,
)
from assay.store.folder import beginning, new_run
from assay.store.reading import read, with_launches, with_shared_parts
from assay.store.record_file import Records

#: Prefixes of recorded environment variables: those that change what programs do.
_RECORDED = (
    *("OMP_", "GOMP_", "KMP_", "SLURM_JOB_", "SLURM_CPUS", "MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD"),
    JOB_VARIABLE,
)


#: A launch with at least as many bytes of records is stored as columns.
_LARGE = 1 << 18


class RunDirectory:
    """Holds the lock of a run directory and its run; a context manager that releases it.

    Attributes:
        path: path of the directory.
        info: run.json.
    """

    def __init__(self, run: Run, handle: int, link: Link) -> None:
        self.path = Path(run.path)
        self.info = run.info
        self._run = run
        self._launches = list(run.made)
        self._known: dict[str, Header] = {}
        self._lock = handle
        self._link = link
        self._columns = -1
        with _closing_on_error(handle), write_errors(self.path / "records.jsonl"):
            self._records = os.open(self.path / "records.jsonl", os.O_RDWR | os.O_CREAT, 0o644)
        self._committed = os.fstat(self._records).st_size

    @property
    def run(self) -> Run:
        """The run so far; no file is read again."""
        return with_launches(self._run, self._launches)

    def predict(self, prediction: Prediction) -> None:
        """Write a prediction, which is never changed; it is on disk when this returns.

        Raises:
            UsageError: the same metric of the case is predicted already, or a launch of the case is committed.
            UnfitEnvironmentError: it could not be written; then no part of it is.
        """
        known = self._run.predictions
        if why := prediction.refusal(known, [each.launch for each in self._launches]):
            raise UsageError(f"'{prediction.metric}' of '{prediction.of}' cannot be predicted", why=REFUSALS[why])
        self._append([encode_record(prediction)])
        self._run = msgspec.structs.replace(self._run, predictions=(*known, prediction))

    def keep(self, lines: Sequence[bytes], launch: LaunchRecords) -> LaunchRecords:
        """Commit a launch, a large one as columns; it is on disk when this returns. Returns the stored form.

        Args:
            lines: its records as its program wrote them, without newlines.
            launch: the same, decoded.

        Raises:
            UnfitEnvironmentError: it could not be written; then no part of it is.
        """
        foreign = any(b'"output"' in line for line in lines)  # third-party output is stored unchanged
        if foreign or sum(map(len, lines)) < _LARGE or not (small := self._append_columns(launch)):
            self.append(lines, launch.launch)
        else:
            launch = small
        self._launches.append(with_shared_parts(launch, self._known))
        return self._launches[-1]

    def append(self, records: Sequence[bytes], launch: Launch) -> None:
        """Commit the records of a launch (lines without newline); they are on disk when this returns.

        Raises:
            UnfitEnvironmentError: it could not be written; then no part of it is.
        """
        self._append([*records, encode_record(launch)])

    def _append(self, lines: Sequence[bytes], columns: bytes = b"") -> None:
        lines, link = self._link.sealed(lines, columns)
        content = b"".join(line + b"\n" for line in lines)
        with write_errors(self.path / "records.jsonl"):
            self._committed = append_atomically(self._records, self._committed, content)
        self._link = link
        self._run = msgspec.structs.replace(
            self._run, chain=msgspec.structs.replace(self._run.chain, last=link.hash)
        )

    def _append_columns(self, launch: LaunchRecords) -> LaunchRecords | None:
        """Commit a launch as columns; None if it has numbers that columns cannot hold."""
        from assay.store.compact import compacted  # noqa: PLC0415 (numpy, which small runs do not need)

        file = self.path / COLUMNS
        with write_errors(file):
            if self._columns < 0:
                self._columns = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
                sync_folder(self.path)
            end = os.fstat(self._columns).st_size
            made = compacted(launch, end)
            if made is None:
                return None
            append_atomically(self._columns, end, made.content)
        try:
            self._append([*made.lines, encode_record(launch.launch)], made.content)
        except BaseException:
            os.ftruncate(self._columns, end)
            raise
        return made.records

    def resume(self, plan: Plan) -> None:
        """Remove the ending, because the run goes on; replace the plan if `plan` has more."""
        if plan != self._run.plan:
            write_json(self.path / "plan.json", plan)
        (self.path / "ending.json").unlink(missing_ok=True)
        self._run = msgspec.structs.replace(self._run, plan=plan, ending=None)

    def add(self, builds: Mapping[str, Build]) -> None:
        """Add programs that were built after the run began."""
        self.info = msgspec.structs.replace(self.info, builds={**self.info.builds, **builds})
        write_json(self.path / "run.json", self.info)
        self._run = msgspec.structs.replace(self._run, info=self.info)

    def log(self, name: str, content: bytes) -> None:
        """Write `content` to logs/`name`: output of a program other than records."""
        self._write(f"logs/{name}", content)

    def keep_output(self, file: str, output: str) -> None:
        """Write the output of a command, compressed, to a file of the directory."""
        self._write(file, gzip.compress(output.encode(), mtime=0))

    def _write(self, file: str, content: bytes) -> None:
        with write_errors(self.path / file):
            (self.path / file).write_bytes(content)

    def end(self, ending: Ending) -> None:
        """Write how the run ended."""
        ending = msgspec.structs.replace(ending, chain=self._run.chain.last)
        write_json(self.path / "ending.json", ending)
        self._run = msgspec.structs.replace(self._run, ending=ending)

    def close(self) -> None:
        """Release the directory."""
        for handle in (self._records, self._columns, self._lock):
            if handle >= 0:
                os.close(handle)

    def __enter__(self) -> Self:
        """The directory itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the directory."""
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
        machines: host -> its facts, and hwloc's description, empty if there is none.
        builds: toolchain -> manifest.
        command: the command line.
        folder: folder of runs; None: `runs_folder()`.

    Raises:
        UnfitEnvironmentError: the folder cannot be written.
    """
    path, info = new_run(plan.study, command, folder)
    environment = {name: value for name, value in os.environ.items() if name.startswith(_RECORDED)}
    info = msgspec.structs.replace(info, environment=environment, builds=dict(builds))
    with beginning(path), write_errors(path):
        (path / "logs").mkdir()
        (path / "machine").mkdir()
        handle = lock(path / "lock")
        write_json(path / "plan.json", plan)
        for host, (machine, xml) in machines.items():
            name = re.sub(r"[^\w.-]+", "-", host)
            write_json(path / "machine" / f"{name}.json", machine)
            if xml:
                write_atomically(path / "machine" / f"{name}.xml", xml.encode())
        by_host = {machine.host: machine for machine, _ in machines.values()}
        run = Run(str(path), info, plan, by_host, (), None, chain=Chain(since=1))
        directory = RunDirectory(run, handle, root(info.id))
        write_json(path / "run.json", info)  # last: with it the directory is a run
    return directory


def reopen(path: Path) -> RunDirectory:
    """Open a stopped run to continue it.

    Records that cannot be read are moved to logs/torn-N.jsonl.

    Raises:
        UnfitEnvironmentError: another process measures it, or it cannot be written.
        UsageError: it is not a run, or a newer Assay made it.
    """
    if path.is_file():
        raise UsageError(
            f"'{path}' is only read",
            why="a run goes on in its directory, not packed in a file",
            remedy="assay list",
        )
    handle = lock(path / "lock")
    with _closing_on_error(handle), write_errors(path):
        _move_uncommitted(path, read(path)[1])
        (path / "ending.json").unlink(missing_ok=True)
        run, records = read(path)
    return RunDirectory(msgspec.structs.replace(run, ending=None, damage=()), handle, records.link)


@contextmanager
def _closing_on_error(handle: int) -> Generator[None]:
    try:
        yield
    except AssayError:
        os.close(handle)
        raise


def _move_uncommitted(path: Path, read: Records) -> None:
    """Move lines that belong to no launch out of the records, and the unused end of the file of columns."""
    records, columns = path / "records.jsonl", path / COLUMNS
    logs = path / "logs"
    content = records.read_bytes() if records.is_file() else b""
    lines = re.findall(rb"[^\n]*\n|[^\n]+", content)
    kept = b"".join(line for number, line in enumerate(lines, 1) if number in read.lines)
    number = sum(1 for _ in logs.glob("torn-*")) + 1
    if columns.is_file() and columns.stat().st_size > read.columns:
        with columns.open("rb") as file:
            file.seek(read.columns)
            write_atomically(logs / f"torn-{number}.columns", file.read())
        _cut(columns, read.columns)
    if kept == content:
        return
    aside = b"".join(line for number, line in enumerate(lines, 1) if number not in read.lines)
    write_atomically(logs / f"torn-{number}.jsonl", aside)
    if content.startswith(kept):
        _cut(records, len(kept))
    else:
        write_atomically(records, kept)


def _cut(path: Path, size: int) -> None:
    """Truncate a file, which works on a full disk, too."""
    with path.open("r+b") as file:
        file.truncate(size)
        os.fsync(file.fileno())
