"""Whatever is done to a run directory or to hwloc's XML, it is shown or refused, soon and in bounds."""

import contextlib
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console
from tests.simulation import simulated_run
from tests.unit.test_import_fuzz import bounded, changed

from assay import machine, plan, store, studies
from assay.analyse import analyse
from assay.model.errors import AssayError
from assay.model.plan import Measure, Study
from assay.report import html, terminal

EXAMPLES = settings().max_examples
STUDY = Study(
    "Small",
    "How?",
    (
        Measure("stream", ("one-core", "all"), axes={"elements": 1000}),
        Measure("memcpy", ("one-core",), axes={"bytes": "1K:4K"}),
        Measure("pt2pt", ("pair",), axes={"pattern": "latency", "bytes": "8:64"}),
        Measure("himeno_mpi", ("all",), axes={"size": "XS"}),
        Measure("hpl", ("all",), axes={"n": 256}),
        Measure("flops", ("one-core",), axes={"width": "scalar"}),
    ),
    launches=2,
)
MACHINES = sorted((Path(__file__).parents[1] / "machines").glob("*.xml"))
#: What breaks readers of numbers, names and lists.
VALUES: list[Any] = [
    *(0, -1, 1, 2**31, 2**63, 10**30, 1e308, -1e308, 1e-320, 0.5, None, True, "", "x", "1e999", "9" * 400),
    *([], {}, [[]], ["x"], [0, 0], {"x": 1}, {"x": {}}, "../../x", "\x1b[2J\u202e", "all:numa:9@9", "numa[0-9]"),
]
#: The same inputs for each change; others in every long run.
HARD = settings(
    suppress_health_check=list(HealthCheck), max_examples=max(1, EXAMPLES // 4), derandomize=EXAMPLES <= 100
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated_run(tmp_path_factory.mktemp("runs"), study=STUDY)


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 (any JSON)
    """Every place in a JSON value below the value itself."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inside:
        yield (*at, name)
        yield from paths(each, (*at, name))


def spoiled(draw: st.DrawFn, text: str) -> str:
    """The JSON with a value replaced, left out or doubled."""
    value = json.loads(text)
    places = list(paths(value))
    *above, last = draw(st.sampled_from(places)) if places else (None,)
    holder = value
    for name in above:
        holder = holder[name]
    match draw(st.sampled_from(["replace", "replace", "drop", "double"])) if places else "":
        case "replace":
            holder[last] = draw(st.sampled_from(VALUES))
        case "drop":
            del holder[last]
        case "double":
            holder[f"{last}x" if isinstance(holder, dict) else slice(0, 0)] = (
                holder[last] if isinstance(holder, dict) else [holder[last]]
            )
    return json.dumps(value)


def spoil(draw: st.DrawFn, folder: Path) -> None:
    files = sorted(folder.rglob("*.json*"))
    file = draw(st.sampled_from(files))
    content = file.read_text()
    if file.suffix == ".json":
        file.write_text(spoiled(draw, content))
        return
    lines = content.splitlines()
    at = draw(st.integers(0, len(lines) - 1))
    match draw(st.sampled_from(["spoil", "spoil", "spoil", "drop", "double", "cut", "move"])):
        case "spoil":
            lines[at] = spoiled(draw, lines[at])
        case "drop":
            del lines[at]
        case "double":
            lines.insert(at, lines[at])
        case "cut":
            lines[at] = lines[at][: len(lines[at]) // 2]
        case "move":
            lines.insert(draw(st.integers(0, len(lines) - 1)), lines.pop(at))
    file.write_text("\n".join([*lines, ""]))


@HARD
@given(data=st.data(), whole=st.integers(0, 9))
def test_a_spoiled_run_is_shown_or_refused(
    run: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, whole: int
) -> None:
    folder = tmp_path_factory.mktemp("spoiled") / run.name
    shutil.copytree(run, folder)
    for _ in range(data.draw(st.integers(1, 2))):
        spoil(cast("st.DrawFn", data.draw), folder)
    with bounded(), contextlib.suppress(AssayError):
        found = store.load(folder)
        analysis = analyse(found)
        terminal.render(found, analysis, Console(file=io.StringIO(), width=100))
        if whole == 0:
            assert html.render(found, analysis)
    shutil.rmtree(folder)


def test_a_plan_whose_cases_lack_an_axis_is_shown_or_refused(run: Path, tmp_path: Path) -> None:
    told = json.loads((run / "plan.json").read_text())
    axes = {(case["benchmark"], axis) for case in told["cases"] for axis in case["params"]}
    assert len(axes) > 10
    folder = shutil.copytree(run, tmp_path / run.name)
    for benchmark, axis in sorted(axes):
        lacking = [
            case | {"params": {name: value for name, value in case["params"].items() if name != axis}}
            if case["benchmark"] == benchmark
            else case
            for case in told["cases"]
        ]
        (folder / "plan.json").write_text(json.dumps(told | {"cases": lacking}))
        with bounded(), contextlib.suppress(AssayError):
            found = store.load(folder)
            terminal.render(found, analyse(found), Console(file=io.StringIO(), width=100))


@HARD
@given(data=st.data(), file=st.sampled_from(MACHINES))
def test_spoiled_xml_is_planned_for_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, file: Path
) -> None:
    spoiled_file = tmp_path_factory.mktemp("xml") / "machine.xml"
    text = file.read_text().replace('" ', '" \n') if data.draw(st.booleans()) else file.read_text()
    spoiled_file.write_text(changed(cast("st.DrawFn", data.draw), text), "utf-8", "replace")
    with bounded(), contextlib.suppress(AssayError):
        plan.make("quick", studies.get("quick"), machine.load_xml(spoiled_file), plan.Options(seed=1))
