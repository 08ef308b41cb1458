"""IMB's Sendrecv and Exchange among several numbers of ranks: told apart, drawn by size, compared in words."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay import importing, store
from assay.analyse import analyse
from assay.cli import assay
from assay.importing import ImportOptions, Text
from assay.topics.messages.sections import messages


def block(name: str, ranks: int, scale: float) -> str:
    """A block of IMB with the columns of several ranks, in a job of 8 ranks."""
    rows = [
        f"{size:13d}{1000:13d}{scale * 0.9:13.2f}{scale * 1.1:13.2f}{scale + size / 1e4:13.2f}{1.0:13.2f}"
        for size in (0, 1, 2, 4, 1024, 65536)
    ]
    waiting = [f"# ( {8 - ranks} additional processes waiting in MPI_Barrier)"] if ranks < 8 else []
    return "\n".join(
        [
            f"# Benchmarking {name} ",
            f"# #processes = {ranks} ",
            *waiting,
            "#-----------------------------------------------------------------------------",
            "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec",
            *rows,
            "",
        ]
    )


SEVERAL = "$ mpirun -H n1,n2 -np 8 ./IMB-MPI1 -npmin 2 Sendrecv Exchange\n" + "".join(
    block(name, ranks, ranks * scale)
    for name, scale in (("Sendrecv", 1.0), ("Exchange", 2.0))
    for ranks in (2, 4, 8)
)


def test_imb_tells_process_counts_apart_where_the_command_line_counts_those_that_wait_too() -> None:
    found = importing.read("imb", [Text.of("imb.txt", SEVERAL.encode())], ImportOptions()).tables
    assert [(each.params["pattern"], each.params.get("ranks"), each.placement) for each in found] == [
        ("sendrecv", 2, "not stated"),
        ("sendrecv", 4, "not stated"),
        ("sendrecv", None, "cores:4@2"),
        ("exchange", 2, "not stated"),
        ("exchange", 4, "not stated"),
        ("exchange", None, "cores:4@2"),
    ]


def test_sendrecv_and_exchange_are_drawn_by_size_with_a_curve_for_each_number_of_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "imb.txt").write_text(SEVERAL.replace("$ mpirun -H n1,n2 -np 8", "$"), "utf-8")
    assert CliRunner().invoke(assay, ["import", "imb", "imb.txt"]).exit_code == 0
    run = store.load(store.find("last"))
    drawn = messages.declared.section(run, analyse(run))
    assert drawn
    figures = {each.id: each.result for each in drawn.figures}
    assert list(figures) == ["figure-messages-sendrecv", "figure-messages-exchange"]
    assert [
        len(re.findall(rf"\b{ranks} ranks: ", figures["figure-messages-sendrecv"])) for ranks in (2, 4, 8)
    ] == [1] * 3
    assert "2 ranks: minimum 4.00 µs at 1 B, 10.6 µs at 64 KiB" in figures["figure-messages-exchange"]
    said = " ".join(CliRunner().invoke(assay, ["compare", "last"]).output.split())
    assert (
        "An empty message (sendrecv) takes 4.00 times as long with 8 ranks as with 2 ranks, about 6.0 µs more: "
        "8.00 µs against 2.00 µs."
    ) in said
