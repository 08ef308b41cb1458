"""A topic outside of Assay's tree: the package of docs/adding-a-benchmark.md is installed and measured with."""

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from tests.outside import ROOT, assay, install, simulated

PAGE = ROOT / "docs" / "adding-a-benchmark.md"

pytestmark = pytest.mark.native


def files() -> dict[str, str]:
    """Path -> content of each file of the page: a block of code after a paragraph that names it."""
    parts = re.split(r"^```(?:\w+)\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    names = [re.findall(r"`([\w./-]+\.\w+)`:", text)[-1] for text in parts[:-1:2]]
    return dict(zip(names, parts[1::2], strict=True))


@pytest.fixture(scope="module")
def installed() -> Generator[Path]:
    """A folder of packages with that of the page, installed by pip from a wheel.

    It is the cache of builds, too, and lies where ccache knows the sources by their relative paths.
    """
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="site-packages-", dir=ROOT / "build") as folder:
        write(Path(folder) / "assay-fill")
        install(Path(folder), Path(folder) / "assay-fill")
        (Path(folder) / "fill.toml").write_text(files()["fill.toml"])
        yield Path(folder)


def write(folder: Path) -> None:
    """The files of the page, as a newcomer writes them."""
    shown = files()
    assert len(shown) == 9, sorted(shown)
    for name, content in shown.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    for each in ("", "benchmarks", "rules", "sections"):
        (folder / "assay_fill" / each / "__init__.py").write_text('"""Filling memory."""\n')


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
    rates, found = simulated(installed, script).splitlines()
    assert [float(each) for each in rates.split()] == pytest.approx([5e9] * 3, rel=0.02)
    assert found == "('observed', 0.5)"


def test_what_the_package_measured_can_be_read_without_it(installed: Path, ran: str, tmp_path: Path) -> None:
    assert ran
    assert assay(installed, "run", "./fill.toml").returncode == 0
    (_, older), *_ = sorted((path.name, path) for path in (installed / "runs").iterdir() if path.is_dir())
    gone = {"PYTHONPATH": str(ROOT / "src"), "ASSAY_RUNS": str(installed / "runs")}
    assert "fill" not in assay(tmp_path, "list", "benchmarks", **gone).stdout
    own, elsewhere = (
        json.loads(assay(where, "show", "last", "--json", **more).stdout)
        for where, more in ((installed, {}), (tmp_path, gone))
    )
    figures = [one for one in elsewhere["estimates"] if one["benchmark"] == "fill"]
    assert figures
    assert figures == [one for one in own["estimates"] if one["benchmark"] == "fill"]
    assert "Fill rate by size (memset)" in assay(tmp_path, "show", "last", **gone).stdout
    page = Path(assay(tmp_path, "report", "last", "--output", "page.html", **gone).stdout.splitlines()[-1])
    assert "Fill rate by size (memset)" in (tmp_path / page).read_text()
    compared = json.loads(assay(tmp_path, "compare", str(older), "last", "--json", **gone).stdout)
    assert {pair["a"]["benchmark"] for pair in compared["pairs"]} >= {"fill"}
    exported = assay(tmp_path, "export", "last", "--format", "csv", **gone)
    assert exported.returncode == 0, exported.stderr
    assert "fill" in exported.stdout


def test_programs_that_measure_what_they_declare_pass_the_check(installed: Path) -> None:
    done = assay(installed, "check", "assay-fill")
    assert done.returncode == 0, done.stderr
    assert "fill: measures what is declared" in done.stdout


@pytest.mark.parametrize(
    ("lie", "told"),
    [
        ('lying.text.replace(lying.text.find("B/s"), 3, "W/s");', "the program declares metrics"),
        (
            'lying.kernels[0] = "zeros"; lying.work = {{"zeros", lying.work.at("memset")}};',
            "its declaration has not",
        ),
    ],
)
def test_a_program_whose_declaration_lies_is_refused(installed: Path, tmp_path: Path, lie: str, told: str) -> None:
    folder = copied(installed, tmp_path)
    source = folder / "assay_fill" / "native" / "fill.cpp"
    honest, lying = "assay::declared::fill", "lied()"
    function = f"assay::Declaration lied() {{ assay::Declaration lying = {honest}; {lie} return lying; }}\n\n"
    text = source.read_text()
    place = text.index("int main(")
    source.write_text(text[:place] + function + text[place:].replace(honest, lying))
    done = assay(folder, "check", "assay_fill", "--json", ASSAY_CACHE=str(installed))
    assert done.returncode == 1
    assert told in done.stdout + done.stderr


@pytest.mark.parametrize("part", ["native/fill.json", "native/fill.cpp", "benchmarks/fill.py"])
def test_a_package_that_ships_them_apart_is_refused_by_name(installed: Path, tmp_path: Path, part: str) -> None:
    folder = copied(installed, tmp_path)
    (folder / "assay_fill" / part).unlink()
    done = assay(folder, "check", "assay-fill", ASSAY_CACHE=str(installed))
    assert done.returncode == 2
    assert "'fill'" in done.stderr
    assert part in done.stderr


def copied(installed: Path, folder: Path) -> Path:
    """The installed package in another folder."""
    for name in ("assay_fill", "assay_fill-1.0.dist-info"):
        shutil.copytree(installed / name, folder / name)
    return folder


def test_a_program_that_lacks_its_library_is_left_out_alone_with_the_reason(installed: Path, ran: str) -> None:
    assert ran
    (installed / "assay_fill" / "native" / "fill.cmake").write_text('set(absent "no libfill is found")\n')
    done = assay(installed, "run", "./fill.toml")
    assert done.returncode == 4
    assert "no libfill is found" in done.stderr
    (manifest,) = (each for each in manifests(installed) if each["absent"])
    assert manifest["absent"] == {"fill": "no libfill is found"}
    assert set(manifest["programs"]) | set(manifest["left"]) > {"stream"}
