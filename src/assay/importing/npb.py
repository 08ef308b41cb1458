"""The NAS Parallel Benchmarks 2 and 3 of NASA: with MPI, OpenMP and serial, also multi-zone, Fortran and C."""

import re
from collections.abc import Iterator

import msgspec

from assay.importing.command import CommandLine
from assay.importing.lines import Format, Lines
from assay.importing.text import Column, Text, figure, lines
from assay.model.imported import Table

#: ` LU Benchmark Completed.`; `BT-MZ` of several zones.
_COMPLETED = re.compile(r"\b([A-Z]{2}(?:-[A-Za-z]{2})?) Benchmark Completed\b")
#: What a command line that starts one has: `lu.A.x`, `mg.B.4`, `bt-mz.C.x`.
_PROGRAM = re.compile(r"\b[a-z]{2}(?:-[a-z]{2})?\.[A-Z]\.\w+")
_HEADING = re.compile(r"\bNAS Parallel Benchmarks\b")
#: What a result says; several of it may have come to stand in one line, behind marks of a quotation.
_SAID = re.compile(
    r"\b(Class|Time in seconds|Total processes|Total threads|Mop/s total|Verification|Version)\s*=\s*"
    r"(NOT PERFORMED|\S+)"
)
#: The last line of a result that is read; compilers and flags follow.
_LAST = "Version"
#: Kernels that Assay has programs of its own for.
_OWN = frozenset({"cg", "ep", "ft", "is", "mg"})
_SHARED_BY = {"Total processes": "ranks", "Total threads": "threads"}


class _Result(msgspec.Struct):
    """A result as far as it was read.

    Attributes:
        program: `lu`.
        line: where it begins.
        said: what stands in it -> its line and the word.
    """

    program: str
    line: int
    said: dict[str, tuple[int, str]] = {}


def _read(source: Lines) -> Iterator[Table]:
    """A table for each result: rate and time; one that NPB's own verification did not pass does not count.

    Raises:
        UsageError: a result without class, time or rate, or with one that cannot be read.
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
            for name, word in _SAID.findall(line):
                result.said.setdefault(name, (number, word))
            if _LAST in result.said:
                yield _table(text, result, started)
                result = None
    if result:
        yield _table(text, result, started)


def _table(text: Text, result: _Result, started: CommandLine) -> Table:
    missing = [name for name in ("Class", "Time in seconds", "Mop/s total") if name not in result.said]
    if missing:
        text.refuse(result.line, f"no '{missing[0]}' belongs to this result")
    params: dict[str, int | float | str] = {"npb": result.program, "npb-class": result.said["Class"][1]}
    for name, param in _SHARED_BY.items():
        if name in result.said:
            params[param] = text.whole(*result.said[name])
    time, rate = result.said["Time in seconds"], result.said["Mop/s total"]
    return started.annotate(
        Table(
            source=text.name,
            where=lines(result.line, max(line for line, _ in result.said.values())),
            tool="NPB",
            benchmark="nas" if result.program in _OWN else "npb",
            figures=(
                figure(text, rate[0], Column("rate", "rate", "Mop/s"), rate[1], {}),
                figure(text, time[0], Column("time", "time", "s"), time[1], {}),
            ),
            version=result.said.get("Version", (0, ""))[1],
            params=params,
            failed=_problem(result),
        )
    )


def _problem(result: _Result) -> str:
    """Why a result does not count; empty if NPB found it right."""
    line, word = result.said.get("Verification", (result.line, ""))
    if word == "SUCCESSFUL":
        return ""
    if word == "NOT PERFORMED":
        return f"NPB had nothing to verify this result by (line {line})"
    if not word:
        return "NPB's own verification does not stand there"
    return f"NPB's own verification failed in line {line}"


FORMAT = Format("npb", _COMPLETED, _read, _PROGRAM)
