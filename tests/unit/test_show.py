"""`assay show`, `assay report`, `assay export` on runs of a machine that does not exist."""

import csv
import io
import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result
from tests.simulation import simulated_run

from assay.cli import assay
from assay.cli.support import opened, output
from assay.model.errors import AssayError, UsageError
from assay.model.units import parse_quantity

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated_run(tmp_path_factory.mktemp("made"))


@pytest.fixture
def run(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    runs = tmp_path / "runs"
    monkeypatch.setenv("ASSAY_RUNS", str(runs))
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(made, runs / made.name))


def _assay(*arguments: str) -> Result:
    return CliRunner().invoke(assay, arguments, catch_exceptions=False)


@pytest.mark.usefixtures("run")
def test_show_json_is_one_document_with_triad_and_memcpy() -> None:
    shown = _assay("show", "--json")
    assert shown.exit_code == 0
    document = json.loads(shown.stdout)
    assert document["schema"] == 2
    kernels = {e["kernel"] for e in document["estimates"] if e["value"]}
    assert {"triad", "memcpy"} <= kernels
    for e in document["estimates"]:
        if e["value"]:
            assert e["value"]["lo"] <= e["value"]["value"] <= e["value"]["hi"]
            assert e["placement"]["proven"]["as_asked"]


def test_a_run_is_found_by_last_by_prefix_and_by_path(run: Path) -> None:
    texts = {_assay("show", reference).stdout for reference in ("last", run.name, run.name[:-2], str(run))}
    assert len(texts) == 1
    assert run.name in texts.pop()


def test_report_writes_one_file_and_prints_its_path_last(run: Path, tmp_path: Path) -> None:
    written = _assay("report")
    assert written.stdout.splitlines()[-1] == str(run / "report.html")
    assert (run / "report.html").read_text("utf-8").startswith("<!doctype html>")
    elsewhere = tmp_path / "my report.html"
    assert _assay("report", "last", "-o", str(elsewhere)).stdout.strip() == str(elsewhere)
    assert elsewhere.is_file()
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.usefixtures("run")
def test_export_gives_estimates_or_samples(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(_assay("export").stdout, newline="")))
    document = json.loads(_assay("export", "--format", "json").stdout)
    assert [row["id"] for row in rows] == [e["id"] for e in document["estimates"]]
    target = tmp_path / "samples.csv"
    _assay("export", "--samples", "-o", str(target))
    with target.open(newline="") as lines:
        assert {row["phase"] for row in csv.DictReader(lines)} == {"warmup", "measured"}


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize("size", ["column", "page"])
def test_charts_are_exported_as_files_that_stand_alone(tmp_path: Path, size: str) -> None:
    folder = tmp_path / "charts"
    told = _assay("export", "--figures", str(folder), "--figure-format", "svg,png,pdf", "--figure-size", size)
    assert told.stdout.splitlines() == [str(path) for path in map(Path, told.stdout.split())]
    written = {path.name: path.read_bytes() for path in map(Path, told.stdout.split())}
    assert set(written) == {path.name for path in folder.iterdir()}
    assert {"copy-rate-memcpy.svg", "memory-bandwidth-bandwidth.png", "noise-launches.pdf"} <= set(written)
    for name, content in written.items():
        if name.endswith(".png"):
            assert content.startswith(b"\x89PNG\r\n\x1a\n")
        elif name.endswith(".pdf"):
            assert content.startswith(b"%PDF-")
            assert b"%%EOF" in content[-32:]
        else:
            drawn = ET.fromstring(content)  # noqa: S314 (written just now)
            assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
            assert not re.findall(rb"(?:href|src)=|url\((?!#)|var\(|<script|<style", content)
            assert b"serif" not in content.replace(b"sans-serif", b"")
            assert float(drawn.attrib["width"]) < (400 if size == "column" else 1000)


@pytest.mark.usefixtures("run")
def test_the_names_of_exported_charts_do_not_change(tmp_path: Path) -> None:
    names = [
        sorted(Path(line).name for line in _assay("export", "--figures", str(tmp_path / each)).stdout.split())
        for each in ("first", "second")
    ]
    assert names[0] == names[1]
    assert {name.rpartition(".")[2] for name in names[0]} == {"png"}


@pytest.mark.usefixtures("run")
def test_an_export_of_charts_says_which_other_forms_there_are(tmp_path: Path) -> None:
    told = _assay("export", "--figures", str(tmp_path / "charts"))
    count = len(told.stdout.split())
    assert f"{count} charts as png in {tmp_path / 'charts'}; as svg or pdf: --figure-format svg,pdf" in told.stderr


@pytest.mark.parametrize("forms", ["gif", "svg,jpeg", ","])
@pytest.mark.usefixtures("run")
def test_an_unknown_form_of_a_chart_is_refused_with_those_that_exist(tmp_path: Path, forms: str) -> None:
    with pytest.raises(UsageError) as refused:
        _assay("export", "--figures", str(tmp_path / "charts"), "--figure-format", forms)
    assert refused.value.why == "known: png, svg, pdf"
    assert not (tmp_path / "charts").exists()


@pytest.mark.usefixtures("run")
def test_a_folder_that_cannot_be_made_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AssayError, match="file/charts"):
        _assay("export", "--figures", str(tmp_path / "file" / "charts"))


@pytest.mark.usefixtures("run")
def test_samples_have_no_json_form() -> None:
    with pytest.raises(UsageError, match="json has no raw samples"):
        _assay("export", "--samples", "--format", "json")


@pytest.mark.usefixtures("run")
def test_a_given_limit_replaces_the_measured_one() -> None:
    document = json.loads(_assay("show", "--json", "--limit", "memory-bandwidth=204.8 GB/s").stdout)
    triad = [e for e in document["estimates"] if e["kernel"] == "triad" and e["metric"] == "bandwidth"]
    limits = {(e["placement"]["label"], e["limit"]["source"], e["limit"]["scope"]) for e in triad}
    assert limits == {("all", "given", "machine"), ("one-core", "simulated", "core")}
    assert {e["limit"]["value"] for e in triad if e["placement"]["label"] == "all"} == {204.8e9}


@pytest.mark.usefixtures("run")
def test_a_limit_of_the_configuration_counts_unless_an_option_says_otherwise() -> None:
    Path("assay.toml").write_text('[limits]\nmemory-bandwidth = "100 GB/s"\ncopy = "10 GB/s"\n')
    assert opened.given_limits(()) == {"memory-bandwidth": 1e11, "copy": 1e10}
    assert opened.given_limits(("copy=20 GB/s",)) == {"memory-bandwidth": 1e11, "copy": 2e10}


@pytest.mark.parametrize(
    ("option", "what"),
    [
        ("copy", "'copy' is not a limit"),
        ("copy=fast", "'fast' is not a quantity"),
        ("copy=10 ns", "the limit 'copy' is in B/s, not in s"),
        ("warp=10 GB/s", "there is no limit 'warp'"),
    ],
)
@pytest.mark.usefixtures("run")
def test_a_wrong_limit_is_refused_by_name(option: str, what: str) -> None:
    with pytest.raises(UsageError) as refused:
        _assay("show", "--limit", option)
    assert refused.value.what == what
    assert refused.value.why or refused.value.remedy


@pytest.mark.parametrize(
    ("option", "remedy"),
    [
        ("copy", "assay show --limit 'copy=204.8 GB/s'"),
        ("copy=fast", "assay show --limit 'copy=204.8 GB/s'"),
        ("copy=-3 GB/s", "assay show --limit 'copy=204.8 GB/s'"),
        ("copy=0 GB/s", "assay show --limit 'copy=204.8 GB/s'"),
        ("memory-bandwith=3 GB/s", "assay show --limit 'memory-bandwidth=204.8 GB/s'"),
    ],
)
@pytest.mark.usefixtures("run")
def test_a_wrong_limit_comes_with_a_command_that_has_that_limit(option: str, remedy: str) -> None:
    with pytest.raises(UsageError) as refused:
        _assay("show", "--limit", option)
    assert refused.value.remedy == remedy


@pytest.mark.usefixtures("run")
def test_a_file_that_cannot_be_written_is_named_as_it_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in ("/nowhere/x.html", str(tmp_path / "file" / "x.html")):
        with pytest.raises(OSError, match="directory") as refused:
            _assay("report", "-o", path)
        assert refused.value.filename == path


@pytest.mark.parametrize(("columns", "widest"), [("60", 60), ("1", 40), ("abc", 80)])
@pytest.mark.parametrize("words", [("show",), ("list",), ("discover", "--synthetic", "pack:2 core:2 pu:2")])
@pytest.mark.usefixtures("run")
def test_every_command_is_as_wide_as_columns_says_down_to_what_can_be_read(
    words: tuple[str, ...], columns: str, widest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = _assay(*words).stdout.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= widest


@pytest.mark.usefixtures("run")
def test_an_unknown_run_is_refused_with_the_next_command() -> None:
    with pytest.raises(AssayError) as refused:
        _assay("show", "19990101-nothing")
    assert refused.value.remedy


def test_a_damaged_run_still_has_a_report(run: Path) -> None:
    records = run / "records.jsonl"
    lines = records.read_bytes().splitlines(keepends=True)
    records.write_bytes(b"".join(lines[: len(lines) // 2]) + b"{broken\n" + b"".join(lines[len(lines) // 2 :]))
    assert "Not measured" in _assay("show").stdout
    page = Path(_assay("report").stdout.strip()).read_text("utf-8")
    assert "Records that could not be read" in page


def test_a_run_that_was_killed_still_has_a_report(run: Path) -> None:
    (run / "ending.json").unlink()
    assert f"assay run --resume {run.name}" in " ".join(_assay("show").stdout.split())  # at any width
    assert "still running, or it was killed" in Path(_assay("report").stdout.strip()).read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("204.8 GB/s", 204.8e9, "B/s"),
        ("85ns", 85e-9, "s"),
        ("0.2 µs", 2e-7, "s"),
        ("1.2 TFLOP/s", 1.2e12, "flop/s"),
        ("3e9 B/s", 3e9, "B/s"),
        ("100 Mbit/s", 1e8, "bit/s"),
    ],
)
def test_quantities_are_read_in_si_units(text: str, value: float, unit: str) -> None:
    amount, found = parse_quantity(text)
    assert amount == pytest.approx(value)
    assert found == unit


@pytest.mark.parametrize(
    "text", ["", "12", "inf GB/s", "9" * 400 + " GB/s", "1e999 GB/s", "GB/s", "12 GiB/s", "1,2 GB/s", "12 parsecs"]
)
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_quantity(text)


def test_a_full_disk_leaves_the_old_report(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = run / "report.html"
    page.write_text("old")

    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        output.write(page, "new")
    assert page.read_text() == "old"
    assert list(run.glob(".*")) == []


def test_an_empty_name_for_the_folder_of_runs_is_refused() -> None:
    with pytest.raises(UsageError, match="--runs needs a folder"):
        _assay("run", "quick", "--runs", "")
