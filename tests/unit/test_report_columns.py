"""Tables of a terminal at any width: figures and words stay whole, nothing is left out."""

import io

import pytest
from rich.console import Console

from assay.report.screen import Screen

COLUMNS = (
    ("Problem", "left"),
    ("Placement", "left"),
    ("Rate", "right"),
    ("Interval", "right"),
    ("Factor of sharing the node", "right"),
)
ROWS = (
    ("weather, nx 400, time-steps 150", "1x1", "26.6 Mupdate/s", "[23.7, 28.8]", ""),
    ("weather, nx 400, time-steps 150", "2x1", "47.6 Mupdate/s", "[43.7, 61.6]", "0.664 [0.216, 1.153]"),
    ("weather, nx 1,600, time-steps 10", "2x1", "33.3 Mupdate/s", "[22.5, 39.9]", "0.857 [0.608, 1.083]"),
)


def printed(
    width: int, columns: tuple[tuple[str, str], ...] = COLUMNS, rows: tuple[tuple[str, ...], ...] = ROWS
) -> str:
    out = io.StringIO()
    Screen(Console(file=out, width=width, highlight=False)).rows(columns, rows)
    return out.getvalue()


@pytest.mark.parametrize("width", range(40, 121, 5))
def test_no_cell_is_broken_and_no_line_is_wider_than_the_terminal(width: int) -> None:
    text = printed(width)
    assert max(map(len, text.splitlines())) <= width
    assert all(line == line.rstrip() for line in text.splitlines())
    assert all(word in text for row in ROWS for cell in row for word in cell.split())
    assert all(cell in text for row in ROWS for cell in row) or width < 55
    assert all(word in text for name, _ in COLUMNS for word in name.split())


def test_a_row_of_its_own_line_where_there_is_room() -> None:
    assert len(printed(120).splitlines()) == 1 + len(ROWS)


def test_headings_are_broken_between_words_before_any_cell_is_moved() -> None:
    lines = printed(99).splitlines()
    assert [line.split()[-1] for line in lines[-3:]] == ["28.8]", "1.153]", "1.083]"]
    assert lines[-3].split()[:2] == ["weather,", "nx"]
    assert "Factor of sharing the node" not in "".join(lines)


def test_names_that_rows_share_stand_above_them_once() -> None:
    lines = printed(80).splitlines()
    assert [line.strip() for line in lines].count("weather, nx 400, time-steps 150") == 1
    assert [line.split()[0] for line in lines[-5:]] == ["weather,", "1x1", "2x1", "weather,", "2x1"]


def test_several_cells_above_a_row_keep_their_headings() -> None:
    heads = (("Problem", "left"), ("Fastest", "left"), ("As fast", "left"), ("Cores", "right"), ("Share", "right"))
    cells = ("weather, nx 400", "2x1 on 12 nodes", "1x1 on 12 nodes", "24", "0.5")
    lines = printed(43, heads, (cells, (*cells[:2], "", *cells[3:]))).splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "Problem",
        "As fast Cores Share",
        "weather, nx 400, Fastest 2x1 on 12 nodes",
        "1x1 on 12 nodes 24 0.5",
        "24 0.5",
    ]


def test_figures_wider_than_the_terminal_follow_their_headings() -> None:
    lines = [line.strip() for line in printed(52).splitlines()]
    assert lines[:3] == [
        "Problem",
        "weather, nx 400, time-steps 150, Placement 1x1",
        "Rate 26.6 Mupdate/s, Interval [23.7, 28.8]",
    ]
    assert "Factor of sharing the node 0.664 [0.216, 1.153]" in lines


def test_a_text_of_many_words_is_broken_between_them() -> None:
    sentence = "the byte counters of every interface prove which network carried the messages between the nodes"
    text = printed(60, (("Rule", "left"), ("What it says", "left")), (("transport", sentence),))
    assert " ".join(text.split()) == f"Rule What it says transport {sentence}"


def test_a_table_without_rows_has_its_headings() -> None:
    assert printed(80, COLUMNS, ()).split() == " ".join(name for name, _ in COLUMNS).split()
