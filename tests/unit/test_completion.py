"""`assay completion` in a real bash, and what the other shells ask for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli import assay

RUN = "20261121-205257-multi-pair-dcfa"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A folder of runs with one, and `assay` on the path."""
    (tmp_path / "runs" / RUN).mkdir(parents=True)
    (tmp_path / "runs" / RUN / "run.json").write_text("{}")
    (tmp_path / "assay").write_text(f'#!/bin/sh\nexec {sys.executable} -m assay "$@"\n')
    (tmp_path / "assay").chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "ASSAY_RUNS": str(tmp_path / "runs")}


def test_bash_completes_commands_options_and_runs(environment: dict[str, str]) -> None:
    script = """
        eval "$(assay completion bash)"
        complete -p assay >/dev/null || exit 1
        ask() {
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _assay_completion assay
            echo "${COMPREPLY[@]}"
        }
        ask assay re
        ask assay pack --sh
        ask assay export --format p
        ask assay show 2026
    """
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["report", "--share", "parquet", RUN]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_script_of_each_shell_asks_for_what_assay_answers(shell: str, environment: dict[str, str]) -> None:
    script = CliRunner().invoke(assay, ["completion", shell]).stdout
    assert f"_ASSAY_COMPLETE={shell}_complete" in script
    asked = {
        "_ASSAY_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": "assay re",
        "COMP_CWORD": "re" if shell == "fish" else "1",
    }
    done = subprocess.run(["assay"], env=environment | asked, capture_output=True, text=True, check=True)
    assert "report" in done.stdout
    assert "compare" not in done.stdout


@pytest.mark.parametrize("command", ["list --json", "list benchmarks"])
def test_a_reader_who_has_seen_enough_is_no_error(command: str, environment: dict[str, str]) -> None:
    script = f"assay {command} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
