"""Turn the output of third-party commands into records: figures of their solution and a verdict."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from assay import importing
from assay.catalogue import benchmarks
from assay.importing import Text
from assay.importing import application as declared
from assay.launch.command import Outcome
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
    Output,
    ProgramRecord,
    RecordError,
    Verdict,
    decode_program_record,
)
from assay.model.traffic import HostTraffic, Traffic

#: Longer outputs go to a file of their own, not into the records.
_SMALL = 4096


class Answered(msgspec.Struct, frozen=True):
    """The outcome of a launch with the figures of its command's output.

    Attributes:
        outcome: outcome with records as native programs write them.
        output: whole output of the command, if it belongs in a file of its own.
    """

    outcome: Outcome
    output: str = ""


class _Placed(msgspec.Struct, frozen=True, tag_field="type", tag="placed"):
    """The report on stderr of the starter of a rank other than rank 0.

    Attributes:
        rank: its placement.
        host: activity of its host meanwhile.
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
    """Add the figures of the command's output to the records of Assay's starter; other programs stay unchanged.

    A case whose output lacks a figure, or is wrong, fails; its reason has the missing part and the last lines.

    Args:
        outcome: outcome of the launch.
        cases: cases of the launch: one, if it is a third-party command.
        kept_as: file of the run's directory for a large output.
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
        except RecordError:  # `read_answer` reports it
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


def broken_off(stdout: bytes) -> bytes:
    """Return the records of a command that the budget ended: without the failure that its starter made of it.

    A command that was complete before keeps its end.
    """
    records: list[tuple[bytes, ProgramRecord | None]] = []
    for line in filter(None, stdout.split(b"\n")):
        try:
            records.append((line, decode_program_record(line)))
        except RecordError:  # `read_answer` reports it
            records.append((line, None))
    if any(isinstance(each, End) and each.status == "complete" for _, each in records):
        return stdout
    kept = [line for line, each in records if not isinstance(each, (End, Verdict, FigureOfMerit))]
    return b"".join(line + b"\n" for line in kept)


def _each_once(reported: Iterable[HostTraffic]) -> tuple[HostTraffic, ...]:
    """The traffic of each host once, from the reports of its ranks, with the sum of the ranks' own time."""
    hosts = grouped(reported, lambda each: (each.host, each.boot_id)).values()
    return tuple(msgspec.structs.replace(same[0], own_s=sum(each.own_s for each in same)) for same in hosts)


def _end(end: End, failed: str) -> End:
    """The end of the case: that of its command, but failed if its output is wrong."""
    if not failed or end.status == "invalid":
        return end
    return End("failed", "; ".join(filter(None, (end.reason, failed))))


def _placed(stderr: bytes) -> tuple[list[_Placed], bytes]:
    """The reports of the starters of the other ranks, by rank, and the rest of stderr."""
    found: list[_Placed] = []
    others: list[bytes] = []
    for line in stderr.splitlines(keepends=True):
        try:
            found.append(msgspec.json.decode(line, type=_Placed))
        except (msgspec.ValidationError, msgspec.DecodeError):
            others.append(line)
    return sorted(found, key=lambda each: each.rank.rank), b"".join(others)


def _rank_failure(placed: Sequence[_Placed]) -> str:
    """Why the first failed rank failed; empty if none did."""
    broken = next((each for each in placed if each.status != "complete"), None)
    if broken is None:
        return ""
    return f"rank {broken.rank.rank}: {broken.reason}; its output ends with: {declared.last_lines(broken.last)}"


def _read(foreign: ForeignProgram, case: Case, output: str) -> tuple[list[ProgramRecord], str]:
    """The records of an output, and why it is wrong; empty if it is right."""
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
    """The verdict of the worst check, with all checks."""
    worst = next(iter(reading.wrong), None) or max(reading.checks, key=lambda each: each.error)
    return Verdict(not reading.wrong, worst.error, worst.tolerance, reading.checks, reading.version)


def _figures(tool: str, text: str) -> Iterator[ProgramRecord]:
    """The figures of the only table of an output, and the verdict of the program's own check.

    Raises:
        UsageError: it has no table, or several.
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
