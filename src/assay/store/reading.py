"""Read a run directory, even a damaged one."""

import sys
from array import array
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from assay import references
from assay.model.declaration import Declaration
from assay.model.errors import UsageError
from assay.model.imported import IMPORTED_SCHEMA, Imported
from assay.model.machine import MACHINE_SCHEMA, Machine
from assay.model.plan import PLAN_SCHEMA, Case, Plan
from assay.model.private import without_private_words
from assay.model.record import (
    RECORD_SCHEMA,
    Columns,
    Header,
    Launch,
    Prediction,
    ProgramRecord,
    RecordError,
    Series,
    Shared,
    decode_record,
)
from assay.model.run import RUN_SCHEMA, CaseRecords, Ending, LaunchRecords, Run, RunInfo
from assay.store import earlier, imported, packed
from assay.store.chain import Links, columns_end
from assay.store.files import COLUMNS, COLUMNS_FORM
from assay.store.grouping import Grouping
from assay.store.record_file import Records

if TYPE_CHECKING:
    from assay.store.compact import Common

#: Largest number that programs accept.
_LARGEST = 2**62

_Whole = TypeVar("_Whole", bound=msgspec.Struct)


class _Versioned(msgspec.Struct):
    schema: int = 0


def load(path: Path) -> Run:
    """Load a run: a directory, a packed file, or a published reference.

    Records that cannot be read are listed in `damage`.

    Raises:
        UsageError: it is not a run directory, one of its JSON files is broken, or a newer Assay made it.
    """
    if path.stem in references.names() and path == references.path(path.stem):
        return imported.reference(path.stem, references.get(path.stem), path)
    if packed.is_packed(path):
        with packed.unpacked(path) as folder:
            return msgspec.structs.replace(load(folder), path=str(path))
    return read(path)[0]


def read(path: Path) -> tuple[Run, Records]:
    """The run in a directory, and its records; raises as `load` does."""
    info = _read(path / "run.json", RunInfo, RUN_SCHEMA)
    if (path / imported.FILE).is_file():
        known = _read(path / imported.FILE, Imported, IMPORTED_SCHEMA)
        return imported.as_run(path, info, known), Records()
    plan = earlier.plan(_read(path / "plan.json", Plan, PLAN_SCHEMA))
    for part in (plan, *plan.trials):
        for case in part.cases:
            _require_axes(part.declared(case.benchmark), case, path / "plan.json")
    files = sorted((path / "machine").glob("*.json"))
    machines = [earlier.machine(_read(file, Machine, MACHINE_SCHEMA)) for file in files]
    ending = (
        earlier.ending(_read(path / "ending.json", earlier.StoredEnding, None))
        if (path / "ending.json").is_file()
        else None
    )
    records = read_records(path, info, _Planned(plan), ending)
    by_host = {
        machine.host: msgspec.structs.replace(machine, facts=without_private_words(machine.facts))
        for machine in machines
    }
    run = Run(str(path), info, plan, by_host, (), ending, tuple(records.damage))
    counted, refused = tuple(records.predictions), tuple(records.refused)
    run = msgspec.structs.replace(run, predictions=counted, refused=refused, chain=records.chain)
    return with_launches(run, records.launches), records


def sources(run: Path) -> tuple[Path, ...]:
    """The files of a run: those of its directory, or its one file."""
    return (*run.glob("*.json*"), run / COLUMNS, *run.glob("machine/*")) if run.is_dir() else (run,)


def with_launches(run: Run, launches: Sequence[LaunchRecords]) -> Run:
    """The run with launches in the order they were made; those of experiments are separated."""
    of_trials = {launch.id for each in run.plan.trials for launch in each.order}
    return msgspec.structs.replace(
        run,
        launches=tuple(each for each in launches if each.launch.id not in of_trials),
        trials=tuple(each for each in launches if each.launch.id in of_trials),
    )


def _require_axes(declared: Declaration, case: Case, path: Path) -> None:
    """UsageError if a case has no value of an axis, or one that programs do not accept."""
    for axis in declared.axes:
        absent = None if axis.name == declared.swept else axis.default  # earlier versions had fewer axes
        value = case.params.get(axis.name, absent)
        words = {isinstance(each, str) for each in (*axis.values, axis.default) if each is not None} or {False}
        right = isinstance(value, str) if words == {True} else value is not None
        if not right or (words == {False} and not (isinstance(value, int | float) and abs(value) < _LARGEST)):
            raise UsageError(
                f"cannot read '{path}'", why=f"'{case.id}' has no {axis.name} that can be", remedy="assay list"
            )


class _Planned:
    """The launches that records can hold, each once.

    Args:
        plan: plan of the run.
    """

    def __init__(self, plan: Plan) -> None:
        self._cases = {each.id: frozenset(each.cases) for part in (plan, *plan.trials) for each in part.order}
        self._made: set[tuple[str, int, str]] = set()

    def take(self, launch: Launch) -> None:
        """Take a launch; RecordError if it belongs to another run, or is there already."""
        if not self._cases.get(launch.id, frozenset()).issuperset(launch.cases):
            raise RecordError("it belongs to another run: the plan has no such launch")
        made = (launch.id, launch.attempt, launch.started)
        if made in self._made:
            raise RecordError("it stands in the records already")
        self._made.add(made)


def read_records(path: Path, info: RunInfo, planned: _Planned, ending: Ending | None) -> Records:
    """The committed launches in the records.jsonl of a directory; lines are counted from 1.

    Raises:
        UsageError: a newer Assay wrote the records, or the samples are in a form of an earlier one.
    """
    records, columns = path / "records.jsonl", path / COLUMNS
    content = records.read_bytes() if records.is_file() else b""
    with columns.open("rb") if columns.is_file() else nullcontext() as file:
        handle = file.fileno() if file else -1
        links = Links(content, handle, info.id)
        read = _read_records(content, handle, planned, links, info)
        read.chain = links.chain(ending.chain if ending else "", from_the_start=info.chained)
        read.link = links.rest()
    if read.chain.broken:
        read.refuse_from(read.chain.broken, links.commits)
    return read


def _read_records(content: bytes, file: int, planned: _Planned, links: Links, info: RunInfo) -> Records:
    """See `read_records`; `file` is the handle of the file of columns, -1 if there is none."""
    end = content.rfind(b"\n") + 1
    torn = end < len(content)
    read = Records()
    launches, damage, valid = read.launches, read.damage, read.lines
    known: dict[str, Header] = {}
    pending = _Uncommitted(file)
    # One line at a time: a list of all of them would be a second copy of the file.
    for number, place in enumerate(_lines(content, end), 1):
        line = content[place]
        try:
            record = decode_record(line)
        except RecordError as error:
            _refuse_newer(line)
            # The lines before it may belong to the same launch: see `_Uncommitted.launch`.
            pending = _Uncommitted(file, broken=f"line {number} is {error.what} ({error.why})")
            continue
        record = links.taken(record, number, place, pending.records)
        if isinstance(record, Prediction):
            read.predict(record, number)
            pending = pending.left_at(number)
            continue
        if not isinstance(record, Launch):
            _require_known(record, info)
            pending.records.append(_compact(record) if isinstance(record, Series) else record)
            continue
        try:
            fresh = pending.launch(record)
            planned.take(record)
            launches.append(with_shared_parts(fresh, known))
        except RecordError as error:
            damage.append(f"launch {record.id} (attempt {record.attempt}) counts as not made: {error.what}")
        else:
            valid.update(range(number - len(pending.records), number + 1))
            read.columns = max(read.columns, *map(columns_end, pending.records), 0)
            if pending.broken:
                damage.append(f"a launch before {record.id} is lost: {pending.broken}")
        pending = _Uncommitted(file)
    if pending.broken:
        damage.append(f"a launch is lost: {pending.broken}")
    if pending.records or torn:
        count = len(pending.records) + bool(torn)
        damage.append(
            f"the last {count} line{'s' * (count > 1)} were torn off by a crash: no launch record commits them"
        )
    return read


def _require_known(record: ProgramRecord | Shared | Columns, info: RunInfo) -> None:
    if isinstance(record, Header) and record.schema > RECORD_SCHEMA:
        raise _newer("records.jsonl", record.schema, RECORD_SCHEMA)
    if isinstance(record, Shared) and record.form > COLUMNS_FORM:
        raise _newer(COLUMNS, record.form, COLUMNS_FORM)
    if isinstance(record, Shared) and record.form < COLUMNS_FORM:
        raise UsageError(
            f"'{COLUMNS}' of {info.id} is in a form that this version does not read",
            why=f"Assay {info.assay} wrote form {record.form}, this version reads form {COLUMNS_FORM}",
            remedy=f"install Assay {info.assay} in another folder and open the run there, or measure again: "
            f"assay run {info.study}",
        )


def _lines(content: bytes, end: int) -> Iterator[slice]:
    """The places of the lines up to `end`, without their newlines."""
    start = 0
    while start < end:
        stop = content.index(b"\n", start)
        yield slice(start, stop)
        start = stop + 1


@dataclass
class _Uncommitted:
    """Records without the launch record that commits them.

    Attributes:
        file: open file of columns; -1 if there is none.
        records: records in order.
        broken: what is wrong with a line before them; empty if nothing is.
    """

    file: int
    records: list[ProgramRecord | Shared | Columns] = field(default_factory=list)
    broken: str = ""

    def left_at(self, number: int) -> "_Uncommitted":
        """The state after a line that belongs to no launch: earlier records cannot be committed any more."""
        if not self.records:
            return self
        return _Uncommitted(self.file, broken=f"no launch record commits the lines before {number}")

    def launch(self, launch: Launch) -> LaunchRecords:
        """The launch with its cases; RecordError if it is not valid.

        After a broken line a launch is valid only if it is complete from its first case on.
        """
        first = next((each for each in self.records if not isinstance(each, Shared)), None)
        whole = isinstance(first, Header) and first.case == launch.cases[0]
        if self.broken and not whole:
            raise RecordError(self.broken)
        grouping = Grouping(launch.cases)
        columns: dict[str, Columns] = {}
        common: Common | None = None
        for record in self.records:
            match record:
                case Shared():
                    common = self._common(record)
                case Columns():
                    columns[grouping.case] = record
                case _:
                    grouping.take(record)
        cases = tuple(
            self._whole(case, columns[case.header.case], common) if case.header.case in columns else case
            for case in grouping.cases
        )
        return LaunchRecords(launch, cases, grouping.unstarted)

    def _common(self, shared: Shared) -> "Common":
        from assay.store.compact import Common, checked  # noqa: PLC0415 (numpy, which small runs do not need)

        return Common(checked(self.file, shared.at, shared.bytes, shared.crc32))

    def _whole(self, case: CaseRecords, columns: Columns, common: "Common | None") -> CaseRecords:
        """The case with the data of its `columns` record."""
        from assay.store.compact import checked  # noqa: PLC0415 (see above)

        if common is None:
            raise RecordError("columns stand in a launch that no shared record opens")
        return common.case(case, columns, checked(self.file, columns.at, sum(columns.parts), columns.crc32))


def with_shared_parts(launch: LaunchRecords, known: dict[str, Header]) -> LaunchRecords:
    """The new launch, with parts that it shares with others stored once.

    Args:
        launch: just decoded.
        known: case -> header; those of the launch are added.
    """
    for case in launch.cases:
        for series in case.series if isinstance(case.series, tuple) else ():
            _compact(series)
    cases = (msgspec.structs.replace(case, header=_shared_header(case.header, known)) for case in launch.cases)
    return msgspec.structs.replace(launch, launch=_interned(launch.launch), cases=tuple(cases))


def _compact(series: Series) -> Series:
    """The new record with samples of 8 bytes each, not as objects of four times that in a list."""
    for name in ("start_s", "seconds"):
        if isinstance(samples := getattr(series, name), list):
            msgspec.structs.force_setattr(series, name, array("d", samples))
    return series


def _interned(launch: Launch) -> Launch:
    """The new record with words that thousands of launches share stored once."""
    for name in ("argv", "cases"):
        msgspec.structs.force_setattr(launch, name, tuple(map(sys.intern, getattr(launch, name))))
    return launch


#: Fields that are equal in all headers of a case, or in all headers of a launch.
_SHARED = ("params", "work", "build", "clock", "ranks", "passed_by")


def _shared_header(header: Header, known: dict[str, Header]) -> Header:
    """The header with parts that other headers share stored once: they are most of a run with thousands."""
    unshared: tuple[str, ...] = _SHARED
    for other in (known.get(header.case), known.get("")):
        if other is not None and unshared:
            equal = {
                each: getattr(other, each) for each in unshared if getattr(other, each) == getattr(header, each)
            }
            header = msgspec.structs.replace(header, **equal)
            unshared = tuple(name for name in unshared if name not in equal)
    known[header.case] = known[""] = header
    return header


def _refuse_newer(line: bytes) -> None:
    """Raise an error for a line of a newer schema, which is not damage."""
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
            f"'{path.parent}' is not a run directory", why=f"{path.name}: {error.strerror}", remedy="assay list"
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
