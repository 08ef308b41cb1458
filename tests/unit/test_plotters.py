"""Charts that processes draw beside the work: the same ones, whatever becomes of those processes."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from assay.report import vega
from assay.report.charts.theme import chart
from assay.report.plotters import Plotters
from assay.report.section import Figure

FIGURES = [
    Figure(
        f"figure-{number}",
        "",
        "",
        chart(
            [{"x": 1, "y": number}, {"x": 2, "y": "<&>"}],
            [{"mark": "point", "encoding": {"x": {"field": "x"}, "y": {"field": "y"}}}],
            height=80,
        ),
    )
    for number in range(5)
]
MANY = 100


def drawn(charts: int) -> tuple[list[vega.Drawn], list[subprocess.Popen[bytes]]]:
    with closing(Plotters(charts)) as beside:
        waiting = [beside.draw(figure) for figure in FIGURES]
        return [each.result() for each in waiting], beside._started


@pytest.fixture(autouse=True)
def two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})


def test_processes_draw_what_would_be_drawn_here_and_end() -> None:
    found, processes = drawn(MANY)
    assert found == [vega.drawn(figure) for figure in FIGURES]
    assert 1 <= len(processes) <= 2
    assert [process.returncode for process in processes] == [0] * len(processes)


def test_few_charts_and_a_single_cpu_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(len(FIGURES)) == ([vega.drawn(figure) for figure in FIGURES], [])
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0})
    assert drawn(MANY)[1] == []


@pytest.mark.parametrize("python", ["/nowhere/python", "/bin/false", "/bin/echo"])
def test_where_no_process_can_be_had_charts_are_drawn_here(python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", python)
    assert drawn(MANY)[0] == [vega.drawn(figure) for figure in FIGURES]


def test_a_process_that_is_killed_costs_no_chart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers the first chart, and no other."""
    once = tmp_path / "python"
    once.write_text(f'#!/bin/sh\nhead -n 1 | {sys.executable} "$@"\n', encoding="utf-8")
    once.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(once))
    found, processes = drawn(MANY)
    assert processes
    assert found == [vega.drawn(figure) for figure in FIGURES]
