"""The command line: what a user is told, with which exit code, and that help stays cheap."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from assay import cli
from assay.model.errors import (
    AssayError,
    InterruptedRunError,
    MeasurementError,
    PartialRunError,
    UnfitEnvironmentError,
    UsageError,
)

#: Slow to import, and of no use to a command line that only explains itself.
HEAVY = {"numpy", "rich", "jinja2", "archspec", "msgspec", "vl_convert", "scipy"}


def run_with(command: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of `assay trial`, a command that does what it is given."""
    trial = click.Command("trial", callback=command)
    monkeypatch.setattr(cli._Commands, "get_command", lambda _self, _ctx, _name: trial)
    monkeypatch.setitem(cli._COMMANDS, "trial", "")
    return cli._run(["trial"])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MeasurementError("m"), 1),
        (UsageError("u"), 2),
        (UnfitEnvironmentError("e"), 4),
        (PartialRunError("p"), 5),
        (InterruptedRunError("i"), 130),
    ],
)
def test_every_kind_of_failure_has_its_exit_code(
    error: AssayError, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise error

    assert run_with(fail, monkeypatch) == code


def test_a_failure_is_told_as_what_why_and_the_next_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise UsageError("there is no study 'quik'", why="known: quick", remedy="assay list studies")

    run_with(fail, monkeypatch)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "assay: there is no study 'quik'\n  why:  known: quick\n  next: assay list studies\n"


def test_a_threshold_that_a_command_returns_is_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_with(lambda: click.get_current_context().exit(3), monkeypatch) == 3


def test_the_users_interruption_is_130_and_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    assert run_with(interrupt, monkeypatch) == 130
    assert capsys.readouterr().err.strip() == "assay: interrupted"


def test_a_file_that_cannot_be_used_is_named_with_the_systems_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run_with((tmp_path / "absent").read_text, monkeypatch) == 4
    printed = capsys.readouterr().err
    assert str(tmp_path / "absent") in printed
    assert "No such file or directory" in printed


def test_a_fault_of_ours_leaves_its_traceback_in_a_file_and_not_on_the_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    def divide() -> float:
        return 1 / 0

    assert run_with(divide, monkeypatch) == 1
    printed = capsys.readouterr().err
    assert "internal error, ZeroDivisionError" in printed
    assert "Traceback" not in printed
    (log,) = tmp_path.glob("assay-error-*.log")
    assert str(log) in printed
    assert "Traceback" in log.read_text()


def test_an_unknown_command_is_refused_with_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli._run(["builder"]) == 2
    assert "next: assay build --help" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["build", "--colour"], ["build", "extra"], ["--color", "blue"]])
def test_clicks_own_complaints_have_the_same_form(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli._run(arguments) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("assay: ")
    assert "next: assay" in printed
    assert "--help" in printed


def test_help_of_every_command_imports_nothing_heavy() -> None:
    script = (
        "import json, sys\nfrom assay import cli\n"
        "cli._run(['--help'])\n"
        "for name in cli.assay.list_commands(None): cli._run([name, '--help'])\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in json.loads(done.stderr.splitlines()[-1])}
    assert not HEAVY & loaded


@pytest.mark.parametrize("study", ["quick", "node", "network"])
def test_a_plan_needs_no_numpy_and_nothing_that_measures_or_draws(study: str) -> None:
    script = (
        "import json, sys\nfrom assay import cli\n"
        f"cli._run(['plan', '{study}', '--synthetic', 'pack:1 numa:1 core:2 pu:1'])\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stderr.splitlines()[-1]))
    assert not {"numpy", "jinja2", "vl_convert", "scipy"} & loaded
    assert not {name for name in loaded if name.startswith(("assay.run", "assay.analyse"))}


def test_every_command_says_what_it_does_in_one_line_that_fits() -> None:
    context = click.Context(cli.assay)
    for name in cli.assay.list_commands(context):
        command = cli.assay.get_command(context, name)
        assert command is not None
        first = (command.help or "").strip().splitlines()[0]
        assert first.endswith("."), name
        assert len(first) <= 70, name


def test_a_wrong_word_always_comes_with_a_next_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise UsageError("no remedy of its own")

    run_with(fail, monkeypatch)
    assert capsys.readouterr().err.splitlines()[-1] == "  next: assay trial --help"


@pytest.mark.parametrize("command", [["discover"], ["list", "studies"], ["plan", "quick"], ["doctor"]])
def test_a_terminal_that_knows_ascii_only_gets_ascii(command: list[str]) -> None:
    script = "from assay import cli; cli.main()"
    done = subprocess.run(
        [sys.executable, "-c", script, *command],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert b"internal error" not in done.stderr
    assert done.stdout.isascii()
    assert done.stdout


def test_what_ascii_lacks_is_written_as_its_nearest() -> None:
    words = "'3 \\u00b5s \\u2265 2 \\u4e2d'"
    script = f"from assay import cli; cli.assay.main = lambda *a, **k: print({words}); cli.main()"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.stdout == b"3 us >= 2 ?\n"


def test_a_reader_that_goes_away_is_no_failure() -> None:
    command = f"set -o pipefail; {sys.executable} -c 'from assay.cli import main; main()' --help | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("choice", "kept"), [("always", "FORCE_COLOR"), ("never", "NO_COLOR")])
def test_the_option_color_overrules_the_environment(
    choice: str, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    seen: dict[str, str] = {}
    trial = click.Command("trial", callback=lambda: seen.update(os.environ))
    monkeypatch.setattr(cli._Commands, "get_command", lambda _self, _ctx, _name: trial)
    monkeypatch.setitem(cli._COMMANDS, "trial", "")
    assert cli._run(["--color", choice, "trial"]) == 0
    assert {"NO_COLOR", "FORCE_COLOR"} & set(seen) == {kept}
