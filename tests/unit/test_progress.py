"""The progress of a run: elapsed, left and the last figure, as a bar in a terminal and as lines elsewhere."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console
from tests.simulation import begin, carry_on, described, plan_for

from assay import store
from assay.analyse import analyse
from assay.cli.support import progress
from assay.model.plan import Measure, Study
from assay.report import formatting
from assay.run import Watcher
from assay.simulation import SimulatedMachine

SMALL = Study("Small", "How?", (Measure("stream", ("all",), axes={"elements": 1000}),), launches=3)
PLAN = plan_for(study=SMALL)


def run(folder: Path, watcher: Watcher) -> Path:
    directory = begin(folder, PLAN)
    carry_on(directory, PLAN, SimulatedMachine(described().topology, None, PLAN.hosts, 1), watcher)
    return directory.path


def test_a_bar_shows_elapsed_time_the_rest_and_the_last_figure(tmp_path: Path) -> None:
    written = io.StringIO()
    with progress._Bar(Console(file=written, force_terminal=True, width=120, color_system=None), PLAN) as bar:
        made = store.load(run(tmp_path, bar))
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.getvalue())
    assert re.search(r"(\d+)/\1 0:00:0\d about 0 s left triad [\d.]+ GB/s", text), text[-600:]
    (triad,) = (e for e in analyse(made).estimates if (e.kernel, e.metric) == ("triad", "bandwidth"))
    last = progress.last_figure(made.launches[-1], PLAN) or progress.last_figure(made.launches[-2], PLAN)
    assert last in text
    assert triad.min is not None
    assert triad.max is not None
    value = float(last.split()[1]) * 1e9
    assert triad.min * 0.999 <= value <= triad.max * 1.001, formatting.quantity(triad.median, triad.unit)


def test_lines_have_the_same_where_nobody_watches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_LINE_EVERY_S", -1.0)
    run(tmp_path, progress._Lines(PLAN))
    lines = capsys.readouterr().err.splitlines()
    counted = r"assay: \d+ of \d+ launches in \d+ s, about \d+ s left"
    assert re.fullmatch(rf"{counted}; now stream \(.*\)", lines[0])
    assert re.fullmatch(rf"{counted}; last: triad [\d.]+ GB/s; now stream \(.*\)", lines[-1]), lines
