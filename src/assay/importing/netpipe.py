"""NetPIPE 3 to 5: its output, and its file np.out."""

import re
from collections.abc import Iterator

import msgspec

from assay.importing.command import CommandLine
from assay.importing.lines import Format, Lines
from assay.importing.text import UNITS, Column, Text, figure, is_number, is_whole
from assay.model.declaration import ParamValue
from assay.model.imported import UNSTATED, Figure, Table

_SHOWN = re.compile(r"\s*\d{1,9}:\s+(\S+)\s+(bytes|B|KB|MB|GB)\s+\d{1,19}\s+times\s+-->(.*)")
_FIGURES = re.compile(r"\s*(\S+)\s+[KMGT]?bps\s+in\s+(\S+)\s+([num]?secs?)\b.*")
_FACTORS = {"bytes": 1, "B": 1, "KB": 1000, "MB": 10**6, "GB": 10**9}
#: Executable -> (Assay's benchmark, kernel).
_MODULES = {
    "NPtcp": ("tcp", "message"),
    "NPtcp6": ("tcp", "message"),
    "NPmpi": ("pt2pt", "message"),
    "NPmpich": ("pt2pt", "message"),
    "NPopenmpi": ("pt2pt", "message"),
    "NPmemcpy": ("memcpy", "memcpy"),
}
_HERE = {"localhost", "127.0.0.1", "::1"}
_NAMED = re.compile(r"\bNP[a-z]+6?\b")
#: Bytes that NetPIPE takes from a size and adds to it.
_PERTURBATION = 3
#: Words in a row of np.out: bytes, Mbit/s, seconds (3); bytes, mean, smallest and largest Gbit/s, microseconds
#: (5).
_OLD, _NEW = 3, 5


class _Row(msgspec.Struct, frozen=True):
    """Size in bytes, and the word and unit of the time."""

    line: int
    size: int
    word: str
    unit: str


def _read(source: Lines) -> Iterator[Table]:
    """Every sweep of a text: latency, and bandwidth as in NetPIPE's curves (size / one-way time).

    NetPIPE measures the time, which is read; its rate follows from it, in units of 2^20 bit up to version 3.

    Raises:
        UsageError: a row cannot be read, or the module of rows is unknown.
    """
    text = source.text
    named = next(iter(_NAMED.findall(text.name)), "")
    started, rows = CommandLine(program=source.test or named), list[_Row]()
    for number, line in source:
        row = _row(text, number, line)
        if rows and (source.starts or (row and row.size <= rows[-1].size)):
            yield _table(text, rows, started)
            rows = []
        if row:
            rows.append(row)
        elif source.starts and (found := _NAMED.search(source.command.line)):
            started = _assumed_placement(msgspec.structs.replace(source.command, program=found[0]))
    if rows:
        yield _table(text, rows, started)


def _assumed_placement(started: CommandLine) -> CommandLine:
    """The command with two nodes as its placement, if it connects to another host: `NPtcp -h n2`."""
    peer = started.option("-h") or started.option("--host")
    if not peer or peer in _HERE or started.placement != UNSTATED or not started.program.startswith("NPtcp"):
        return started
    return msgspec.structs.replace(started, placement="one-core@2")


def _row(text: Text, number: int, line: str) -> _Row | None:
    if shown := _SHOWN.fullmatch(line):
        figures = _FIGURES.fullmatch(shown[3])
        if not figures:
            text.refuse(number, "no 'RATE bps in TIME' follows '-->'")
        text.number(number, figures[1])
        size = _size(text.number(number, shown[1]), shown)
        return _Row(number, size, figures[2], figures[3])
    words = line.split()
    if len(words) in {_OLD, _NEW} and is_whole(words[0]) and all(map(is_number, words)):
        return _Row(number, int(words[0]), words[-1], "s" if len(words) == _OLD else "us")
    if words and is_whole(words[0]) and len(words) > 1 and is_number(words[1]):
        text.refuse(number, f"{len(words)} words in a row; np.out has {_OLD} or {_NEW} numbers")
    return None


def _size(value: float, shown: re.Match[str]) -> int:
    """Bytes; a rounded size becomes 2^n or 3 x 2^n within its digits, which are NetPIPE's sizes."""
    factor = _FACTORS[shown[2]]
    places = len(shown[1].partition(".")[2])
    half = factor * 10.0**-places / 2
    power = 2 ** max(0, int(value * factor).bit_length() - 2)
    whole = [each for each in (2 * power, 3 * power, 4 * power) if abs(each - value * factor) <= half]
    return whole[0] if places and whole else round(value * factor)


def _table(text: Text, rows: list[_Row], started: CommandLine) -> Table:
    if started.program not in _MODULES:
        known = ", ".join(_MODULES)
        text.refuse(rows[0].line, f"nothing names NetPIPE's module; say it with --test, one of {known}")
    benchmark, kernel = _MODULES[started.program]
    sizes = frozenset(row.size for row in rows)
    figures = [each for row in rows for each in _figures(text, row, (benchmark, kernel), sizes)]
    cold = bool({"-I", "--nocache"} & set(started.options))
    return text.table(started, "NetPIPE", benchmark, figures, params={"buffers": "cold"} if cold else {})


def _figures(text: Text, row: _Row, module: tuple[str, str], sizes: frozenset[int]) -> Iterator[Figure]:
    benchmark, kernel = module
    copies = benchmark == "memcpy"
    size = _perturbed(row.size, sizes)
    params = size if copies else {"pattern": "latency", **size}
    time = figure(text, row.line, Column(kernel, "time" if copies else "latency", row.unit), row.word, params)
    yield time
    if time.value > 0:
        bandwidth = row.size / (float(row.word) * UNITS[row.unit][1])
        yield msgspec.structs.replace(
            time,
            metric="bandwidth",
            unit="B/s",
            better="higher",
            value=bandwidth,
            params=size if copies else {"pattern": "ping-pong", **size},
            printed=f"{row.size} B in {time.printed}",
        )


def _perturbed(size: int, sizes: frozenset[int]) -> dict[str, ParamValue]:
    """The size; of one that is perturbed, the size between both perturbed ones, and the offset to it.

    NetPIPE's sizes are 2^n and 3 x 2^n, each with 3 bytes less and more unless it is told otherwise (`-p`).
    """
    for offset in (-_PERTURBATION, _PERTURBATION):
        plain = size - offset
        odd = plain & -plain
        if plain // max(odd, 1) in {1, 3} and {plain, plain - offset} <= sizes:
            return {"bytes": plain, "offset": offset}
    return {"bytes": size}


FORMAT = Format("netpipe", re.compile(_SHOWN.pattern), _read, _NAMED)
