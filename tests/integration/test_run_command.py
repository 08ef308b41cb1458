"""`assay run` and `assay list` as a user types them."""

import json
import re
import shlex
import subprocess
import time
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from tests.simulation import simulated_run
from tests.time_of_runs import closed

from assay import store
from assay.cli import _run, assay
from assay.model.errors import PartialRunError, UsageError
from assay.model.record import Header, decode_program_record
from assay.model.toolchain import Build

TINY = """
title = "Tiny"
question = "Does it run?"
launches = 1
precision = 0.5
[[measure]]
benchmark = "stream"
placements = ["one-core"]
axes = { elements = 200000 }
[[measure]]
benchmark = "memcpy"
placements = ["one-core"]
axes = { bytes = "64:256", buffers = "hot" }
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(TINY)
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(assay, arguments)


@pytest.mark.native
@pytest.mark.usefixtures("build")
def test_a_dry_run_prints_commands_that_can_be_typed_and_measures_nothing(home: Path) -> None:
    result = invoke("run", "tiny.toml", "--dry-run")
    assert result.exit_code == 0, result.output
    lines = [line for line in result.stdout.splitlines() if not line.startswith("#")]
    assert not (home / "assay-runs").exists()
    output = subprocess.run(shlex.split(lines[1]), check=True, capture_output=True).stdout
    records = [decode_program_record(line) for line in output.splitlines()]
    asked = [word for word in shlex.split(lines[1]) if word.startswith(("stream/", "memcpy/"))]
    assert [record.case for record in records if isinstance(record, Header)] == asked


@pytest.mark.native
@pytest.mark.usefixtures("build", "home")
def test_a_dry_run_says_what_the_budget_has_no_time_for() -> None:
    result = invoke("run", "tiny.toml", "--dry-run", "--launches", "1000", "--budget", "10s")
    assert result.exit_code == 0, result.output
    shown = sum(line.startswith("# launch") for line in result.stdout.splitlines())
    told = re.search(r"the budget of 10 s is enough for about (\d+) of (\d+) launches", result.stderr)
    assert told
    assert 0 < shown == int(told[1]) < int(told[2])


@pytest.mark.native
def test_the_last_line_is_the_path_of_the_report(
    home: Path, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = invoke("run", "tiny.toml", "--seed", "5", "--runs", "elsewhere")
    assert result.exit_code == 0, result.output
    report = Path(result.stdout.splitlines()[-1])
    assert report.name == "report.html"
    assert report.stat().st_size > 0
    assert report.parent.parent == home / "elsewhere"
    plan = json.loads((report.parent / "plan.json").read_text())
    assert plan["seed"] == 5
    manifest = json.loads((report.parent / "run.json").read_text())["builds"]
    assert [one["key"] for one in manifest.values()] == [build.key]
    monkeypatch.setenv("ASSAY_CACHE", str(home / "empty"))
    read_again = invoke("show", f"elsewhere/{report.parent.name}").stdout
    assert result.stdout == f"{read_again}{report}\n"


@pytest.mark.native
@pytest.mark.usefixtures("build", "home")
@pytest.mark.parametrize(
    "words", [("tiny.toml", "--launches", "3"), pytest.param(("quick", "--budget", "40s"), marks=pytest.mark.long)]
)
def test_the_time_of_a_run_is_the_sum_of_its_parts_and_is_that_of_the_command(words: tuple[str, ...]) -> None:
    began_s = time.monotonic()
    result = invoke("run", *words)
    wall_s = time.monotonic() - began_s
    assert result.exit_code in {0, 1, 5}, result.output
    spent = closed(store.load(Path(result.stdout.splitlines()[-1]).parent))
    shown = json.loads(invoke("show", "--json").stdout)
    assert shown["effort"]["time"] == msgspec.to_builtins(spent)
    assert shown["noise"]["waited_s"] == spent.waited_s
    assert spent.whole_s < wall_s
    assert spent.sampled_s > 0
    assert spent.probes_s > 0
    assert spent.engine_s > 0


@pytest.mark.native
@pytest.mark.usefixtures("build", "home")
def test_cases_that_a_budget_never_reached_are_exit_5_and_the_report_stands() -> None:
    result = invoke("run", "tiny.toml", "--budget", "1ms")
    assert isinstance(result.exception, PartialRunError)
    assert result.exception.exit_code == 5
    assert "not measured" in result.exception.what
    assert Path(result.stdout.splitlines()[-1]).is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "which study?"),
        (("nonesuch",), "nonesuch"),
        (("quick", "--precision", "much"), "not a share"),
        (("quick", "--budget", "soon"), "not a duration"),
        (("--resume", "last"), "no run in"),
        (("quick", "--resume", "last"), "neither a study nor other options"),
    ],
)
@pytest.mark.usefixtures("home")
def test_what_cannot_be_run_is_told(arguments: tuple[str, ...], words: str) -> None:
    result = invoke("run", *arguments)
    assert isinstance(result.exception, UsageError)
    assert words in result.exception.what


def test_a_folder_of_runs_that_is_a_file_is_exit_4(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "full").write_text("")
    assert _run(["run", "tiny.toml", "--runs", "full"]) == 4
    assert "cannot write" in capsys.readouterr().err


def test_runs_are_listed_newest_last(home: Path) -> None:
    path = simulated_run(home / "assay-runs")
    result = invoke("list", "--json")
    (listed,) = json.loads(result.stdout)["runs"]
    assert (listed["id"], listed["status"], listed["machine"]) == (path.name, "complete", "simulated")
    assert path.name in invoke("list").stdout


@pytest.mark.usefixtures("home")
def test_no_runs_are_an_empty_list_and_the_next_command() -> None:
    assert json.loads(invoke("list", "runs", "--json").stdout) == {"schema": 1, "runs": []}
    assert "assay run quick" in invoke("list").stderr


@pytest.mark.parametrize(
    ("what", "name"), [("studies", "quick"), ("benchmarks", "stream"), ("benchmarks", "core_to_core")]
)
def test_what_there_is_can_be_listed(what: str, name: str) -> None:
    assert name in [row["name"] for row in json.loads(invoke("list", what, "--json").stdout)[what]]
    assert name in invoke("list", what).stdout


@pytest.mark.native
def test_toolchains_are_listed_with_compiler_and_flags(build: Build) -> None:
    listed = json.loads(invoke("list", "toolchains", "--json").stdout)["toolchains"]
    assert build.toolchain.compiler in [row["compiler"] for row in listed]
