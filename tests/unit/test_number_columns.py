"""Columns of figures are those whose cells are numbers, in every table of a page: they are set to the right."""

import re
from pathlib import Path

import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.plan import Options
from assay.report.section import Table
from assay.report.sections import sections

TWO_NODES = "pack:2 numa:1(memory=8GB) l3:1(size=8MB) l2:2(size=512kB) l1:1(size=32kB) core:1 pu:1"
NUMBER = re.compile(r"[\[(+−-]?\d")  # noqa: RUF001 (the sign of a negative number)
#: What stands in a column of figures where there is none.
NONE = {"none given", "base", "not assessed", "none", "not known", "not measured", "no interval", ""}
#: Words that begin with a number: widths of instructions and numbers of cases.
WORDS = {"By", "Over"}


def of_numbers(table: Table) -> set[int]:
    """The columns with a figure in every row that has one."""
    columns = ([str(row[at]) for row in table.rows] for at in range(len(table.columns)))
    return {
        at
        for at, cells in enumerate(columns)
        if all(cell in NONE or NUMBER.match(cell) for cell in cells) and any(map(NUMBER.match, cells))
    }


@pytest.mark.parametrize("study", ["node", "flops"])
def test_columns_of_numbers_are_columns_of_figures(tmp_path: Path, study: str) -> None:
    run = store.load(simulated_run(tmp_path, description=TWO_NODES, study=study, options=Options(launches=2)))
    tables = [table for section in sections(run, analyse(run)) for table in section.tables]
    assert len(tables) >= 3
    for table in tables:
        shown = {at for at in table.numeric if any(str(row[at]) not in NONE for row in table.rows)}
        wanted = {at for at in of_numbers(table) if str(table.columns[at]) not in WORDS}
        assert shown == wanted, [str(column) for column in table.columns]
