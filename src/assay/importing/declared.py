"""Formats described by a declaration: lines of figures, lines of facts, and the start of a table.

Each is a TOML file in the folder `formats`; a new one needs no edit elsewhere.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from assay.importing.command import CommandLine
from assay.importing.lines import Format, Lines
from assay.importing.text import NO_NUMBER, UNITS, Column, Text, figure, is_number, is_whole, slug
from assay.model.declaration import ParamValue
from assay.model.imported import Figure, Skipped, Table

#: Words for a missing value.
_NOTHING = frozenset({"N/A", "-", "n/a"})
#: Facts that describe figures; all others are parameters.
_ABOUT = frozenset({"version", "unit", "kernel"})
_METRICS = {"s": "latency", "B/s": "bandwidth"}


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The meaning of a group in a row.

    Attributes:
        metric: name; empty: latency or bandwidth, by the unit.
        unit: as printed; empty: from the row (group `unit`) or a heading (fact `unit`).
        params: params of this value.
        kernel: kernel of this value; empty: from the row or heading.
        remark: see Figure.
        better: direction; empty: from the unit.
        unless: words for a missing value.
    """

    metric: str = ""
    unit: str = ""
    params: dict[str, ParamValue] = {}
    remark: str = ""
    better: str = ""
    kernel: str = ""
    unless: frozenset[str] = _NOTHING


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of figures.

    Attributes:
        pattern: pattern of the whole line. Its groups are values, `kernel`, `unit`, or parameters.
        values: name of a group -> its meaning.
        like: pattern of the start of a line that must be such a row; otherwise the line is torn.
        needs: facts that must be known for such a row -> their required value; empty for any.
    """

    pattern: re.Pattern[str]
    values: dict[str, Value] = {}
    like: re.Pattern[str] | None = None
    needs: dict[str, str] = {}


class Matrix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A matrix of figures.

    Attributes:
        heading: pattern of the heading; group 1 has the names of the columns.
        names: parameters of row and column.
        value: meaning of each figure.
    """

    heading: re.Pattern[str]
    names: tuple[str, str]
    value: Value = Value()


class Declared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A declaration of a tool's output.

    Attributes:
        name: name on the command line.
        tool: name for readers.
        benchmark: Assay's benchmark that measures the same, or the tool's own name.
        marks: see Format.
        programs: names of its executables; named groups are parameters.
        rows: lines of figures.
        matrix: matrix of figures.
        kernel: kernel if rows and headings name none.
        facts: name of a fact -> pattern of its line; the first matching group is the value. Facts are parameters,
            unless their names start with `_`.
        options: parameter -> pattern of the words after the program in its command line; group 1 is the value.
        counted: parameter -> pattern of the lines that are counted for it.
        begins: first line of a table; without it, a table begins with the first fact after figures.
        failed: line by which the tool reports that the table is wrong.
        units: printed unit -> key of UNITS.
    """

    name: str
    tool: str
    benchmark: str
    marks: re.Pattern[str]
    programs: re.Pattern[str]
    rows: tuple[Row, ...] = ()
    matrix: Matrix | None = None
    kernel: str = "result"
    facts: dict[str, re.Pattern[str]] = {}
    options: dict[str, re.Pattern[str]] = {}
    counted: dict[str, re.Pattern[str]] = {}
    begins: re.Pattern[str] | None = None
    failed: re.Pattern[str] | None = None
    units: dict[str, str] = {}

    def format(self) -> Format:
        """The format of this declaration."""
        return Format(self.name, self.marks, partial(_read, self), self.programs)


class _Open(msgspec.Struct):
    """A partly read table: its start, facts, figures, counts, and columns of a matrix."""

    line: int = 0
    last: int = 0
    facts: dict[str, str] = {}
    counts: dict[str, int] = {}
    figures: list[Figure] = []
    keys: set[tuple[str, str, str]] = set()
    columns: tuple[str, ...] = ()
    failed: str = ""


class _Line(NamedTuple):
    """A line that may have figures, and the table so far."""

    form: Declared
    text: Text
    number: int
    line: str
    held: _Open


def _read(form: Declared, source: Lines) -> Iterator[Table | Skipped]:
    """Every table of a text, and each row with a word in place of a number.

    Raises:
        UsageError: a row cannot be read, or a heading has no figures.
    """
    text, held, started = source.text, _Open(), CommandLine()
    for number, line in source:
        begins = bool(form.begins and form.begins.search(line))
        facts = {name: word for name, pattern in form.facts.items() if (word := _fact(pattern, line))}
        counted = [name for name, pattern in form.counted.items() if pattern.search(line)]
        at = _Line(form, text, number, line, held)
        if word := _without_number(at):
            yield text.skipped(number, f"'{word}' is no number")
            continue
        figures = [] if facts and not begins else list(_figures(at))
        again = bool(held.keys & set(map(_key, figures)))
        heads = begins or (form.begins is None and bool(held.figures and (facts or counted)))
        if (heads or again or source.starts) and (held.figures or held.line):
            yield _table(form, text, held, started)
            held = _next(held, again=again)
        started = source.command
        _take(held, number, facts | {"": ""} if begins else facts, figures)
        held.counts |= {name: held.counts.get(name, 0) + 1 for name in counted}
        if form.failed and form.failed.search(line):
            held.failed = held.failed or f"the check of {form.tool} itself failed in line {number}"
    if held.figures or held.line:
        yield _table(form, text, held, started)


def _take(held: _Open, number: int, facts: dict[str, str], figures: list[Figure]) -> None:
    """Add facts and figures of a line; the fact without a name marks the start of a table."""
    held.line = number if "" in facts else held.line
    held.facts |= {name: word for name, word in facts.items() if name}
    held.figures += figures
    held.keys |= set(map(_key, figures))
    held.last = number if figures else held.last


def _next(held: _Open, *, again: bool) -> _Open:
    """The table after one that ended; it keeps all facts if it began because a figure was repeated."""
    kept = {name: word for name, word in held.facts.items() if name in _ABOUT or again}
    return _Open(facts=kept, counts=held.counts if again else {}, columns=held.columns if again else ())


def _fact(pattern: re.Pattern[str], line: str) -> str:
    match = pattern.search(line)
    return next((word.strip() for word in match.groups() if word), "") if match else ""


def _key(each: Figure) -> tuple[str, str, str]:
    return each.kernel, each.metric, repr(sorted(each.params.items()))


def _figures(at: _Line) -> Iterator[Figure]:
    """The figures of a line; none if it is not a row."""
    for row in at.form.rows:
        if not all(_is_known(at.held.facts, name, word) for name, word in row.needs.items()):
            continue
        if match := row.pattern.fullmatch(at.line.rstrip()):
            yield from _of_row(at, row, match)
            return
        if row.like and row.like.match(at.line):
            at.text.refuse(at.number, f"this is no whole row of {at.form.tool}")
    if at.form.matrix:
        yield from _of_matrix(at, at.form.matrix)


def _without_number(at: _Line) -> str:
    """The word, as `nan`, that stands where a row has a number; empty for another line."""
    found = NO_NUMBER.search(at.line)
    if found is None:
        return ""
    numbers = (NO_NUMBER.sub(number, at.line).rstrip() for number in ("0.0", "0"))
    is_row = any(
        row.pattern.fullmatch(line)
        for line in numbers
        for row in at.form.rows
        if all(_is_known(at.held.facts, name, word) for name, word in row.needs.items())
    )
    return found[0] if is_row or _is_of_matrix(at, NO_NUMBER.sub("0", at.line).split()) else ""


def _is_known(facts: Mapping[str, str], name: str, word: str) -> bool:
    return name in facts and word in {"", facts[name]}


def _of_row(at: _Line, row: Row, match: re.Match[str]) -> Iterator[Figure]:
    groups = {name: word for name, word in match.groupdict().items() if word is not None}
    plain = {name: _value(word) for name, word in groups.items() if name not in row.values and name not in _ABOUT}
    about = at.held.facts | groups
    for name, value in row.values.items():
        if name in groups and groups[name] not in value.unless:
            yield _figure(at, value, about, (groups[name], plain | value.params))


def _of_matrix(at: _Line, matrix: Matrix) -> Iterator[Figure]:
    words, columns = at.line.split(), at.held.columns
    if heading := matrix.heading.fullmatch(at.line.rstrip()):
        at.held.columns = tuple(heading[1].split())
    elif _is_of_matrix(at, words):
        if len(words) != 1 + len(columns):
            at.text.refuse(at.number, f"{len(words) - 1} figures in a row, but {len(columns)} columns are named")
        for column, word in zip(columns, words[1:], strict=True):
            if word not in matrix.value.unless:
                ends = dict(zip(matrix.names, (_value(words[0]), _value(column)), strict=True))
                yield _figure(at, matrix.value, at.held.facts, (word, ends))
    elif words:
        at.held.columns = ()


def _is_of_matrix(at: _Line, words: Sequence[str]) -> bool:
    """Whether the words of a line are a row of the matrix whose columns are named above."""
    is_row = bool(at.held.columns and words) and is_whole(words[0])
    return is_row and all(is_number(word) or word in _NOTHING for word in words[1:])


def _figure(
    at: _Line, value: Value, about: Mapping[str, str], printed: tuple[str, dict[str, ParamValue]]
) -> Figure:
    """The printed word at its params as a figure; kernel and unit are the value's, else those of the facts."""
    word, params = printed
    shown = value.unit or about.get("unit", "")
    unit = at.form.units.get(shown, shown)
    if unit not in UNITS:
        at.text.refuse(at.number, f"'{shown[:20]}' is no unit of {at.form.tool} that is known")
    metric = value.metric or _METRICS.get(UNITS[unit][0], "value")
    kernel = slug(value.kernel or about.get("kernel") or at.form.kernel)
    found = figure(at.text, at.number, Column(kernel, metric, unit, value.remark), word, params)
    better = value.better or found.better
    return msgspec.structs.replace(found, printed=f"{word} {shown}".strip(), printed_unit=shown, better=better)


def _value(word: str) -> ParamValue:
    return int(word) if is_whole(word) else word.strip()


def _table(form: Declared, text: Text, held: _Open, started: CommandLine) -> Table:
    if not held.figures:
        text.refuse(held.line, "no figures follow this heading")
    program = re.search(form.programs, started.program)
    facts = {name: word for name, word in program.groupdict().items() if word} if program else {}
    words = " ".join(started.options) if program else ""
    facts |= {name: found[1] for name, option in form.options.items() if (found := option.search(words))}
    facts |= {name: word for name, word in held.facts.items() if name not in _ABOUT and name[0] != "_"}
    return text.table(
        started,
        form.tool,
        form.benchmark,
        held.figures,
        version=held.facts.get("version", ""),
        params={name: _value(word) for name, word in facts.items()} | held.counts,
        failed=held.failed,
    )


def _pattern(kind: Any, word: str) -> Any:  # noqa: ANN401 (msgspec's signature)
    """A pattern of a declaration."""
    del kind
    return re.compile(word)


FORMATS = tuple(
    msgspec.toml.decode(path.read_bytes(), type=Declared, dec_hook=_pattern).format()
    for path in sorted((Path(__file__).parent / "formats").glob("*.toml"))
)
