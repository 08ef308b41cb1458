"""Check the records of a program against the requested cases."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from assay.launch.command import Outcome
from assay.model.bracket import Handover
from assay.model.launch_errors import CPU_BINDING, pick_cause
from assay.model.plan import Case
from assay.model.record import RECORD_SCHEMA, End, Header, RecordError, Series, decode_program_record
from assay.model.run import CaseRecords, LaunchRecords
from assay.model.units import count_of
from assay.store.grouping import Grouping

#: Characters of the frames that Open MPI and Hydra print around messages.
_FRAME = " \t\r=-"


@dataclass(frozen=True)
class Answer:
    """The valid part of a program's output.

    Attributes:
        lines: the lines up to the first invalid one, unchanged.
        cases: the same, by case.
        unstarted: ends of cases that never began.
        refused: what is wrong with the line after `lines`; empty if nothing is.
    """

    lines: tuple[bytes, ...]
    cases: tuple[CaseRecords, ...]
    unstarted: dict[str, End]
    refused: str


def read_answer(stdout: bytes, cases: Sequence[Case]) -> Answer:
    """Check a program's output line by line against the schema and the requested cases."""
    requested = {case.id: case for case in cases}
    grouping = Grouping(list(requested))
    lines = [line for line in stdout.split(b"\n") if line]
    for number, line in enumerate(lines):
        try:
            record = decode_program_record(line)
            if isinstance(record, Header):
                _check_header(record, requested)
            grouping.take(record)
        except RecordError as error:
            why = f" ({error.why})" if error.why else ""
            refused = f"line {number + 1} of its output: {error.what}{why}"
            return Answer(tuple(lines[:number]), grouping.cases, grouping.unstarted, refused)
    return Answer(tuple(lines), grouping.cases, grouping.unstarted, "")


def split_launcher_output(outcome: Outcome) -> Outcome:
    """Move the lines that a launcher printed between records to stderr (Hydra prints to stdout)."""
    lines = outcome.stdout.splitlines(keepends=True)
    talk = b"".join(line for line in lines if line.strip() and not line.startswith(b"{"))
    records = b"".join(line for line in lines if line.startswith(b"{"))
    return msgspec.structs.replace(outcome, stdout=records, stderr=outcome.stderr + talk) if talk else outcome


def program_message(stderr: bytes) -> str:
    """The message of a program, without the frames that launchers print around it."""
    lines = (line.strip(_FRAME) for line in stderr.decode(errors="replace").splitlines())
    return "\n".join(line for line in lines if line and CPU_BINDING not in line)


def failures(records: LaunchRecords) -> dict[str, str]:
    """Case -> why this launch has no good result of it.

    Of the cases without an end only the first one failed: the program never reached those after it. If a program
    ends by itself without any record, all cases failed; if the budget ended it, none.
    """
    failed = {case_id: end.reason or end.status for case_id, end in records.unstarted.items()}
    ended = set(failed)
    for case in records.cases:
        if case.end:
            ended.add(case.header.case)
            if case.end.status != "complete":
                failed[case.header.case] = case.end.reason or case.end.status
    open_cases = [case_id for case_id in records.launch.cases if case_id not in ended]
    if records.launch.over_budget:
        return failed
    exit_code = records.launch.exit_code
    silent = not records.cases and not records.unstarted and exit_code is not None and exit_code > 0
    for case_id in open_cases if silent else open_cases[:1]:
        failed[case_id] = pick_cause(records.launch.message, records.launch.program) or describe_exit(exit_code)
    return failed


def describe_exit(exit_code: int | None) -> str:
    """A sentence for an exit code; None is the time limit."""
    if exit_code is None:
        return "the program was ended at its time limit"
    if exit_code < 0:
        return f"the program was ended by signal {-exit_code}"
    return f"the program exited {exit_code} before it was through"


def _check_header(header: Header, requested: dict[str, Case]) -> None:
    if header.schema != RECORD_SCHEMA:
        raise RecordError(
            f"records of schema {header.schema}, this version writes and reads {RECORD_SCHEMA}",
            why="the program was built from other sources: assay build",
        )
    case = requested.get(header.case)
    if case is None:
        raise RecordError(f"records of a case that was not asked for: '{header.case}'")
    if header.benchmark != case.benchmark:
        raise RecordError(f"records of benchmark '{header.benchmark}', asked for was '{case.benchmark}'")
    found, wanted = len(header.ranks), len(case.placement.rank_cpus)
    if found != wanted:
        raise RecordError(f"'{header.case}' ran on {count_of(found, 'rank')}, asked for were {wanted}")


def read_handover(stdout: bytes, cpus: tuple[int, ...], counted: str) -> Handover | None:
    """The probe's samples; None if it has none (then nothing is concluded from it).

    Args:
        stdout: stdout of the probe.
        cpus: its two cpus.
        counted: key of the hand-overs in its work of one iteration.
    """
    per_iteration, measured = 1.0, None
    for line in filter(None, stdout.split(b"\n")):
        try:
            record = decode_program_record(line)
        except RecordError:
            return None
        if isinstance(record, Header):
            per_iteration = next((work[counted] for work in record.work.values() if counted in work), 1.0)
        elif isinstance(record, Series) and record.phase == "measured" and record.seconds:
            measured = record
    if measured is None:
        return None
    return Handover(cpus, round(measured.iterations * per_iteration), list(measured.seconds))


def sampling_s(case: CaseRecords) -> float:
    """Seconds from the first sample of a case to the end of its last; without samples those of its solutions."""
    taken = [(each.start_s[0], each.start_s[-1] + each.seconds[-1]) for each in case.series if each.seconds]
    if taken:
        firsts, lasts = zip(*taken, strict=True)
        return float(max(lasts) - min(firsts))
    solved: dict[tuple[str, int], float] = {}
    for figure in case.figures:
        own = figure.name, figure.rank
        solved[own] = solved.get(own, 0.0) + (figure.seconds or 0.0)
    return max(solved.values(), default=0.0)
