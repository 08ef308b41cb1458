"""Comma-separated values with a heading: for any other tool, and the output of `assay export`."""

import csv
import re
from collections.abc import Iterator, Mapping

import msgspec

from assay.importing.lines import Format, Lines
from assay.importing.text import UNITS, RefusedError, Text, lines
from assay.model.declaration import ParamValue
from assay.model.imported import UNSTATED, Figure, Skipped, Table

_NEEDED = ("benchmark", "metric", "unit", "value")
_KNOWN = {*_NEEDED, "kernel", "placement", "hosts", "memory", "better", "remark", "params", "factors"}
#: Columns of an export that imported figures do not have.
_EXPORTED = {
    *("id", "case", "state", "cpus", "as_asked", "proven_cpus", "page_nodes", "lo", "hi", "basis", "confidence"),
    "method",  # name of `basis` before schema 2
    *("mean", "min", "max", "p99", "launches", "samples", "stop", "precision", "steady", "modes", "limit"),
    *("limit_source", "limit_of", "status", "reason", "median"),
}
#: Column that only an export has, and the columns of the parts of measurands, which stand in other columns, too.
_KEY = "measurand"
_PARTS = {
    *(_KEY, "version", "direction", "share_of_cores", "part", "relation", "card"),
    *("network_kind", "mpi_kind", "compiler_kind", "blas_kind"),
    *("nodes", "ranks", "ranks_per_node", "threads_per_rank", "devices_per_rank"),
}
_MEMORY = re.compile(r"(first-touch|interleave|bind)(:\d{1,4}(,\d{1,4})*)?", re.ASCII)
_FACTOR = "factor:"
_TIMES = {"s"}


def _read(source: Lines) -> Iterator[Table | Skipped]:
    """A figure for each row. Unknown columns are parameters, `factor:NAME` are factors.

    Raises:
        UsageError: a column is missing, or a quote is not closed.
    """
    text = source.text
    for _ in source:  # to its end, so that reading does not continue after an unclosed quote
        pass
    reader = csv.reader(text.lines, strict=True)
    names: list[str] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if not names:
                names = _heading(text, reader.line_num, [cell.strip() for cell in cells])
                continue
            try:
                if len(cells) != len(names):
                    text.refuse(reader.line_num, f"{len(cells)} cells in a row of {len(names)} columns")
                row = {name: cell.strip() for name, cell in zip(names, cells, strict=True)}
                if row["value"] or "median" not in names:
                    yield _table(text, reader.line_num, row)
            except RefusedError as torn:
                yield Skipped(text.name, lines(torn.line, torn.line), torn.reason, torn.line)
    except csv.Error as error:
        text.refuse(min(reader.line_num, len(text.lines)), str(error))


def _heading(text: Text, line: int, names: list[str]) -> list[str]:
    names = ["value" if name == "median" and "value" not in names else name for name in names]
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        text.refuse(line, f"no column is called {missing[0]}; needed: {', '.join(_NEEDED)}")
    if len(set(names)) < len(names) or "" in names:
        text.refuse(line, "a column has no name, or two have the same")
    return names


def _table(text: Text, line: int, row: Mapping[str, str]) -> Table:
    if row["unit"] not in UNITS:
        text.refuse(line, f"'{row['unit'][:20]}' is no unit; known: {', '.join(filter(None, UNITS))}")
    if not row["benchmark"] or not row["metric"]:
        text.refuse(line, "benchmark or metric is empty")
    unit, factor = UNITS[row["unit"]]
    passed = _KNOWN | _EXPORTED | (_PARTS if _KEY in row else set())
    others = {name: cell for name, cell in row.items() if name not in passed and cell}
    levels = {name.removeprefix(_FACTOR): cell for name, cell in others.items() if name.startswith(_FACTOR)}
    plain = {name: _value(cell) for name, cell in others.items() if not name.startswith(_FACTOR)}
    if "bytes" in plain and not isinstance(plain["bytes"], int):
        text.refuse(line, f"'{str(plain['bytes'])[:20]}' is no whole number of bytes")
    memory = row.get("memory") or "first-touch"
    if not _MEMORY.fullmatch(memory):
        text.refuse(line, f"'{memory[:20]}' is no policy; known: first-touch, interleave, bind:0")
    better = row.get("better") or ("lower" if unit in _TIMES else "higher")
    if better not in {"lower", "higher"}:
        text.refuse(line, f"'{better[:20]}' is neither lower nor higher")
    return Table(
        source=text.name,
        where=lines(line, line),
        tool="CSV",
        benchmark=row["benchmark"],
        figures=(
            Figure(
                kernel=row.get("kernel") or row["benchmark"],
                metric=row["metric"],
                unit=unit,
                value=text.scaled(line, row["value"], factor),
                printed=f"{row['value']} {row['unit']}".strip(),
                printed_unit=row["unit"],
                better=better,
                line=line,
                remark=row.get("remark", ""),
            ),
        ),
        params=_object(text, line, row.get("params", "")) | plain,
        factors={name: str(level) for name, level in _object(text, line, row.get("factors", "")).items()} | levels,
        placement=row.get("placement") or UNSTATED,
        hosts=tuple(row.get("hosts", "").split()),
        memory=memory,
    )


def _object(text: Text, line: int, cell: str) -> dict[str, ParamValue]:
    """Params in the format of an export: a JSON object, or `name=value` words."""
    if not cell.startswith("{"):
        pairs = (word.partition("=") for word in cell.split())
        return {name: _value(value) for name, equals, value in pairs if equals}
    try:
        return msgspec.json.decode(cell, type=dict[str, ParamValue])
    except msgspec.DecodeError:
        text.refuse(line, "params or factors are no JSON object of words and numbers")


def _value(cell: str) -> ParamValue:
    """The cell as a whole number if it is one, else unchanged."""
    return int(cell) if re.fullmatch(r"\d{1,18}", cell, re.ASCII) else cell


#: A heading: the four required words, in any order.
_MARKS = re.compile(
    "".join(rf"(?=(?:.*,)?\s*{name}\s*(?:,|$))" for name in _NEEDED[:3]) + r".*\b(?:value|median)\b"
)
FORMAT = Format("csv", _MARKS, _read, re.compile(r"assay"))
