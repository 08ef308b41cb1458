"""The Himeno benchmark: C and Fortran, serial, OpenMP and MPI."""

import re
from collections.abc import Iterator

from assay.importing.lines import Format, Lines
from assay.importing.text import Column, figure, lines
from assay.model.imported import UNSTATED, Table

_RATE = re.compile(r"\bMFLOPS(?:\s+measured)?\s*[:=]\s*(\d[\d.]*(?:e[+-]?\d+)?)", re.IGNORECASE | re.ASCII)
#: What stood before this was a rehearsal, which tells how long to measure.
_ACTUAL = re.compile(r".*\bstart the actual measurement\b.*", re.IGNORECASE)
_GRID = re.compile(r"\s*(?:mimax|imax)\s*=\s*(\d{1,9})\b.*", re.IGNORECASE)
_SIZE = re.compile(r"\s*Grid[-_ ]?size\s*[:=]\s*(XS|S|M|L|XL)\b.*", re.IGNORECASE)
#: First extent of the arrays, or of the points that are computed -> size.
_SIZES = {33: "XS", 65: "S", 129: "M", 257: "L", 513: "XL", 32: "XS", 64: "S", 128: "M", 256: "L", 512: "XL"}


#: Of other programs that print MFLOPS it is told by one of these, anywhere.
_MARKS = re.compile(r"himeno|姫野|\bm?imax\s*=|Score based on Pentium|\bGosa\b", re.IGNORECASE)


def _read(source: Lines) -> Iterator[Table]:
    """A table for each rate, but that of a rehearsal; prose that repeats a rate adds none."""
    text, size = source.text, ""
    held: Table | None = None  # until it is known to be no rehearsal
    told: set[str] = set()
    for number, line in source:
        size = _size("" if source.starts else size, line)
        if _ACTUAL.fullmatch(line):
            held = None
        for rate in _RATE.finditer(line):
            prose = line[: rate.start()].strip() or line[rate.end() : rate.end() + 1].strip()
            if prose and rate[1] in told:
                continue
            told.add(rate[1])
            if held:
                yield held
            held = source.command.annotate(
                Table(
                    source=text.name,
                    where=lines(number, number),
                    tool="Himeno benchmark",
                    benchmark="himeno",
                    figures=(figure(text, number, Column("jacobi", "rate", "MFLOPS"), rate[1], {}),),
                    params={"size": size or UNSTATED},
                )
            )
            if "measured" in line.lower():
                yield held
                held = None
    if held:
        yield held


def _size(known: str, line: str) -> str:
    """The size of the grid, where this line says it; else what is known."""
    if named := _SIZE.fullmatch(line):
        return named[1].upper()
    grid = None if known else _GRID.fullmatch(line)
    return _SIZES.get(int(grid[1]), "") if grid else known


FORMAT = Format("himeno", _MARKS, _read, re.compile(r"himeno|bmt", re.IGNORECASE))
