"""Formats that a declaration describes: which lines are figures, what others say, where a table begins."""

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from assay.importing.command import CommandLine
from assay.importing.lines import Format, Lines
from assay.importing.text import UNITS, Column, Text, figure, is_number, is_whole, lines, slug
from assay.model.benchmark import ParamValue
from assay.model.imported import Figure, Table

Params = Mapping[str, ParamValue]
#: What tools print if there is nothing.
_NOTHING = frozenset({"N/A", "-", "n/a"})
#: Facts that say what figures are; all others are parameters.
_ABOUT = frozenset({"version", "unit", "kernel"})
_METRICS = {"s": "latency", "B/s": "bandwidth"}


class Value(NamedTuple):
    """What a group of a row is.

    Attributes:
        metric: name; empty for latency or bandwidth, by the unit.
        unit: as printed; empty if the row (group `unit`) or a heading (fact `unit`) says it.
        params: of this value.
        kernel: of this value; empty for that of the row or heading.
        remark: see Figure.
        better: direction; empty for that of the unit.
        unless: words that stand for no value.
    """

    metric: str = ""
    unit: str = ""
    params: Params = MappingProxyType({})
    remark: str = ""
    better: str = ""
    kernel: str = ""
    unless: AbstractSet[str] = _NOTHING


class Row(NamedTuple):
    """A line of figures.

    Attributes:
        pattern: of the whole line. Its groups are values, or `kernel`, `unit`, or parameters.
        values: name of a group -> what it is.
        like: what a line begins with that must be such a row; else it is torn.
        needs: facts without which such a line is none -> the word that each must be; empty for any.
    """

    pattern: re.Pattern[str]
    values: Mapping[str, Value]
    like: re.Pattern[str] | None = None
    needs: Mapping[str, str] = MappingProxyType({})


class Matrix(NamedTuple):
    """Figures between each of some and each of others.

    Attributes:
        heading: of its columns; their names are group 1.
        names: parameters of row and column.
        value: what each figure is.
    """

    heading: re.Pattern[str]
    names: tuple[str, str]
    value: Value


class Declared(NamedTuple):
    """The output of a tool.

    Attributes:
        name: word for it on the command line.
        tool: for people.
        benchmark: of ours that measures the same, or the tool's own name.
        marks: see Format.
        programs: names of its executables; named groups are parameters.
        rows: lines of figures.
        matrix: figures between each and each.
        kernel: where rows and headings name none.
        said: name of a fact -> the line that says it, in its first group that matched; a parameter, but for those
            that begin with `_`.
        counted: parameter -> the line that is counted for it.
        begins: line that begins a table; without it one begins with the first fact behind figures.
        failed: line by which the tool condemns the table.
        units: as printed -> as in UNITS.
    """

    name: str
    tool: str
    benchmark: str
    marks: str
    programs: str
    rows: tuple[Row, ...] = ()
    matrix: Matrix | None = None
    kernel: str = "result"
    said: Mapping[str, re.Pattern[str]] = MappingProxyType({})
    counted: Mapping[str, re.Pattern[str]] = MappingProxyType({})
    begins: re.Pattern[str] | None = None
    failed: re.Pattern[str] | None = None
    units: Mapping[str, str] = MappingProxyType({})

    def format(self) -> Format:
        """What reads it."""
        return Format(self.name, re.compile(self.marks), partial(_read, self), re.compile(self.programs))


class _Open(msgspec.Struct):
    """A table as far as it was read: where it began, facts and figures, what counts them, columns of a matrix."""

    line: int = 0
    last: int = 0
    facts: dict[str, str] = {}
    counts: dict[str, int] = {}
    figures: list[Figure] = []
    keys: set[tuple[str, str, str]] = set()
    columns: tuple[str, ...] = ()
    failed: str = ""


class _Line(NamedTuple):
    """A line that may hold figures, and what was read before it."""

    form: Declared
    text: Text
    number: int
    line: str
    held: _Open


def _read(form: Declared, source: Lines) -> Iterator[Table]:
    """Every table of a text.

    Raises:
        UsageError: a row that cannot be read, or a heading without figures.
    """
    text, held, started = source.text, _Open(), CommandLine()
    for number, line in source:
        begins = bool(form.begins and form.begins.search(line))
        facts = {name: said for name, pattern in form.said.items() if (said := _said(pattern, line))}
        counted = [name for name, pattern in form.counted.items() if pattern.search(line)]
        figures = [] if facts and not begins else list(_figures(_Line(form, text, number, line, held)))
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
    """Add what a line says; the fact without a name is that a table begins."""
    held.line = number if "" in facts else held.line
    held.facts |= {name: word for name, word in facts.items() if name}
    held.figures += figures
    held.keys |= set(map(_key, figures))
    held.last = number if figures else held.last


def _next(held: _Open, *, again: bool) -> _Open:
    """The table behind one that ended: of the same start, where a figure came again, all facts hold."""
    kept = {name: word for name, word in held.facts.items() if name in _ABOUT or again}
    return _Open(facts=kept, counts=held.counts if again else {}, columns=held.columns if again else ())


def _said(pattern: re.Pattern[str], line: str) -> str:
    match = pattern.search(line)
    return next((word.strip() for word in match.groups() if word), "") if match else ""


def _key(each: Figure) -> tuple[str, str, str]:
    return each.kernel, each.metric, repr(sorted(each.params.items()))


def _figures(at: _Line) -> Iterator[Figure]:
    """The figures of a line; none where it is no row."""
    for row in at.form.rows:
        if not all(_is_said(at.held.facts, name, word) for name, word in row.needs.items()):
            continue
        if match := row.pattern.fullmatch(at.line.rstrip()):
            yield from _of_row(at, row, match)
            return
        if row.like and row.like.match(at.line):
            at.text.refuse(at.number, f"this is no whole row of {at.form.tool}")
    if at.form.matrix:
        yield from _of_matrix(at, at.form.matrix)


def _is_said(facts: Mapping[str, str], name: str, word: str) -> bool:
    return name in facts and word in {"", facts[name]}


def _of_row(at: _Line, row: Row, match: re.Match[str]) -> Iterator[Figure]:
    groups = {name: word for name, word in match.groupdict().items() if word is not None}
    plain = {name: _value(word) for name, word in groups.items() if name not in row.values and name not in _ABOUT}
    about = at.held.facts | groups
    for name, value in row.values.items():
        if name in groups and groups[name] not in value.unless:
            yield _figure(at, value, about, (groups[name], plain | dict(value.params)))


def _of_matrix(at: _Line, matrix: Matrix) -> Iterator[Figure]:
    words, columns = at.line.split(), at.held.columns
    if heading := matrix.heading.fullmatch(at.line.rstrip()):
        at.held.columns = tuple(heading[1].split())
    elif columns and words and is_whole(words[0]) and all(is_number(w) or w in _NOTHING for w in words[1:]):
        if len(words) != 1 + len(columns):
            at.text.refuse(at.number, f"{len(words) - 1} figures in a row, but {len(columns)} columns are named")
        for column, word in zip(columns, words[1:], strict=True):
            if word not in matrix.value.unless:
                ends = dict(zip(matrix.names, (_value(words[0]), _value(column)), strict=True))
                yield _figure(at, matrix.value, at.held.facts, (word, ends))
    elif words:
        at.held.columns = ()


def _figure(
    at: _Line, value: Value, about: Mapping[str, str], printed: tuple[str, dict[str, ParamValue]]
) -> Figure:
    """The printed word at its params as a figure; kernel and unit are the value's, else those that were said."""
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
    facts |= {name: word for name, word in held.facts.items() if name not in _ABOUT and name[0] != "_"}
    return started.annotate(
        Table(
            source=text.name,
            where=lines(held.figures[0].line, held.last),
            tool=form.tool,
            benchmark=form.benchmark,
            figures=tuple(held.figures),
            version=held.facts.get("version", ""),
            params={name: _value(word) for name, word in facts.items()} | held.counts,
            failed=held.failed,
        )
    )
