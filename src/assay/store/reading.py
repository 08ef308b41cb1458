"""Reading a run directory, whatever happened to it."""

import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from assay import references
from assay.model.errors import UsageError
from assay.model.imported import IMPORTED_SCHEMA, Imported
from assay.model.machine import MACHINE_SCHEMA, Machine
from assay.model.plan import PLAN_SCHEMA, Plan
from assay.model.record import (
    RECORD_SCHEMA,
    End,
    Header,
    Launch,
    ProgramRecord,
    RecordError,
    Series,
    Traffic,
    Verdict,
    decode_record,
)
from assay.model.run import RUN_SCHEMA, CaseRecords, Ending, LaunchRecords, Run, RunInfo
from assay.store import imported, packed

_Whole = TypeVar("_Whole", bound=msgspec.Struct)


class _Versioned(msgspec.Struct):
    schema: int = 0


def load(path: Path) -> Run:
    """Everything of a run: in its directory, packed in one file, or a published reference.

    What cannot be read of records is in `damage`.

    Raises:
        UsageError: it is no run directory, one of its JSON files is broken, or a newer Assay made it.
    """
    if path.stem in references.names() and path == references.path(path.stem):
        return imported.reference(path.stem, references.get(path.stem), path)
    if packed.is_packed(path):
        with packed.unpacked(path) as folder:
            return msgspec.structs.replace(load(folder), path=str(path))
    info = _read(path / "run.json", RunInfo, RUN_SCHEMA)
    if (path / imported.FILE).is_file():
        return imported.as_run(path, info, _read(path / imported.FILE, Imported, IMPORTED_SCHEMA))
    plan = _read(path / "plan.json", Plan, PLAN_SCHEMA)
    machines = [_read(file, Machine, MACHINE_SCHEMA) for file in sorted((path / "machine").glob("*.json"))]
    ending = _read(path / "ending.json", Ending, None) if (path / "ending.json").is_file() else None
    records = path / "records.jsonl"
    launches, damage, _ = read_records(records.read_bytes() if records.is_file() else b"")
    by_host = {machine.host: machine for machine in machines}
    of_trials = {launch.id for each in plan.trials for launch in each.order}
    return Run(
        str(path),
        info,
        plan,
        by_host,
        tuple(each for each in launches if each.launch.id not in of_trials),
        ending,
        tuple(damage),
        trials=tuple(each for each in launches if each.launch.id in of_trials),
    )


class Records(NamedTuple):
    """What stands in records.jsonl.

    Attributes:
        launches: those that are committed and can be believed.
        damage: a sentence for each thing that could not be read.
        lines: those of the launches; all others cannot be read or belong to no launch.
    """

    launches: list[LaunchRecords]
    damage: list[str]
    lines: set[int]


def read_records(content: bytes) -> Records:
    """The committed launches in records.jsonl; lines are counted from 1.

    Raises:
        UsageError: a newer Assay wrote the records.
    """
    end = content.rfind(b"\n") + 1
    torn = end < len(content)
    launches: list[LaunchRecords] = []
    damage: list[str] = []
    believed: set[int] = set()
    known: dict[str, Header] = {}
    pending = _Pending()
    # One line at a time: a list of all of them would be the whole file once more.
    for number, line in enumerate(_lines(content, end), 1):
        try:
            record = decode_record(line)
        except RecordError as error:
            _refuse_newer(line)
            # What stands before it cannot be told from the rest of its launch: see `_Pending.launch`.
            pending = _Pending(broken=f"line {number} is {error.what} ({error.why})")
            continue
        if not isinstance(record, Launch):
            if isinstance(record, Header) and record.schema > RECORD_SCHEMA:
                raise _newer("records.jsonl", record.schema, RECORD_SCHEMA)
            pending.records.append(_compact(record) if isinstance(record, Series) else record)
            continue
        try:
            launches.append(pending.launch(_interned(record), known))
        except RecordError as error:
            damage.append(f"launch {record.id} (attempt {record.attempt}) counts as not made: {error.what}")
        else:
            believed.update(range(number - len(pending.records), number + 1))
            if pending.broken:
                damage.append(f"a launch before {record.id} is lost: {pending.broken}")
        pending = _Pending()
    if pending.broken:
        damage.append(f"a launch is lost: {pending.broken}")
    if pending.records or torn:
        count = len(pending.records) + bool(torn)
        damage.append(
            f"the last {count} line{'s' * (count > 1)} were torn off by a crash: no launch record commits them"
        )
    return Records(launches, damage, believed)


def _lines(content: bytes, end: int) -> Iterator[bytes]:
    """The lines up to `end`, without their newlines."""
    start = 0
    while start < end:
        stop = content.index(b"\n", start)
        yield content[start:stop]
        start = stop + 1


@dataclass
class _Pending:
    """Records that wait for the launch record which commits them.

    Attributes:
        records: in order.
        broken: what is wrong with a line before them, empty when nothing is.
    """

    records: list[ProgramRecord] = field(default_factory=list)
    broken: str = ""

    def launch(self, launch: Launch, known: dict[str, Header]) -> LaunchRecords:
        """The launch with its cases; RecordError where it cannot be believed.

        What its headers share with those that are `known` (case -> header) is kept once; they are added.

        After a broken line only a launch is believed that stands there whole, from its first case on.
        """
        first = self.records[0] if self.records else None
        whole = isinstance(first, Header) and first.case == launch.cases[0]
        if self.broken and not whole:
            raise RecordError(self.broken)
        grouping = Grouping(launch.cases)
        for record in self.records:
            grouping.take(_sharing(record, known) if isinstance(record, Header) else record)
        return LaunchRecords(launch, grouping.cases, grouping.unstarted)


def _compact(series: Series) -> Series:
    """The fresh record with its samples as 8 bytes each, not as objects of four times that in a list."""
    for name in ("start_s", "seconds"):
        msgspec.structs.force_setattr(series, name, array("d", getattr(series, name)))
    return series


def _interned(launch: Launch) -> Launch:
    """The fresh record with words that thousands of launches have alike kept once."""
    for name in ("argv", "cases"):
        msgspec.structs.force_setattr(launch, name, tuple(map(sys.intern, getattr(launch, name))))
    return launch


#: What headers of a case say alike in every launch, or all headers of a launch.
_SHARED = ("params", "work", "build", "clock", "ranks", "mpi")


def _sharing(header: Header, known: dict[str, Header]) -> Header:
    """The header with those parts of it that others have too held once: of thousands they are most of a run."""
    apart: tuple[str, ...] = _SHARED
    for other in (known.get(header.case), known.get("")):
        if other is not None and apart:
            alike = {name: getattr(other, name) for name in apart if getattr(other, name) == getattr(header, name)}
            header = msgspec.structs.replace(header, **alike)
            apart = tuple(name for name in apart if name not in alike)
    known[header.case] = known[""] = header
    return header


class Grouping:
    """Sorts the records of one launch by case, in the order in which they were written.

    Args:
        case_ids: cases of the launch, in the order asked for.
    """

    def __init__(self, case_ids: Sequence[str]) -> None:
        self._waiting = list(case_ids)
        self._header: Header | None = None
        self._series: list[Series] = []
        self._verdict: Verdict | None = None
        self._traffic: Traffic | None = None
        self._cases: list[CaseRecords] = []
        self.unstarted: dict[str, End] = {}

    @property
    def cases(self) -> tuple[CaseRecords, ...]:
        """Cases that began; the last one may have no end."""
        return (*self._cases, *self._closed(None))

    def take(self, record: ProgramRecord) -> None:
        """The next record; RecordError, and nothing taken, where none of its kind may stand."""
        match record:
            case Series() if self._header:
                _check(self._header, record)
                self._series.append(record)
            case Header():
                if record.case not in self._waiting:
                    raise RecordError(f"records of a case that was not asked for here: '{record.case}'")
                self._cases += self._closed(None)
                del self._waiting[: self._waiting.index(record.case) + 1]
                self._header, self._series, self._verdict, self._traffic = record, [], None, None
            case End() if self._header:
                self._cases += self._closed(record)
                self._header = None
            case End():
                if not self._waiting:
                    raise RecordError("an end record follows that belongs to no case")
                self.unstarted[self._waiting.pop(0)] = record
            case Verdict() if self._header:
                self._verdict = record
            case Traffic() if self._header:
                self._traffic = record
            case _:
                raise RecordError(f"a {type(record).__name__.lower()} record stands outside any case")

    def _closed(self, end: End | None) -> list[CaseRecords]:
        if self._header is None:
            return []
        return [CaseRecords(self._header, tuple(self._series), self._verdict, end, self._traffic)]


def _check(header: Header, record: Series) -> None:
    if record.kernel not in header.work:
        raise RecordError(
            f"samples of kernel '{record.kernel}', of which the header of '{header.case}' says nothing"
        )
    if not 0 <= record.rank < len(header.ranks):
        raise RecordError(f"samples of rank {record.rank}, but '{header.case}' has {len(header.ranks)} ranks")


def _refuse_newer(line: bytes) -> None:
    """A line of a newer schema is no damage: it can be read by whoever has the newer Assay."""
    try:
        schema = msgspec.json.decode(line, type=_Versioned).schema
    except msgspec.MsgspecError:
        return
    if schema > RECORD_SCHEMA:
        raise _newer("records.jsonl", schema, RECORD_SCHEMA)


def _read(path: Path, kind: type[_Whole], known: int | None) -> _Whole:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"'{path.parent}' is no run directory", why=f"{path.name}: {error.strerror}", remedy="assay list"
        ) from error
    try:
        if known is not None and (schema := msgspec.json.decode(content, type=_Versioned).schema) > known:
            raise _newer(str(path), schema, known)
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read '{path}'", why=str(error), remedy="assay list") from error


def _newer(path: str, schema: int, known: int) -> UsageError:
    return UsageError(
        f"'{path}' was made by a newer Assay",
        why=f"its schema is {schema}, this version reads up to {known}",
        remedy="update Assay in its folder: git pull && make run",
    )
