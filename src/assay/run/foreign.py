"""What commands of somebody else printed, as records: figures of their solution and a verdict."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from assay import importing
from assay.importing import Text
from assay.importing import application as declared
from assay.launch.command import Outcome
from assay.model import benchmarks
from assay.model.application import Application
from assay.model.benchmark import ForeignProgram
from assay.model.errors import UsageError
from assay.model.grouping import grouped
from assay.model.imported import Skipped, Table
from assay.model.plan import Case
from assay.model.rank import Rank
from assay.model.record import (
    End,
    FigureOfMerit,
    Header,
    HostTraffic,
    Output,
    ProgramRecord,
    RecordError,
    Traffic,
    Verdict,
    decode_program_record,
)

#: The largest outputs that stand among the records; others are files beside them.
_SMALL = 4096


class Answered(msgspec.Struct, frozen=True):
    """The outcome of a launch with the figures of its command's output.

    Attributes:
        outcome: with records as other programs write them.
        output: of the command, whole, where it belongs in a file of its own.
    """

    outcome: Outcome
    output: str = ""


class _Placed(msgspec.Struct, frozen=True, tag_field="type", tag="placed"):
    """What the starter of a rank beside rank 0 says on stderr.

    Attributes:
        rank: where it ran.
        host: what its host did meanwhile.
        status: how its command ended.
        reason: why it is not complete.
        last: end of its output.
    """

    rank: Rank
    host: HostTraffic
    status: Literal["complete", "failed", "invalid"]
    reason: str
    last: str


def with_figures(outcome: Outcome, cases: Sequence[Case], kept_as: str) -> Answered:
    """The records of Assay's starter with the figures of the command's output; of other programs, unchanged.

    A case whose output lacks a figure, or is wrong, fails; its reason says what was sought, and the last lines.

    Args:
        outcome: of the launch.
        cases: of the launch: one, of a command of somebody else.
        kept_as: file of the run's directory that a large output goes to.
    """
    foreign = benchmarks.get(cases[0].benchmark).foreign
    if foreign is None:
        return Answered(outcome)
    placed, stderr = _placed(outcome.stderr)
    lines: list[bytes] = []
    failed, kept = _rank_failure(placed), ""
    for line in filter(None, outcome.stdout.split(b"\n")):
        try:
            record = decode_program_record(line)
        except RecordError:  # whoever reads the answer says what is wrong with it
            lines.append(line)
            continue
        if isinstance(record, Header) and placed:
            record = msgspec.structs.replace(record, ranks=(*record.ranks, *(each.rank for each in placed)))
        if isinstance(record, Traffic):
            record = msgspec.structs.replace(
                record, hosts=_each_once([*record.hosts, *(each.host for each in placed)])
            )
        if isinstance(record, Output):
            output = record.text
            if len(output) > _SMALL:
                kept, record = output, Output("", kept_as)
            made, why = _read(foreign, cases[0], output)
            lines.append(msgspec.json.encode(record))
            lines += map(msgspec.json.encode, made)
            failed = "; ".join(filter(None, (failed, why)))
            continue
        if isinstance(record, End):
            record = _end(record, failed)
        lines.append(msgspec.json.encode(record))
    stdout = b"".join(line + b"\n" for line in lines)
    return Answered(msgspec.structs.replace(outcome, stdout=stdout, stderr=stderr), kept)


def _each_once(told: Iterable[HostTraffic]) -> tuple[HostTraffic, ...]:
    """What the starter of each rank read of its host, once for each host; its ranks' own time is that of all."""
    hosts = grouped(told, lambda each: (each.host, each.boot_id)).values()
    return tuple(msgspec.structs.replace(of[0], own_s=sum(each.own_s for each in of)) for of in hosts)


def _end(end: End, failed: str) -> End:
    """How the case ended: as its command, but never better than its output."""
    if not failed or end.status == "invalid":
        return end
    return End("failed", "; ".join(filter(None, (end.reason, failed))))


def _placed(stderr: bytes) -> tuple[list[_Placed], bytes]:
    """What the starters of the other ranks say, by rank, and the rest of stderr."""
    found: list[_Placed] = []
    others: list[bytes] = []
    for line in stderr.splitlines(keepends=True):
        try:
            found.append(msgspec.json.decode(line, type=_Placed))
        except (msgspec.ValidationError, msgspec.DecodeError):
            others.append(line)
    return sorted(found, key=lambda each: each.rank.rank), b"".join(others)


def _rank_failure(placed: Sequence[_Placed]) -> str:
    """Why the first rank failed that did; empty if none did."""
    broken = next((each for each in placed if each.status != "complete"), None)
    if broken is None:
        return ""
    return f"rank {broken.rank.rank}: {broken.reason}; its output ends with: {declared.last_lines(broken.last)}"


def _read(foreign: ForeignProgram, case: Case, output: str) -> tuple[list[ProgramRecord], str]:
    """The records of an output, and why it is none of a good run; empty if it is."""
    if foreign.application:
        return _read_application(foreign.application, case, output)
    try:
        return list(_figures(foreign.tool, output)), ""
    except UsageError as error:
        return [], f"{error.why or error.what}; it ends with: {declared.last_lines(output)}"


def _read_application(application: Application, case: Case, output: str) -> tuple[list[ProgramRecord], str]:
    reading = declared.read(application, output, application.values(case.params, case.placement, ""))
    made: list[ProgramRecord] = [
        FigureOfMerit(taken.name, taken.unit, value, steps={taken.name: taken.steps} if taken.steps else {})
        for taken in reading.taken
        for value in taken.values
    ]
    if not reading.missing:
        made.append(_verdict_of(reading))
    sought = [*reading.missing, *(f"{each.about}: {each.said}" for each in reading.wrong)]
    return made, f"{'; '.join(sought)}; its output ends with: {declared.last_lines(output)}" if sought else ""


def _verdict_of(reading: declared.Reading) -> Verdict:
    """The gravest of the checks, and all of them."""
    worst = next(iter(reading.wrong), None) or max(reading.checks, key=lambda each: each.error)
    return Verdict(not reading.wrong, worst.error, worst.tolerance, reading.checks, reading.version)


def _figures(tool: str, text: str) -> Iterator[ProgramRecord]:
    """The figures of the one table of an output, and the verdict of the program's own check.

    Raises:
        UsageError: it holds none, or several.
    """
    source = Text.of(tool, text.encode())
    found = importing.tables_of(source, tool)
    if torn := next((each for each in found if isinstance(each, Skipped)), None):
        source.refuse(0, f"{torn.where}: {torn.reason}")
    tables = [each for each in found if isinstance(each, Table)]
    if len(tables) != 1:
        source.refuse(0, f"its output holds {len(tables)} results of {tool}, not one")
    (table,) = tables
    time = next((each.value for each in table.figures if each.metric == "time"), None)
    for each in table.figures:
        if each.value > 0:
            yield FigureOfMerit(each.metric, each.unit, each.value, time)
    yield Verdict(passed=not table.failed, error=1.0 if table.failed else 0.0, tolerance=0.0)
