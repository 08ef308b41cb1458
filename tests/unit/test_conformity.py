"""What `assay check` says of programs that do not describe themselves, and of those that do not end."""

from pathlib import Path

import pytest

from assay.catalogue import benchmarks
from assay.model.errors import AssayError
from assay.toolchain import conformity

STREAM = benchmarks.get("stream").declaration


def program(folder: Path, script: str) -> str:
    path = folder / "stream"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("script", ["echo '[]'", "echo nothing", "exit 3"])
def test_a_program_that_describes_nothing_is_a_problem(tmp_path: Path, script: str) -> None:
    (problem,) = conformity._described(STREAM, program(tmp_path, script))
    assert problem.startswith("stream --describe prints no declaration")


def test_a_program_that_does_not_end_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conformity, "_MOST_SECONDS", 0.2)
    with pytest.raises(AssayError) as failed:
        conformity._output(program(tmp_path, "exec sleep 30"), "--describe")
    assert "did not end within 0.2 s" in failed.value.why


def test_records_without_a_header_are_a_problem(tmp_path: Path) -> None:
    end = '{"type":"end","status":"complete"}'
    assert list(conformity._measured(STREAM, program(tmp_path, f"echo '{end}'"))) == ["it writes no header"]
