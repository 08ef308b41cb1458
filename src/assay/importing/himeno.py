"""The Himeno benchmark: C and Fortran, serial, OpenMP and MPI."""

import re
from collections.abc import Iterator

from assay.importing.command import CommandLine, command_of, parse_command
from assay.importing.text import Column, Text, figure, lines
from assay.model.imported import UNSTATED, Table

_RATE = re.compile(r"\s*MFLOPS(?:\s+measured)?\s*[:=]\s*(\S+)(.*)", re.IGNORECASE)
#: What stood before this was a rehearsal, which tells how long to measure.
_ACTUAL = re.compile(r".*\bstart the actual measurement\b.*", re.IGNORECASE)
_GRID = re.compile(r"\s*(?:mimax|imax)\s*=\s*(\d{1,9})\b.*", re.IGNORECASE)
_SIZE = re.compile(r"\s*Grid[-_ ]?size\s*[:=]\s*(XS|S|M|L|XL)\b.*", re.IGNORECASE)
#: First extent of the arrays, or of the points that are computed -> size.
_SIZES = {33: "XS", 65: "S", 129: "M", 257: "L", 513: "XL", 32: "XS", 64: "S", 128: "M", 256: "L", 512: "XL"}


def read(text: Text, _test: str = "") -> Iterator[Table]:
    """A table for each rate that the program printed at the start of a line, but that of a rehearsal.

    Raises:
        UsageError: a rate that is no number.
    """
    started, size = CommandLine(), ""
    held: Table | None = None  # until it is known to be no rehearsal
    for number, line in enumerate(text.lines, 1):
        if command := command_of(line):
            started, size = parse_command(command), ""
        if grid := _GRID.fullmatch(line):
            size = size or _SIZES.get(int(grid[1]), "")
        if named := _SIZE.fullmatch(line):
            size = named[1].upper()
        if _ACTUAL.fullmatch(line):
            held = None
        if rate := _RATE.fullmatch(line):
            if held:
                yield held
            held = started.annotate(
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
