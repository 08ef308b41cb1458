"""`assay doctor` on the machine that the tests run on, and where it lacks something."""

import json
import os
import subprocess
import sys
from pathlib import Path

from assay import toolchain

ASSAY = (sys.executable, "-c", "from assay.cli import main; main()", "doctor")


def doctor(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*ASSAY, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"COLUMNS": "80"} | environment,
    )


def test_every_check_is_told_within_80_columns(tmp_path: Path) -> None:
    done = doctor(ASSAY_RUNS=str(tmp_path), ASSAY_CACHE=str(tmp_path))
    shown = json.loads(doctor("--json", ASSAY_RUNS=str(tmp_path), ASSAY_CACHE=str(tmp_path)).stdout)
    assert done.returncode == (0 if shown["fit"] else 4)
    assert shown["schema"] == 1
    words = " ".join(done.stdout.split())
    assert [check["name"] for check in shown["checks"] if check["name"] not in words] == []
    spaceless = [line for line in done.stdout.splitlines() if len(line) > 80 and " " in line.strip()[:70]]
    assert spaceless == []


def test_a_folder_that_cannot_hold_runs_is_a_problem_with_exit_code_4(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    done = doctor(ASSAY_RUNS=str(file / "runs"))
    assert done.returncode == 4
    assert "problem: folder of runs" in done.stdout
    assert "assay: nothing can be measured here yet" in done.stderr
    assert "export ASSAY_RUNS=" in done.stderr


def test_without_a_compiler_the_doctor_says_what_to_install(tmp_path: Path) -> None:
    done = doctor(PATH=str(tmp_path), CXX="", ASSAY_RUNS=str(tmp_path), ASSAY_CACHE=str(tmp_path))
    assert done.returncode == 4
    assert "problem: C++ compiler" in done.stdout
    assert "apt install g++" in done.stdout


def test_the_mpi_and_the_blas_that_would_be_used_are_told(tmp_path: Path) -> None:
    shown = json.loads(doctor("--json", ASSAY_RUNS=str(tmp_path), ASSAY_CACHE=str(tmp_path)).stdout)
    found = {check["name"]: check for check in shown["checks"]}
    for name, first in (
        ("MPI", next(iter(toolchain.find_mpis()), None)),
        ("BLAS", next(iter(toolchain.find_libraries()), None)),
    ):
        assert found[name]["state"] == ("ok" if first else "warning")
        assert not first or found[name]["found"].startswith(f"{first.name} (")


def test_nothing_is_written_where_runs_and_builds_would_go(tmp_path: Path) -> None:
    doctor(ASSAY_RUNS=str(tmp_path / "runs"), ASSAY_CACHE=str(tmp_path / "cache"))
    assert list(tmp_path.iterdir()) == []


#: What doctor has loaded when its watch of others begins, and at its end.
LOADED = """
import sys
from assay.machine import counters
read, loaded = counters.read, []
counters.read = lambda root: loaded.append(set(sys.modules)) or read(root)
try:
    __import__("assay.cli").cli.main()
finally:
    slow = {"msgspec", "assay.launch", "assay.toolchain", "assay.machine.hwloc", "rich.console"}
    print(sorted(slow & loaded[0]), sorted({"assay.store", "numpy"} & loaded[1]), file=sys.stderr)
"""


def test_others_are_watched_while_everything_else_is_loaded(tmp_path: Path) -> None:
    environment = os.environ | {"ASSAY_RUNS": str(tmp_path), "ASSAY_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", LOADED, "doctor"], capture_output=True, text=True, check=False, env=environment
    )
    assert done.stderr.splitlines()[-1] == "[] []", done.stderr
