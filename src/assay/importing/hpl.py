"""HPL.out, the output of the High-Performance Linpack benchmark."""

import re
from collections.abc import Iterator

import msgspec

from assay.importing.command import CommandLine
from assay.importing.lines import Format, Lines
from assay.importing.text import Column, Text, figure
from assay.model.imported import Table

_HEADING = re.compile(r"\s*T/V\s+N\s+NB\s+P\s+Q\s+Time\s+Gflops\s*(?:\(\s*per GPU\)\s*)?")
_VERSION = re.compile(r"\s*(?:HPLinpack|HPL-NVIDIA)\s+(\S+)\s+--.*")
#: Names of variants in HPL, Intel's and NVIDIA's version: `WR11C2R4`, `WC00C2R100000`, `WC0`.
_ROW = re.compile(r"\s*(W[RC]\d{1,3}(?:[LCR]\d{1,9}){0,2})\s+(\S.*)", re.ASCII)
#: NVIDIA's version prints the rate of one GPU after that of all.
_EACH = re.compile(r"\s*\(\s*[\d.eE+-]+\s*\)", re.ASCII)
_CHECK = re.compile(r"\s*\|\|.*\.\.\.\s*(PASSED|FAILED)\s*")
#: N, NB, P, Q, seconds, GFLOP/s.
_WORDS = 6


def _read(source: Lines) -> Iterator[Table]:
    """Every solved system: rate and time; a system with a wrong residual does not count.

    Raises:
        UsageError: a row cannot be read.
    """
    text, version = source.text, ""
    table: Table | None = None
    failed = ""
    for number, line in source:
        if match := _VERSION.fullmatch(line):
            version = match[1]
        if (check := _CHECK.fullmatch(line)) and check[1] == "FAILED":
            failed = failed or f"HPL's own check of the residual failed in line {number}"
        row = _ROW.fullmatch(line.rstrip())
        if row or _HEADING.fullmatch(line):
            yield from _with_residual_check(table, failed)
            table, failed = None, ""
        if row:
            table = _table(text, number, row, source.command, version)
    yield from _with_residual_check(table, failed)


def _with_residual_check(table: Table | None, failed: str) -> Iterator[Table]:
    if table:
        yield msgspec.structs.replace(table, failed=failed)


def _table(text: Text, line: int, row: re.Match[str], started: CommandLine, version: str) -> Table:
    words = _EACH.sub("", row[2]).split()
    if len(words) != _WORDS:
        text.refuse(line, f"{len(words)} numbers in a row, not N, NB, P, Q, time and Gflops")
    sizes = {name: text.whole(line, word) for name, word in zip(("n", "nb", "p", "q"), words, strict=False)}
    rate = figure(text, line, Column("rate", "rate", "GFLOPS"), words[5], {})
    time = figure(text, line, Column("time", "time", "s"), words[4], {})
    return text.table(started, "HPL", "hpl", (rate, time), version=version, params={**sizes, "variant": row[1]})


FORMAT = Format(
    "hpl",
    re.compile(rf"{_ROW.pattern}|{_HEADING.pattern}", re.ASCII),
    _read,
    re.compile(r"hpl|hpcc", re.IGNORECASE),
)
