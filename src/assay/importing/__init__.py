"""Read the output of other benchmarks, so that it can be shown and compared like runs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import PurePath

import msgspec

from assay.catalogue import benchmarks
from assay.importing import (
    columns,
    declared,
    himeno,
    hpl,
    imb,
    netpipe,
    npb,
    numactl,
    osu,
    reframe,
    stream,
    structured,
    wrf,
)
from assay.importing.lines import LONGEST, Format, Lines
from assay.importing.text import Text, read_file, unpacked
from assay.model import printed_measurands
from assay.model.declaration import ParamValue
from assay.model.errors import UsageError
from assay.model.grouping import grouped
from assay.model.imported import IMPORTED_SCHEMA, UNSTATED, Figure, Imported, Skipped, Source, Table, case_of
from assay.model.units import count_of

#: Name of a tool -> format of its output.
FORMATS: dict[str, Format] = {
    each.name: each
    for each in (
        *(room.FORMAT for room in (osu, imb, netpipe, stream, hpl, himeno, npb, numactl, columns, reframe, wrf)),
        *declared.FORMATS,
        *structured.FORMATS,
    )
}
_DEFAULT = "default"
#: Parts of a measurand that differ from figure to figure of a table.
_QUANTITY = frozenset(("program", "kernel", "metric", "unit", "direction"))


class ImportOptions(msgspec.Struct, frozen=True):
    """The options of an import that its files do not state.

    Attributes:
        title: for headings; empty: made from the tool and files.
        machine: description of the measured machine.
        test: program that printed rows without a heading.
        placement: placement of figures whose source does not state it.
        strict: refuse files with an unreadable part.
    """

    title: str = ""
    machine: str = ""
    test: str = ""
    placement: str = ""
    strict: bool = False


def tables_of(text: Text, tool: str = "", test: str = "") -> list[Table | Skipped]:
    """Every table of a text in order, and each part that could not be read.

    If there is no table, the text is tried again without indentation and comment marks.

    Args:
        text: text of a file.
        tool: tool that printed it; empty: found automatically, also several.
        test: program that printed rows without a heading.
    """
    found = list(_tables_of(text, tool, test))
    if any(isinstance(each, Table) for each in found):
        return found
    bare = list(_tables_of(text.bare(), tool, test))
    return bare if any(isinstance(each, Table) for each in bare) else found


def _tables_of(text: Text, tool: str, test: str) -> Iterator[Table | Skipped]:
    for form in [FORMATS[tool]] if tool else found_in(text):
        others = [each for each in FORMATS.values() if each is not form]
        yield from Lines(text, form, others, test if tool else None).tables()


def found_in(text: Text) -> list[Format]:
    """The formats of the output in a text."""
    lines = [line[:LONGEST] for line in text.lines]
    return [form for form in FORMATS.values() if any(map(form.marks.search, lines))]


def read(tool: str, texts: Sequence[Text], wanted: ImportOptions | None = None) -> Imported:
    """All tables of some files as one import. Unreadable parts are listed; the rest is kept.

    Args:
        tool: tool that printed them; empty: found automatically.
        texts: the files.
        wanted: options of the user.

    Raises:
        UsageError: nothing can be read, or, with `strict`, a part cannot: with file, line and reason.
    """
    wanted = wanted or ImportOptions()
    tables: list[Table] = []
    skipped: list[Skipped] = []
    for text in texts:
        found = tables_of(text, tool, wanted.test) or [_without_output(text, tool)]
        skipped += [each for each in found if isinstance(each, Skipped)]
        tables += sorted(
            (each for each in found if isinstance(each, Table)), key=lambda each: each.figures[0].line
        )
    if wanted.placement:
        tables = [_with_placement(table, wanted.placement) for table in tables]
    numbered = list(_number_repeats(list(_with_factor_levels(tables))))
    skipped += [each for each in numbered if isinstance(each, Skipped)]
    tables = [each for each in numbered if isinstance(each, Table)]
    if skipped and (wanted.strict or not tables):
        raise _refusal(skipped)
    names = ", ".join(PurePath(text.name).name for text in texts)
    tools = ", ".join(dict.fromkeys(table.tool for table in tables))
    return Imported(
        schema=IMPORTED_SCHEMA,
        title=wanted.title or f"{tools}: {names}",
        machine=wanted.machine or _hosts(tables) or "a machine that the source does not name",
        sources=tuple(Source(text.name, text.sha256) for text in texts),
        tables=tuple(tables),
        question="What did another tool print?",
        titled=bool(wanted.title),
        skipped=tuple(skipped),
    )


def _without_output(text: Text, tool: str) -> Skipped:
    others = ", ".join(form.name for form in found_in(text) if tool)
    wanted = tool or f"a tool that is known ({', '.join(FORMATS)})"
    hint = f", but of {others}" if others else ""
    return Skipped(text.name, "", f"it holds no output of {wanted}{hint}")


def _refusal(skipped: Sequence[Skipped]) -> UsageError:
    """The error for the first unreadable part, with the number of others."""
    first, others = skipped[0], len(skipped) - 1
    more = f"; and {count_of(others, 'more place')}" if others else ""
    return UsageError(
        f"cannot import '{first.source}'",
        why=(f"line {first.line}: " if first.line else "") + first.reason + more,
        remedy="correct or cut it and import again; see docs/importing.md for what is read",
    )


def _with_placement(table: Table, placement: str) -> Table:
    unstated = table.placement == UNSTATED
    return msgspec.structs.replace(table, placement=placement) if unstated else table


def _hosts(tables: Sequence[Table]) -> str:
    return ", ".join(dict.fromkeys(chain.from_iterable(table.hosts for table in tables)))


def _with_factor_levels(tables: Sequence[Table]) -> Iterator[Table]:
    """Tables with their factors: choices that differ between tables of a benchmark; `default` if not made."""
    levels: dict[str, dict[str, set[str]]] = {}
    for table in tables:
        for name in table.factors:
            levels.setdefault(table.benchmark, {}).setdefault(name, set())
    for table in tables:
        for name, seen in levels.get(table.benchmark, {}).items():
            seen.add(table.factors.get(name, _DEFAULT))
    for table in tables:
        varied = [name for name, seen in levels.get(table.benchmark, {}).items() if len(seen) > 1]
        yield msgspec.structs.replace(table, factors={name: table.factors.get(name, _DEFAULT) for name in varied})


def _number_repeats(tables: Sequence[Table]) -> Iterator[Table | Skipped]:
    """Number tables with figures of equal measurands by the param `repeat`: 1, 2 and so on."""
    numbered: list[tuple[Table, set[str], int]] = []
    times: dict[str, int] = {}
    for table in _told_apart(tables):
        cases = _cases(table)
        if len(cases) < len(table.figures):
            yield Skipped(table.source, table.where, "the same figure stands twice in one table")
            continue
        repeat = 1 + max(times.get(case, 0) for case in cases)
        times |= dict.fromkeys(cases, repeat)
        numbered.append((table, cases, repeat))
    for table, cases, repeat in numbered:
        several = max(times[case] for case in cases) > 1
        yield msgspec.structs.replace(table, params=table.params | {"repeat": repeat}) if several else table


def _told_apart(tables: Sequence[Table]) -> Iterator[Table]:
    """Tables with common cases, told apart by parts of their measurands that differ: version, ranks, threads."""
    members = grouped(tables, lambda table: case_of(table, Figure("", "", "", 0.0, "")).id)
    varied: dict[str, list[str]] = {}
    for case, group in members.items():
        times = Counter(chain.from_iterable(map(_cases, group)))
        every = [_common(table) for table in group] if max(times.values(), default=0) > 1 else []
        names = dict.fromkeys(chain.from_iterable(every))
        varied[case] = [name for name in names if len({parts.get(name, UNSTATED) for parts in every}) > 1]
    for table in tables:
        parts = _common(table)
        differing = varied[case_of(table, Figure("", "", "", 0.0, "")).id]
        params = {name.replace(" ", "-"): _number(parts.get(name, UNSTATED)) for name in differing}
        yield msgspec.structs.replace(table, params=table.params | params) if params else table


def _common(table: Table) -> dict[str, str]:
    """The parts of the measurand that all figures of a table share."""
    first = table.figures[0]
    parts = printed_measurands.of_figure(table, first, benchmarks.of(table.benchmark)).parts
    return {name: value for name, value in parts.items() if name not in {*_QUANTITY, *first.params}}


def _number(word: str) -> ParamValue:
    return int(word) if word.isdecimal() else word


def _cases(table: Table) -> set[str]:
    return {f"{case_of(table, each).id}/{each.kernel}/{each.metric}" for each in table.figures}


__all__ = ["FORMATS", "ImportOptions", "Text", "found_in", "read", "read_file", "tables_of", "unpacked"]
