"""Adding a benchmark is two new files and no edit: those of docs/adding-a-benchmark.md, in a copy of it all."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "adding-a-benchmark.md"
ASSAY = [sys.executable, "-c", "from assay.cli import main; main()"]

pytestmark = pytest.mark.native


def block(language: str) -> str:
    """The one block of code of a language on the page."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with the two files of the page added."""
    folder = tmp_path_factory.mktemp("copy")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "src", "native", "schema"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    new = {"native/benchmarks/node/fill.cpp": block("cpp"), "src/assay/benchmarks/fill.py": block("python")}
    for name, content in new.items():
        assert not (folder / name).exists()
        (folder / name).write_text(content)
    (folder / "fill.toml").write_text(block("toml"))
    return folder


def assay(copy: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "ASSAY_RUNS": str(copy / "runs"),
        "ASSAY_CACHE": str(copy / "cache"),
    }
    done = subprocess.run(
        [*ASSAY, *arguments], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def ran(copy: Path) -> str:
    """The path of the report that the study of the page wrote."""
    done = assay(copy, "run", "./fill.toml")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_the_added_program_describes_itself_as_it_is_declared(copy: Path, ran: str) -> None:
    assert ran
    manifest = json.loads(assay(copy, "build", "--json").stdout)["builds"][0]
    done = subprocess.run([manifest["programs"]["fill"], "--describe"], capture_output=True, text=True, check=True)
    described = json.loads(done.stdout)
    assert described["kernels"] == ["memset"]
    assert described["axes"]["bytes"]["default"] == 1048576


def test_the_added_benchmark_is_listed(copy: Path) -> None:
    assert "fill" in assay(copy, "list", "benchmarks").stdout


def test_its_estimates_are_shown_with_interval_placement_and_unit(copy: Path, ran: str) -> None:
    assert ran
    shown = json.loads(assay(copy, "show", "last", "--json").stdout)
    estimates = [one for one in shown["estimates"] if one["benchmark"] == "fill"]
    assert {one["params"]["bytes"] for one in estimates} == {4096, 65536, 1048576}
    for one in estimates:
        assert one["status"] == "complete"
        assert one["unit"] == "B/s"
        assert 0 < one["lo"] <= one["median"] <= one["hi"]
        assert one["placement"]["proven"]["as_asked"]


def test_the_report_has_it(ran: str) -> None:
    report = Path(ran).read_text()
    assert "Fill rate by size (memset)" in report
    assert "how fast one core fills a block of a given size" in report
