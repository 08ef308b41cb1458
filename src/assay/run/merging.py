"""Merge independent programs on several hosts into one launch, with a rank for each host."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from assay.launch.command import Outcome
from assay.model.record import End, Header, Output, ProgramRecord, RecordError, decode_program_record
from assay.model.run import CaseRecords
from assay.model.traffic import Traffic
from assay.store.grouping import Grouping

_BY_SEVERITY = ("complete", "invalid", "failed")


def merge_hosts(outcomes: Sequence[Outcome], cases: Sequence[str]) -> Outcome:
    """One outcome for all hosts: its records look like those of one program with a rank for each host.

    Output that cannot be read is left out; its case then has a rank too few, and the check of the records refuses
    it. The exit code is that of a time limit or signal if there was one, else the first that is not 0.

    Args:
        outcomes: outcome of each host, in the order of the ranks.
        cases: ids, in the order requested.
    """
    if len(outcomes) == 1:
        return outcomes[0]
    read = [_read(outcome.stdout, cases) for outcome in outcomes]
    lines = [line for case in cases for line in _case(case, read)]
    codes = [outcome.exit_code for outcome in outcomes]
    worst = next((code for code in codes if code is None or code < 0), next(filter(None, codes), 0))
    return Outcome(
        stdout=b"".join(msgspec.json.encode(line) + b"\n" for line in lines),
        stderr=b"".join(dict.fromkeys(outcome.stderr for outcome in outcomes)),
        exit_code=worst,
        involuntary_switches=switches_of(outcomes),
        lingered=any(outcome.lingered for outcome in outcomes),
    )


def switches_of(outcomes: Iterable[Outcome]) -> int:
    """Sum of the involuntary context switches; -1 if one is unknown."""
    switches = [outcome.involuntary_switches for outcome in outcomes]
    return -1 if -1 in switches else sum(switches)


class _Read(NamedTuple):
    """The output of a host: case -> its records, or its end if it never began; and case -> outputs of commands."""

    cases: dict[str, CaseRecords]
    unstarted: dict[str, End]
    outputs: dict[str, list[Output]]


def _read(stdout: bytes, cases: Sequence[str]) -> _Read:
    """Read the lines up to the first that is not a record."""
    grouping, outputs = Grouping(list(cases)), dict[str, list[Output]]()
    for line in filter(None, stdout.split(b"\n")):
        try:
            grouping.take(record := decode_program_record(line))
        except RecordError:
            break
        if isinstance(record, Output):
            outputs.setdefault(grouping.case, []).append(record)
    return _Read({case.header.case: case for case in grouping.cases}, grouping.unstarted, outputs)


def _case(case: str, read: Sequence[_Read]) -> list[ProgramRecord]:
    """The records of a case on all hosts; only its worst end if it began on none."""
    begun = [each.cases[case] for each in read if case in each.cases]
    ends = [end for each in read if (end := each.unstarted.get(case))]
    if not begun:
        return [_worst_end(ends)] if ends else []
    lines: list[ProgramRecord] = [_header([each.header for each in begun])]
    lines += [
        msgspec.structs.replace(series, rank=rank) for rank, each in enumerate(begun) for series in each.series
    ]
    lines += [
        msgspec.structs.replace(threads, rank=rank) for rank, each in enumerate(begun) for threads in each.threads
    ]
    lines += [output for each in read for output in each.outputs.get(case, ())]
    lines += [
        msgspec.structs.replace(figure, rank=rank) for rank, each in enumerate(begun) for figure in each.figures
    ]
    watched = [each.traffic for each in begun if each.traffic]
    if watched:
        hosts = tuple(host for each in watched for host in each.hosts)
        lines.append(Traffic(max(each.seconds for each in watched), sum(each.payload for each in watched), hosts))
    verdicts = [each.verdict for each in begun if each.verdict]
    if len(verdicts) == len(begun):
        lines.append(max(verdicts, key=lambda verdict: (not verdict.passed, verdict.error)))
    ends += [each.end for each in begun if each.end]
    if len(ends) == len(read):
        lines.append(_worst_end(ends))
    return lines


def _header(headers: Sequence[Header]) -> Header:
    ranks = (rank for header in headers for rank in header.ranks)
    numbered = tuple(msgspec.structs.replace(rank, rank=number) for number, rank in enumerate(ranks))
    return msgspec.structs.replace(headers[0], ranks=numbered)


def _worst_end(ends: Sequence[End]) -> End:
    return max(ends, key=lambda end: _BY_SEVERITY.index(end.status))
