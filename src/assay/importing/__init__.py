"""Reading what other benchmarks printed, so that it can be shown and compared as runs are."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import PurePath

import msgspec

from assay.importing import columns, himeno, hpl, imb, netpipe, npb, numactl, osu, stream
from assay.importing.text import Text
from assay.model.errors import UsageError
from assay.model.imported import IMPORTED_SCHEMA, UNSTATED, Imported, Source, Table, case_of

#: Name of a tool -> what reads its output.
TOOLS: dict[str, Callable[[Text, str], Iterator[Table]]] = {
    "osu": osu.read,
    "imb": imb.read,
    "netpipe": netpipe.read,
    "stream": stream.read,
    "hpl": hpl.read,
    "himeno": himeno.read,
    "npb": npb.read,
    "numactl": numactl.read,
    "csv": columns.read,
}
_DEFAULT = "default"


class ImportOptions(msgspec.Struct, frozen=True):
    """The options of an import that its files do not state.

    Attributes:
        title: for headings; made from the tool and files where empty.
        machine: what was measured, in words.
        test: program that printed rows without a heading.
        placement: of figures whose source does not say it.
    """

    title: str = ""
    machine: str = ""
    test: str = ""
    placement: str = ""


def read(tool: str, texts: Sequence[Text], wanted: ImportOptions | None = None) -> Imported:
    """All tables of some files as one import.

    Raises:
        UsageError: a file holds no table of the tool, or one that cannot be read: file, line and reason.
    """
    wanted = wanted or ImportOptions()
    tables: list[Table] = []
    for text in texts:
        found = list(TOOLS[tool](text, wanted.test))
        if not found:
            text.refuse(0, f"it holds no output of {tool}")
        tables += found
    if wanted.placement:
        tables = [_with_placement(table, wanted.placement) for table in tables]
    names = ", ".join(PurePath(text.name).name for text in texts)
    return Imported(
        schema=IMPORTED_SCHEMA,
        title=wanted.title or f"{tables[0].tool}: {names}",
        machine=wanted.machine or _hosts(tables) or "a machine that the source does not name",
        sources=tuple(Source(text.name, text.sha256) for text in texts),
        tables=tuple(_number_repeats(_with_factor_levels(tables))),
        question="What did another tool print?",
        titled=bool(wanted.title),
    )


def _with_placement(table: Table, placement: str) -> Table:
    unstated = table.placement == UNSTATED
    return msgspec.structs.replace(table, placement=placement) if unstated else table


def _hosts(tables: Sequence[Table]) -> str:
    return ", ".join(dict.fromkeys(chain.from_iterable(table.hosts for table in tables)))


def _with_factor_levels(tables: Sequence[Table]) -> Iterator[Table]:
    """Choices that are not the same in all tables of a benchmark as factors; where none was made: `default`."""
    for table in tables:
        alike = [each.factors for each in tables if each.benchmark == table.benchmark]
        names = list(dict.fromkeys(chain.from_iterable(alike)))
        varied = [name for name in names if len({factors.get(name, _DEFAULT) for factors in alike}) > 1]
        levels = {name: table.factors.get(name, _DEFAULT) for name in varied}
        yield msgspec.structs.replace(table, factors=levels)


def _number_repeats(tables: Iterator[Table]) -> Iterator[Table]:
    """With figures that were printed twice told apart: the second table of a kind is `repeat` 2."""
    seen: set[tuple[str, str, str]] = set()
    for table in tables:
        repeat, told = 1, table
        while seen & (keys := _keys(told)):
            repeat += 1
            told = msgspec.structs.replace(table, params=table.params | {"repeat": repeat})
        if len(keys) < len(table.figures):
            raise UsageError(
                f"cannot import '{table.source}'",
                why=f"{table.where}: the same figure stands twice in one table",
                remedy="keep one of them and import again",
            )
        seen |= keys
        yield told


def _keys(table: Table) -> set[tuple[str, str, str]]:
    return {(case_of(table, each).id, each.kernel, each.metric) for each in table.figures}


__all__ = ["TOOLS", "ImportOptions", "Text", "read"]
