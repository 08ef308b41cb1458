"""ReFrame's performance log: a line for each variable (versions 2 and 3), or for each test (version 4)."""

import re
from collections.abc import Iterator, Mapping, Sequence

from assay.importing.lines import Format, Lines
from assay.importing.text import Text, is_number, lines, slug
from assay.model.imported import Figure, Table
from assay.model.units import printed_unit

#: Its time may have been removed as the prefix of a log.
_LINE = re.compile(r"^\s*(?:[\d-]+T[\d:.]+[^|]*\|)?reframe \d[^|]*\|")
_HEADING = re.compile(r"^\s*(?:\w+\|)*job_completion_time\|.*\w_value\|")
#: `Test on system:partition using environment`, `Test @system:partition+environment`.
_INFO = re.compile(r"(\S+).*?(?: on |\s@)([^:|\s]+):([^+|\s]+)(?: using |\+)(\S+)")
_VALUE, _UNIT = "_value", "_unit"
#: Fields of the job.
_OF_JOB = frozenset({"jobid", "ref", "lower", "upper", "num_tasks", "num_cpus_per_task", "num_tasks_per_node"})


def _read(source: Lines) -> Iterator[Table]:
    """A table for each execution of a test; its variables are the kernels."""
    text, heading, run, held, first = source.text, list[str](), list[str](), list[Figure](), 0
    for number, line in source:
        words = [word.strip() for word in line.split("|")]
        words = ["", *words] if words[0].startswith("reframe ") else words
        if _HEADING.match(line):
            heading = words
        fields = dict(zip(heading, words, strict=False)) if len(words) == len(heading) > 1 else {}
        if heading == words or not (fields or _LINE.match(line)):
            continue
        now = words if fields else words[:4]
        if held and now != run:
            yield _table(text, first, run, heading, held)
            held = []
        run, first = now, first if held else number
        held += _named(text, number, fields) if fields else _single(text, number, words)
    if held:
        yield _table(text, first, run, heading, held)


def _named(text: Text, line: int, fields: Mapping[str, str]) -> Iterator[Figure]:
    """Every variable with a number in a line under a heading."""
    for name, value in fields.items():
        if name.endswith(_VALUE) and is_number(value):
            yield _figure(
                text, line, name.removesuffix(_VALUE), value, fields.get(name[: -len(_VALUE)] + _UNIT, "")
            )


def _single(text: Text, line: int, words: Sequence[str]) -> Iterator[Figure]:
    """The variable of a line; its unit is named, or follows its reference."""
    pairs = [word.partition("=")[::2] for word in words]
    units = [value for name, value in pairs if name == "units"]
    units += [unit for (name, _), unit in zip(pairs, words[1:], strict=False) if name == "ref" and "=" not in unit]
    for name, value in pairs:
        if name not in _OF_JOB and is_number(value):
            yield _figure(text, line, name, value, units[0] if units else "")
            return


def _figure(text: Text, line: int, name: str, word: str, printed: str) -> Figure:
    unit, factor = printed_unit(printed)
    return Figure(
        kernel=slug(name),
        metric="performance",
        unit=unit,
        value=text.scaled(line, word, factor),
        printed=f"{word} {printed}".strip(),
        printed_unit=printed,
        better="lower" if unit == "s" else "higher",
        line=line,
    )


def _table(text: Text, first: int, run: Sequence[str], heading: Sequence[str], held: Sequence[Figure]) -> Table:
    """The table of one line, or of the lines of one job."""
    fields = dict(zip(heading, run, strict=False)) if len(run) == len(heading) else {}
    info = _INFO.match(fields.get("info", "") or ("" if fields else run[2]))
    stated = tuple(fields.get(key, "") for key in ("name", "system", "partition", "environ"))
    name, *place = info.groups() if info else stated
    version = re.search(r"reframe (\S+)", "|".join(run))
    places = zip(("system", "partition", "environment"), place, strict=False)
    return Table(
        source=text.name,
        where=lines(first, held[-1].line),
        tool="ReFrame",
        benchmark=f"reframe-{slug(name)}",
        figures=tuple(held),
        version=version[1] if version else "",
        params={key: value for key, value in places if value},
    )


FORMAT = Format("reframe", re.compile(f"{_LINE.pattern}|{_HEADING.pattern}"), _read, re.compile(r"^reframe$"))
