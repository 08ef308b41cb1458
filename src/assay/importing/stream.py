"""STREAM by J. D. McCalpin, in C or Fortran."""

import re
from collections.abc import Iterator

from assay.importing.command import CommandLine, command_of, parse_command
from assay.importing.text import Column, Text, figure, lines
from assay.model.imported import Figure, Table

_ROW = re.compile(r"\s*(Copy|Scale|Add|Triad)\s*:\s*(.*)", re.IGNORECASE)
_SAID: dict[str, re.Pattern[str]] = {
    "elements": re.compile(r"\s*Array size\s*=\s*(\d{1,18})\b.*"),
    "threads": re.compile(r"\s*Number of Threads (?:counted|requested)\s*=\s*(\d{1,9})\s*"),
    "version": re.compile(r"\s*STREAM version \$Revision:\s*(\S+)\s*\$.*"),
}
_FAILED = re.compile(r"\s*Failed Validation.*", re.IGNORECASE)
#: Rate, then mean, least and largest time.
_WORDS = 4
_KERNELS = ("copy", "scale", "add", "triad")


def read(text: Text, _test: str = "") -> Iterator[Table]:
    """Every table of four kernels. STREAM prints the best rate of its repetitions, and the mean of their times.

    Raises:
        UsageError: a row that cannot be read, or a kernel missing.
    """
    started, said = CommandLine(), dict[str, str]()
    figures, seen, failed = list[Figure](), dict[str, int](), ""
    for number, line in enumerate(text.lines, 1):
        if command := command_of(line):
            yield from _tables(text, figures, (started, said, failed), seen)
            started, said, figures, seen, failed = parse_command(command), {}, [], {}, ""
        for name, pattern in _SAID.items():
            if match := pattern.fullmatch(line):
                said[name] = match[1]
        if _FAILED.fullmatch(line):
            failed = f"STREAM's own validation failed in line {number}"
        if row := _ROW.fullmatch(line):
            kernel = row[1].lower()
            if kernel in seen:
                yield from _tables(text, figures, (started, said, failed), seen)
                figures, seen, failed = [], {}, ""
            seen[kernel] = number
            figures += _figures(text, number, kernel, row[2].split())
    yield from _tables(text, figures, (started, said, failed), seen)


def _figures(text: Text, line: int, kernel: str, words: list[str]) -> Iterator[Figure]:
    if len(words) != _WORDS:
        text.refuse(line, f"{len(words)} numbers in a row, not rate, mean, least and largest time")
    yield figure(text, line, Column(kernel, "bandwidth", "MB/s", "the best of its repetitions"), words[0], {})
    yield figure(text, line, Column(kernel, "mean-time", "s"), words[1], {})


def _tables(
    text: Text, figures: list[Figure], about: tuple[CommandLine, dict[str, str], str], seen: dict[str, int]
) -> Iterator[Table]:
    """The table of four kernels; none where none was begun."""
    if not seen:
        return
    missing = [kernel for kernel in _KERNELS if kernel not in seen]
    if missing:
        text.refuse(max(seen.values()), f"no row of {', '.join(missing)} belongs to this table")
    started, said, failed = about
    yield started.annotate(
        Table(
            source=text.name,
            where=lines(min(seen.values()), max(seen.values())),
            tool="STREAM",
            benchmark="stream",
            figures=tuple(figures),
            version=said.get("version", ""),
            params={name: int(said[name]) for name in ("elements", "threads") if name in said},
            failed=failed,
        )
    )
