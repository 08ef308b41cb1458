"""Logs of applications: steps of WRF, performance of GROMACS."""

import re
from collections.abc import Iterator

import msgspec

from assay.importing.command import CommandLine
from assay.importing.declared import Declared, Row, Value
from assay.importing.lines import Format, Lines
from assay.importing.text import Column, Text, figure, lines
from assay.model.declaration import ParamValue
from assay.model.imported import Figure, Table

#: GROMACS 4.6 to 2025: the last lines of md.log.
GROMACS = Declared(
    name="gromacs",
    tool="GROMACS",
    benchmark="gromacs",
    kernel="run",
    marks=r"^\s*:-\) GROMACS\b|^GROMACS version:|^\s+\(ns/day\)\s+\(hour/ns\)|^Performance:\s+[\d.]+\s+[\d.]+",
    programs=r"^(?:gmx|mdrun)",
    begins=re.compile(r"^\s*:-\) GROMACS\b.*\(-:|^Log file opened on"),
    facts={
        "version": re.compile(r"^GROMACS version:\s+(?:VERSION )?(\S+)"),
        "ranks": re.compile(r"^Using (\d+) MPI (?:process|thread)"),
        "threads": re.compile(r"^Using (\d+) OpenMP thread"),
        "atoms": re.compile(r"^There are: (\d+) Atoms"),
        "steps": re.compile(r"^\s+nsteps\s+= (\d+)"),
    },
    rows=(
        Row(
            re.compile(r"Performance:\s+(?P<rate>\d[\d.]*)\s+[\d.]+"),
            {"rate": Value("simulated", "ns/day")},
            like=re.compile(r"Performance:\s"),
        ),
        Row(
            re.compile(r"\s+Time:\s+[\d.]+\s+(?P<time>\d[\d.]*)\s+[\d.]+"),
            {"time": Value("time", "s")},
        ),
    ),
)

#: Model time or file, domain, seconds.
_STEP = re.compile(
    r"Timing for main:? (?:\(dt=\s*[\d.]+\):? )?time (\S+) on domain\s+(\d+):\s+(\S+) elapsed seconds\.?"
)
_WRITING = re.compile(r"Timing for Writing (\S+) for domain\s+(\d+):\s+(\S+) elapsed seconds\.?")
_WRF_MARKS = re.compile(r"^\s*Timing for (?:main|Writing)\b.*elapsed seconds")
_WRF_SIZE = re.compile(r"^\s*Ntasks in X\s+(\d+)\s*,\s*ntasks in Y\s+(\d+)")


class _Steps(msgspec.Struct):
    """The timings of a domain."""

    first: int
    last: int
    seconds: list[float] = []


def _read_wrf(source: Lines) -> Iterator[Table]:
    """Steps and output of each domain in a WRF rsl file: their number, mean and sum.

    Raises:
        UsageError: a time cannot be read.
    """
    text, started = source.text, CommandLine()
    params: dict[str, ParamValue] = {}
    held: dict[tuple[str, int], _Steps] = {}
    seen: set[tuple[str, ...]] = set()  # several ranks may write into one file
    for number, line in source:
        if size := _WRF_SIZE.match(line):
            if held:
                yield _wrf(text, held, params, started)
                held, seen = {}, set()
            params = {"ranks": int(size[1]) * int(size[2])}
        started = source.command
        step = _STEP.fullmatch(line.strip())
        if timed := step or _WRITING.fullmatch(line.strip()):
            seconds = text.number(number, timed[3])
            about = held.setdefault(("step" if step else "output", int(timed[2])), _Steps(number, number))
            about.last = number
            if timed.groups() not in seen:
                about.seconds.append(seconds)
            seen.add(timed.groups())
        elif _WRF_MARKS.match(line):
            text.refuse(number, "this is no whole line of WRF's timings")
    if held:
        yield _wrf(text, held, params, started)


def _wrf(
    text: Text, held: dict[tuple[str, int], _Steps], params: dict[str, ParamValue], started: CommandLine
) -> Table:
    figures: list[Figure] = []
    for (kernel, domain), steps in held.items():
        count, total = len(steps.seconds), sum(steps.seconds)
        about: dict[str, ParamValue] = {"domain": domain}
        mean = Column(kernel, "mean-time", "s", f"the mean of {count}, the first one included")
        figures.append(figure(text, steps.first, mean, f"{total / count:.6g}", about))
        figures.append(
            figure(text, steps.first, Column(kernel, "time", "s", f"the sum of {count}"), f"{total:.6g}", about)
        )
    first, last = min(each.first for each in held.values()), max(each.last for each in held.values())
    return text.table(started, "WRF", "wrf", figures, where=lines(first, last), params=params)


FORMATS = (GROMACS.format(), Format("wrf", _WRF_MARKS, _read_wrf, re.compile(r"wrf")))
