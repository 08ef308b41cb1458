"""The Himeno benchmark: C and Fortran, serial, OpenMP and MPI."""

import re
from collections.abc import Iterator

from assay.importing.lines import Format, Lines
from assay.importing.text import NO_NUMBER, Column, figure
from assay.model.imported import UNSTATED, Skipped, Table

_RATE = re.compile(r"\bMFLOPS(?:\s+measured)?\s*[:=]\s*(\d[\d.]*(?:e[+-]?\d+)?)", re.IGNORECASE | re.ASCII)
#: The output before this line is a test run, which finds the time to measure.
_ACTUAL = re.compile(r".*\bstart the actual measurement\b.*", re.IGNORECASE)
_GRID = re.compile(r"\s*(?:mimax|imax)\s*=\s*(\d{1,9})\b.*", re.IGNORECASE)
_SIZE = re.compile(r"\s*Grid[-_ ]?size\s*[:=]\s*(XS|S|M|L|XL)\b.*", re.IGNORECASE)
#: First extent of the arrays, or of the computed points -> size.
_SIZES = {33: "XS", 65: "S", 129: "M", 257: "L", 513: "XL", 32: "XS", 64: "S", 128: "M", 256: "L", 512: "XL"}


#: Words that distinguish it from other programs that print MFLOPS.
_MARKS = re.compile(r"himeno|姫野|\bm?imax\s*=|Score based on Pentium|\bGosa\b", re.IGNORECASE)


def _read(source: Lines) -> Iterator[Table | Skipped]:
    """A table for each rate, except that of a test run; prose that repeats a rate is ignored."""
    text, size = source.text, ""
    held: Table | None = None  # it may be from a test run
    known: set[str] = set()
    for number, line in source:
        size = _size("" if source.starts else size, line)
        if _ACTUAL.fullmatch(line):
            held = None
        if (word := NO_NUMBER.search(line)) and _RATE.search(NO_NUMBER.sub("0.0", line)):
            yield text.skipped(number, f"'{word[0]}' is no number")
        for rate in _RATE.finditer(line):
            prose = line[: rate.start()].strip() or line[rate.end() : rate.end() + 1].strip()
            if prose and rate[1] in known:
                continue
            known.add(rate[1])
            if held:
                yield held
            measured = figure(text, number, Column("jacobi", "rate", "MFLOPS"), rate[1], {})
            about = {"size": size or UNSTATED}
            held = text.table(source.command, "Himeno benchmark", "himeno", (measured,), params={**about})
            if "measured" in line.lower():
                yield held
                held = None
    if held:
        yield held


def _size(known: str, line: str) -> str:
    """The size of the grid if this line has it; else the known one."""
    if named := _SIZE.fullmatch(line):
        return named[1].upper()
    grid = None if known else _GRID.fullmatch(line)
    return _SIZES.get(int(grid[1]), "") if grid else known


FORMAT = Format("himeno", _MARKS, _read, re.compile(r"himeno|bmt", re.IGNORECASE))
