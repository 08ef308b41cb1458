"""Logs of WRF: steps and output of each domain."""

import re
from collections.abc import Iterator

import msgspec

from assay.importing.command import CommandLine
from assay.importing.lines import Format, Lines
from assay.importing.text import Column, Text, figure, lines
from assay.model.declaration import ParamValue
from assay.model.imported import Figure, Table

#: Model time or file, domain, seconds.
_STEP = re.compile(
    r"Timing for main:? (?:\(dt=\s*[\d.]+\):? )?time (\S+) on domain\s+(\d+):\s+(\S+) elapsed seconds\.?"
)
_WRITING = re.compile(r"Timing for Writing (\S+) for domain\s+(\d+):\s+(\S+) elapsed seconds\.?")
_MARKS = re.compile(r"^\s*Timing for (?:main|Writing)\b.*elapsed seconds")
_SIZE = re.compile(r"^\s*Ntasks in X\s+(\d+)\s*,\s*ntasks in Y\s+(\d+)")


class _Steps(msgspec.Struct):
    """The timings of a domain."""

    first: int
    last: int
    seconds: list[float] = []


def _read(source: Lines) -> Iterator[Table]:
    """Steps and output of each domain in a WRF rsl file: their number, mean and sum.

    Raises:
        UsageError: a time cannot be read.
    """
    text, started = source.text, CommandLine()
    params: dict[str, ParamValue] = {}
    held: dict[tuple[str, int], _Steps] = {}
    seen: set[tuple[str, ...]] = set()  # several ranks may write into one file
    for number, line in source:
        if size := _SIZE.match(line):
            if held:
                yield _table(text, held, params, started)
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
        elif _MARKS.match(line):
            text.refuse(number, "this is no whole line of WRF's timings")
    if held:
        yield _table(text, held, params, started)


def _table(
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


FORMAT = Format("wrf", _MARKS, _read, re.compile(r"wrf"))
