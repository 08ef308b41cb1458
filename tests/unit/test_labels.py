"""No two rows of a table have one label: the parts in which they differ are named."""

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import msgspec
import pytest
from rich.console import Console
from tests.simulation import EPYC_7601, simulated_run
from tests.unit.test_hpl import WITH_BLAS

from assay import plan as planning
from assay import references, store, studies
from assay.analyse import analyse
from assay.model.plan import Study
from assay.model.result import Analysis
from assay.model.run import Run
from assay.report import formatting, selection, terminal
from assay.report.rows import Rows
from assay.report.screen import Screen
from assay.report.sections import cards, sections

_ROOT = Path(__file__).parents[2]
PACKED = (*sorted(_ROOT.glob("tests/runs/*.tar.xz")), *sorted(_ROOT.glob("docs/gallery/*.tar.xz")))
_NODE = "pack:1 numa:1(memory=16GB) l3:1(size=16MB) l2:1(size=1MB) core:4 pu:1"
_TWO_SOCKETS = "pack:2 numa:1(memory=16GB) l3:1(size=16MB) l2:1(size=1MB) core:2 pu:1"
_TWO_NODES, _MANY = ("n1", "n2"), tuple(f"n{number}" for number in range(1, 17))
_NETWORKS = {"networks": {"ib": "mlx5_0:1", "gbe": "eth0"}, "nic_nodes": {"ib": 1, "gbe": 0}}
#: Name -> study, machine, options.
SIMULATED = {
    "weather on 16 nodes": ("weather", _NODE, {"hosts": _MANY}),
    "network over two networks": ("network", _TWO_SOCKETS, {"hosts": _TWO_NODES, **_NETWORKS}),
    "himeno": ("himeno", EPYC_7601, {}),
    "hpl": ("hpl", _NODE, {"hosts": _TWO_NODES}),
    "quick": ("quick", EPYC_7601, {}),
    "memory": ("memory", EPYC_7601, {}),
    "collectives": ("collectives", _NODE, {"hosts": _TWO_NODES}),
}


class Shown(NamedTuple):
    """A table as a reader sees it: its caption, and the cells that name each row."""

    where: str
    caption: str
    labels: Sequence[tuple[str, ...]]


def _few_sizes(name: str) -> Study:
    """The study, with three sizes of messages."""
    whole = studies.get(name)
    sized = (msgspec.structs.replace(one, axes=one.axes | {"bytes": (8, 2**16, 2**20)}) for one in whole.measure)
    return msgspec.structs.replace(whole, measure=tuple(sized), refine=0)


@cache
def run_of(name: str) -> Run:
    """The run; of curves of messages only three sizes."""
    study, machine, options = SIMULATED[name]
    wanted = planning.Options(launches=2, libraries=WITH_BLAS.libraries, **options)  # type: ignore[arg-type]
    few = _few_sizes(study) if study == "network" else study
    return store.load(simulated_run(Path(mkdtemp()), description=machine, study=few, options=wanted))


def naming(sides: Sequence[bool], rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The cells before the first column of figures; of a table of texts its first two."""
    first = sides.index(True) if True in sides else 2
    return [tuple(str(cell) for cell in row[: max(first, 1)]) for row in rows]


def page_tables(run: Run, analysis: Analysis) -> Iterator[Shown]:
    """The tables of the sections, and that of all figures."""
    for section in sections(run, analysis):
        yield Shown("first page", section.id, [(each.label, each.detail) for each in section.headlines])
        for table in section.tables:
            sides = [at in table.numeric for at in range(len(table.columns))]
            yield Shown(section.id, table.caption, naming(sides, table.rows))
    yield Shown("first page", "paths", [(card.name, card.where) for card in cards(analysis)])
    rows = Rows(run, analysis, analysis.estimates)
    for name, members in selection.grouped(analysis.estimates, lambda e: e.benchmark).items():
        made = ((row.estimate, row) for row in rows.table(members))
        cells = [
            (e.kernel, e.metric, formatting.placed(e), row.nodes, row.setting, e.state or "") for e, row in made
        ]
        yield Shown("all figures", name, cells)


def terminal_tables(run: Run, analysis: Analysis, monkeypatch: pytest.MonkeyPatch) -> list[Shown]:
    found: list[Shown] = []

    def rows(_self: Screen, columns: Sequence[tuple[str, str]], cells: Sequence[Sequence[str]]) -> None:
        heads = list(columns)
        sides = [side == "right" for _, side in heads]
        found.append(Shown("terminal", " ".join(name for name, _ in heads), naming(sides, list(cells))))

    monkeypatch.setattr(Screen, "rows", rows)
    terminal.render(run, analysis, Console(file=io.StringIO(), width=200))
    return found


def twice(tables: Sequence[Shown]) -> dict[tuple[str, str], list[tuple[str, ...]]]:
    """Table -> labels that several of its rows have."""
    found = {}
    for table in tables:
        names = Counter(label for label in table.labels if any(label))
        if several := [label for label, times in names.items() if times > 1]:
            found[table.where, table.caption] = several
    return found


@pytest.mark.parametrize(
    "name", [*SIMULATED, *references.names(), *(str(path.relative_to(_ROOT)) for path in PACKED)]
)
def test_no_two_rows_of_a_table_have_one_label(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(name) if name in SIMULATED else store.load(store.find(name) if "/" not in name else _ROOT / name)
    analysis = analyse(run)
    assert twice(list(page_tables(run, analysis))) == {}
    assert twice(terminal_tables(run, analysis, monkeypatch)) == {}


def test_the_check_finds_a_label_that_two_rows_share() -> None:
    assert twice([Shown("here", "a table", [("one core",), ("one core",), ("all",)])]) == {
        ("here", "a table"): [("one core",)]
    }
