"""NASA's NAS Parallel Benchmarks 2 and 3: with MPI, OpenMP and serial, also multi-zone, Fortran and C."""

import re
from collections.abc import Iterator

import msgspec

from assay.importing.command import CommandLine
from assay.importing.lines import Format, Lines
from assay.importing.text import Column, Text, figure, lines
from assay.model.imported import Table

#: ` LU Benchmark Completed.`; `BT-MZ` of several zones.
_COMPLETED = re.compile(r"\b([A-Z]{2}(?:-[A-Za-z]{2})?) Benchmark Completed\b")
#: Name of a program in a command line: `lu.A.x`, `mg.B.4`, `bt-mz.C.x`.
_PROGRAM = re.compile(r"\b[a-z]{2}(?:-[a-z]{2})?\.[A-Z]\.\w+")
_HEADING = re.compile(r"\bNAS Parallel Benchmarks\b")
#: Fields of a result; a line may have several, after quotation marks.
_FIELD = re.compile(
    r"\b(Class|Time in seconds|Total processes|Total threads|Mop/s total|Verification|Version)\s*=\s*"
    r"(NOT PERFORMED|\S+)"
)
#: The last field of a result that is read; compilers and flags follow.
_LAST = "Version"
#: Kernels for which Assay has its own programs.
_OWN = frozenset({"cg", "ep", "ft", "is", "mg"})
_SHARED_BY = {"Total processes": "ranks", "Total threads": "threads"}


class _Result(msgspec.Struct):
    """A partly read result.

    Attributes:
        program: `lu`.
        line: line of its start.
        fields: name of a field -> its line and value.
    """

    program: str
    line: int
    fields: dict[str, tuple[int, str]] = {}


def _read(source: Lines) -> Iterator[Table]:
    """A table for each result: rate and time; a result that failed NPB's own verification does not count.

    Raises:
        UsageError: class, time or rate of a result is missing or cannot be read.
    """
    text, started = source.text, CommandLine()
    result: _Result | None = None
    for number, line in source:
        completed = _COMPLETED.search(line)
        if result and (source.starts or completed or _HEADING.search(line)):
            yield _table(text, result, started)
            result = None
        started = source.command
        if completed:
            result = _Result(completed[1].lower(), number)
        if result:
            for name, word in _FIELD.findall(line):
                result.fields.setdefault(name, (number, word))
            if _LAST in result.fields:
                yield _table(text, result, started)
                result = None
    if result:
        yield _table(text, result, started)


def _table(text: Text, result: _Result, started: CommandLine) -> Table:
    missing = [name for name in ("Class", "Time in seconds", "Mop/s total") if name not in result.fields]
    if missing:
        text.refuse(result.line, f"no '{missing[0]}' belongs to this result")
    params: dict[str, int | float | str] = {"npb": result.program, "npb-class": result.fields["Class"][1]}
    for name, param in _SHARED_BY.items():
        if name in result.fields:
            params[param] = text.whole(*result.fields[name])
    time, rate = result.fields["Time in seconds"], result.fields["Mop/s total"]
    figures = (
        figure(text, rate[0], Column("rate", "rate", "Mop/s"), rate[1], {}),
        figure(text, time[0], Column("time", "time", "s"), time[1], {}),
    )
    return text.table(
        started,
        "NPB",
        "nas" if result.program in _OWN else "npb",
        figures,
        where=lines(result.line, max(line for line, _ in result.fields.values())),
        version=result.fields.get("Version", (0, ""))[1],
        params=params,
        failed=_problem(result),
    )


def _problem(result: _Result) -> str:
    """Why a result does not count; empty if NPB's verification passed."""
    line, word = result.fields.get("Verification", (result.line, ""))
    if word == "SUCCESSFUL":
        return ""
    if word == "NOT PERFORMED":
        return f"NPB had nothing to verify this result by (line {line})"
    if not word:
        return "NPB's own verification does not stand there"
    return f"NPB's own verification failed in line {line}"


FORMAT = Format("npb", _COMPLETED, _read, _PROGRAM)
