"""STREAM by J. D. McCalpin, in C or Fortran."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from assay.importing.command import CommandLine
from assay.importing.lines import Format, Lines
from assay.importing.text import Column, Text, figure, is_number
from assay.model.imported import Figure, Table

if TYPE_CHECKING:
    from assay.model.declaration import ParamValue

_ROW = re.compile(r"\s*(Copy|Scale|Add|Triad)\s*:\s*(.*)", re.IGNORECASE)
#: HPCC's STREAM prints GB/s; GB are 10^9 bytes.
_HEADING = re.compile(r"\s*Function\s+(?:Best )?Rate\s*\(?([MG]B/s)\)?.*")
#: Facts; the version is at the start of the output, the device only in NVIDIA's version.
_FACTS: dict[str, re.Pattern[str]] = {
    "version": re.compile(r"\s*(?:STREAM version \$Revision:|NVIDIA-STREAM)\s*(\S+)\s*(?:\$|--).*"),
    "device": re.compile(r'\s*Device Selected \d{1,4}: "([^"]+)".*'),
    "elements": re.compile(r"\s*Array size\s*=\s*(\d{1,18})\b.*"),
    "threads": re.compile(r"\s*Number of Threads (?:counted|requested)\s*=\s*(\d{1,9})\s*"),
}
_FAILED = re.compile(r"\s*Failed Validation.*", re.IGNORECASE)
#: Numbers in a row: rate, then mean, smallest and largest time.
_WORDS = 4
_BEST = "the best of its repetitions"
_COUNTED = ("elements", "threads")
_KERNELS = ("copy", "scale", "add", "triad")


class _Rows(msgspec.Struct):
    """A partly read table.

    Attributes:
        facts: elements, threads, device and version.
        unit: unit of its rates.
        seen: kernel -> line.
        failed: why it does not count.
    """

    facts: dict[str, str] = {}
    unit: str = "MB/s"
    figures: list[Figure] = []
    seen: dict[str, int] = {}
    failed: str = ""


def _read(source: Lines) -> Iterator[Table]:
    """Every table of four kernels. STREAM prints the best rate of its repetitions, and their mean time.

    Raises:
        UsageError: a row cannot be read, or a kernel is missing.
    """
    text, started, rows = source.text, CommandLine(), _Rows()
    for number, line in source:
        heading, row = _HEADING.fullmatch(line), _ROW.fullmatch(line)
        kernel = row[1].lower() if row else ""
        if rows.seen and (source.starts or heading or kernel in rows.seen):
            yield _table(text, rows, started)
            rows = _Rows(facts={} if source.starts else rows.facts, unit=rows.unit)
        started = source.command
        if heading:
            rows.unit = heading[1]
        for name, pattern in _FACTS.items():
            if match := pattern.fullmatch(line):
                rows.facts = rows.facts | {name: match[1]} if name != "version" else {name: match[1]}
        if _FAILED.fullmatch(line):
            rows.failed = f"STREAM's own validation failed in line {number}"
        if row and (rows.seen or any(map(is_number, row[2].split()))):
            rows.seen[kernel] = number
            rows.figures += _figures(text, number, Column(kernel, "bandwidth", rows.unit, _BEST), row[2].split())
    if rows.seen:
        yield _table(text, rows, started)


def _figures(text: Text, line: int, rate: Column, words: list[str]) -> Iterator[Figure]:
    if len(words) != _WORDS:
        text.refuse(line, f"{len(words)} numbers in a row, not rate, mean, least and largest time")
    yield figure(text, line, rate, words[0], {})
    yield figure(text, line, Column(rate.kernel, "mean-time", "s"), words[1], {})


def _table(text: Text, rows: _Rows, started: CommandLine) -> Table:
    missing = [kernel for kernel in _KERNELS if kernel not in rows.seen]
    if missing:
        text.refuse(max(rows.seen.values()), f"no row of {', '.join(missing)} belongs to this table")
    params: dict[str, ParamValue] = {name: int(rows.facts[name]) for name in _COUNTED if name in rows.facts}
    params |= {"device": rows.facts["device"]} if "device" in rows.facts else {}
    return text.table(
        started,
        "STREAM",
        "stream",
        rows.figures,
        version=rows.facts.get("version", ""),
        params=params,
        failed=rows.failed,
    )


FORMAT = Format(
    "stream",
    re.compile(rf"{_HEADING.pattern}|^\s*(?:Copy|Triad)\s*:(?:\s+[\d.]+){{4}}"),
    _read,
    re.compile(r"(?i)stream|hpcc"),
)
