"""A topic outside of Assay's tree: the package of docs/adding-a-benchmark.md is installed and measured with."""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from tests.impatient import ASSAY

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "adding-a-benchmark.md"

pytestmark = pytest.mark.native


def files() -> dict[str, str]:
    """Path -> content of each file of the page: a block of code after a paragraph that names it."""
    parts = re.split(r"^```(?:\w+)\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    names = [re.findall(r"`([\w./-]+\.\w+)`:", text)[-1] for text in parts[:-1:2]]
    return dict(zip(names, parts[1::2], strict=True))


@pytest.fixture(scope="module")
def installed() -> Generator[Path]:
    """A folder of packages with that of the page, as an installer leaves it: files, and what it says of itself.

    It is the cache of builds, too, and lies where ccache knows the sources by their relative paths.
    """
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="site-packages-", dir=ROOT / "build") as folder:
        install(Path(folder))
        yield Path(folder)


def install(folder: Path) -> None:
    """The files of the page, and what an installer adds."""
    shown = files()
    assert len(shown) == 9, sorted(shown)
    for name, content in shown.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    for each in ("", "benchmarks", "rules", "sections"):
        (folder / "assay_fill" / each / "__init__.py").write_text('"""Filling memory."""\n')
    points = tomllib.loads(shown["pyproject.toml"])["project"]["entry-points"]
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in each.items())
        for group, each in points.items()
    ]
    of_itself = folder / "assay_fill-1.0.dist-info"
    of_itself.mkdir()
    (of_itself / "METADATA").write_text("Metadata-Version: 2.1\nName: assay-fill\nVersion: 1.0\n")
    (of_itself / "entry_points.txt").write_text("".join(lines))


def assay(installed: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(installed))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "ASSAY_RUNS": str(installed / "runs"),
        "ASSAY_CACHE": str(installed),
    }
    done = subprocess.run(
        [*ASSAY, *arguments], cwd=installed, env=environment, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return done


def manifests(installed: Path) -> list[dict[str, Any]]:
    """Of the builds so far: they have the programs that the runs needed."""
    folder = installed / "builds"
    return [json.loads(path.read_text()) for path in folder.glob("*/manifest.json")]


@pytest.fixture(scope="module")
def ran(installed: Path) -> str:
    """The path of the report that the study of the page wrote."""
    done = assay(installed, "run", "./fill.toml")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_the_added_program_carries_its_declaration(installed: Path, ran: str) -> None:
    assert ran
    (manifest,) = manifests(installed)
    done = subprocess.run([manifest["programs"]["fill"], "--describe"], capture_output=True, text=True, check=True)
    described = json.loads(done.stdout)
    assert described["kernels"] == ["memset"]
    assert described == {"schema": 1, **json.loads(files()["assay_fill/native/fill.json"])}


def test_the_added_benchmark_is_listed(installed: Path) -> None:
    assert "fill" in assay(installed, "list", "benchmarks").stdout


def test_its_estimates_are_shown_with_interval_placement_and_unit(installed: Path, ran: str) -> None:
    assert ran
    shown = json.loads(assay(installed, "show", "last", "--json").stdout)
    estimates = [one for one in shown["estimates"] if one["benchmark"] == "fill"]
    assert {one["params"]["bytes"] for one in estimates} == {4096, 65536, 1048576}
    for one in estimates:
        assert one["status"] == "complete"
        assert one["unit"] == "B/s"
        assert 0 < one["value"]["lo"] <= one["value"]["value"] <= one["value"]["hi"]
        assert one["placement"]["proven"]["as_asked"]


def test_the_report_has_it(ran: str) -> None:
    report = Path(ran).read_text()
    assert 'id="fill"' in report
    assert "Fill rate by size (memset)" in report


def test_its_rule_finds_with_numbers(installed: Path, ran: str) -> None:
    assert ran
    shown = json.loads(assay(installed, "show", "last", "--json").stdout)
    (found,) = (each for each in shown["findings"] if each["rule"] == "slow_fill")
    figures = [one for one in shown["estimates"] if one["benchmark"] == "fill"]
    if found["status"] == "not assessed":  # advice would stand on launches that other tests disturbed
        assert all(one["disturbed"] == one["launches"] for one in figures)
        return
    assert found["status"] == "observed"
    assert 0 < found["numbers"]["statistic"]["value"] < 10
    assert found["numbers"]["threshold"]["value"] == 0.5


def test_it_runs_on_a_simulated_machine(installed: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", ROOT, installed)))}
    script = """
from pathlib import Path
from assay import store, studies
from assay.analyse import analyse
from assay.simulation import Law
from tests.simulation import simulated_run

path = simulated_run(Path("simulated"), Law(core_traffic=5e9), study=studies.get("./fill.toml"))
analysis = analyse(store.load(path))
print(*(each.median for each in analysis.estimates if each.benchmark == "fill"))
print(*((each.status, each.numbers["threshold"].value) for each in analysis.findings if each.rule == "slow_fill"))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=installed, env=environment, capture_output=True, text=True, check=True
    )
    rates, found = done.stdout.splitlines()
    assert [float(each) for each in rates.split()] == pytest.approx([5e9] * 3, rel=0.02)
    assert found == "('observed', 0.5)"


def test_a_program_that_lacks_its_library_is_left_out_alone_with_the_reason(installed: Path, ran: str) -> None:
    assert ran
    (installed / "assay_fill" / "native" / "fill.cmake").write_text('set(absent "no libfill is found")\n')
    done = assay(installed, "run", "./fill.toml")
    assert done.returncode == 4
    assert "no libfill is found" in done.stderr
    (manifest,) = (each for each in manifests(installed) if each["absent"])
    assert manifest["absent"] == {"fill": "no libfill is found"}
    assert set(manifest["programs"]) | set(manifest["left"]) > {"stream"}
