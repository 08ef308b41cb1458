"""The gallery: what its pages show is what Assay prints of its packed runs, and none tells what is not so."""

import io
import json
import re
import tarfile
from pathlib import Path

import pytest
from rich.console import Console
from tools.gallery import pages
from tools.gallery.runs import simulated
from tools.gallery.table import GALLERY, Entry, entries, law

from assay import references, store
from assay.model.private import COMMAND_LINE
from assay.model.units import parse_duration
from assay.report import html, terminal
from assay.report.summary import verdict
from assay.store.files import COLUMNS

ENTRIES = {each.name: each for each in entries()}
LIKE = {name: each for name, each in ENTRIES.items() if each.reference}
#: Every sample of each run is kept. Half of all bytes are those of simulated clusters, of up to 128 ranks and with
#: each step of HPL, and a third those of LEO in the lab: messages over two networks, measured whole.
LARGEST, ALL_TOGETHER = 2_600_000, 8_500_000
NAMED = pytest.mark.parametrize("name", ENTRIES)
PACKED = pytest.mark.parametrize("path", sorted(GALLERY.glob("*.tar.xz")), ids=lambda path: path.name)


def text_of(entry: Entry) -> str:
    return entry.page.read_text("utf-8")


def test_every_reference_has_a_run_and_every_file_its_entry() -> None:
    assert {each.reference for each in LIKE.values()} == set(references.names())
    files = {path.name for path in GALLERY.iterdir()} - {"index.md", "gallery.toml"}
    assert files == {path.name for each in ENTRIES.values() for path in (each.page, each.packed)}
    linked = (GALLERY.parent / "index.md").read_text("utf-8")
    assert re.findall(r"^gallery/(.+)$", linked, re.MULTILINE) == ["index", *ENTRIES]


def test_the_index_is_what_the_packed_runs_say() -> None:
    index = pages.INDEX.read_text("utf-8")
    assert pages.remade(index, None) == index


@NAMED
def test_the_output_on_each_page_is_what_assay_prints(name: str) -> None:
    text = text_of(ENTRIES[name])
    assert pages.remade(text, ENTRIES[name]) == text
    assert set(re.findall(r"<!-- made: (\w+)", text)) == {"command", "plan", "run"} | (
        {"conclusions"} if name in LIKE else set()
    ) | ({"beside"} if name == "like-sci" else set())


def test_the_page_of_sci_judges_what_is_said_of_it_beside_leo() -> None:
    page = text_of(ENTRIES["like-sci"])
    command = re.findall(r"^    (assay compare .*)$", page, re.MULTILINE)
    assert len(command) == 1
    (found,) = json.loads(pages.printed(f"{command[0]} --json"))["repetitions"]
    assert [found["reference"], len(found["conclusions"])] == ["leo", 4]
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    for each in found["conclusions"]:
        (row,) = (row for row in rows if row.startswith(f"| {each['conclusion']['says']} ("))
        assert f"{each['truth']} |" in row


@pytest.mark.parametrize("name", LIKE)
def test_each_run_of_a_reference_has_its_figures_and_judges_its_conclusions(name: str) -> None:
    found = pages.repeated(LIKE[name])
    assert found.reference == LIKE[name].reference
    assert any(row.agreement for row in found.rows)
    assert all(bool(row.reason) == (row.ours is None) for row in found.rows)
    assert {each.truth for each in found.conclusions} & {"holds", "does not hold"}
    assert all(each.detail or each.doubt == "straddles" for each in found.conclusions if each.doubt)


@NAMED
def test_each_run_was_made_by_the_command_that_is_told(name: str) -> None:
    entry = ENTRIES[name]
    run, _ = pages.read(entry)
    assert not run.damage
    assert list(run.info.command) == ["assay", "run", *entry.words] or entry.words[0].endswith(".toml")
    if "--budget" in entry.words:
        told = parse_duration(entry.words[entry.words.index("--budget") + 1])
        assert told == run.plan.budget_s
    assert len(run.machines) == {"lab": 2, "here": 1}.get(entry.where, len(run.plan.hosts))


@NAMED
def test_a_simulated_run_says_so_everywhere_and_no_other_does(name: str) -> None:
    entry = ENTRIES[name]
    run, analysis = pages.read(entry)
    is_simulated = entry.where == "simulated"
    assert run.simulated == is_simulated
    (row,) = (line for line in pages.INDEX.read_text("utf-8").splitlines() if f"]({entry.page.name})" in line)
    assert ("**simulated**" in row) == is_simulated
    assert ("**Simulated** on " in text_of(entry)) == is_simulated
    assert ("simulated" in str(verdict(run, analysis).sentence)) == is_simulated
    models = {str(machine.fact("processor", "model").value) for machine in run.machines.values()}
    assert all(("simulated" in each) == is_simulated for each in models)


@PACKED
def test_the_packed_runs_are_small(path: Path) -> None:
    assert path.stat().st_size <= LARGEST
    assert sum(file.stat().st_size for file in GALLERY.glob("*.tar.xz")) <= ALL_TOGETHER


@PACKED
def test_the_packed_runs_were_shared_and_tell_nothing_of_their_machine(path: Path) -> None:
    anywhere = (
        rb"/assay-ssh|\b10\.\d+\.\d+\.\d+"
        rb"|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-|\b(?!02:00:00)[0-9a-f]{2}(?::[0-9a-f]{2}){5}\b"
    )
    any_path = rb"(?<![\w.}>)%*<-])/(?!(?:tmp|sys|home|usr|proc|etc|work|simulated|entry\d+)\b)[A-Za-z_]"
    long_path = rb"/[A-Za-z]{3,}/[A-Za-z]"  # what bytes of numbers are not by chance
    of_numbers = re.compile(long_path + rb"|" + anywhere)
    of_text = re.compile(any_path + rb"|\bvm\b(?!/)|" + anywhere)
    with tarfile.open(path) as opened:
        for member in opened:
            private = of_numbers if Path(member.name).name == COLUMNS else of_text
            content = opened.extractfile(member)
            found = private.findall(content.read()) if content else []
            assert not found, f"{member.name}: {found[:5]}"
    for machine in store.load(path).machines.values():
        line = machine.fact("system", COMMAND_LINE).value
        assert set(str(line).split()) <= {"none", "None", "mitigations=auto,no_guest_host,no_guest_guest"}


@pytest.mark.usefixtures("undrawn_here")
@NAMED
def test_each_packed_run_has_a_report(name: str) -> None:
    run, analysis = pages.read(ENTRIES[name])
    assert html.render(run, analysis).startswith("<!doctype html>")


@pytest.mark.usefixtures("undrawn_here")
def test_the_first_figure_of_a_repeated_study_of_whole_problems_is_its_largest_one() -> None:
    page = html.render(*pages.read(ENTRIES["like-leo-simulated"]))
    first = page.index('class="headlines"')
    assert page.index('class="concluded"') < first
    assert page.index("N=35000", first) < page.index("</li>", first)
    found = [each for each in pages.read(ENTRIES["like-leo-simulated"])[1].findings if each.rule == "scaling"]
    small = [each for each in found if "/n=1000/" in each.id or "/n=2000/" in each.id]
    assert small
    assert {each.severity for each in small} == {"fact"}
    assert {each.severity for each in found if "/n=10000/" in each.id} == {"problem"}


def test_what_several_conclusions_lack_is_said_once() -> None:
    run, analysis = pages.read(ENTRIES["like-leo"])
    console = Console(file=io.StringIO(), width=200, record=True)
    terminal.render(run, analysis, console)
    shown = console.export_text()
    assert shown.count("It needs 12 nodes.") == 1
    assert "Rate of each mix by build" not in shown


def test_a_simulated_run_comes_from_the_command_by_way_of_a_plan_and_a_run_directory(tmp_path: Path) -> None:
    entry = ENTRIES["like-hpcdiy-numa"]
    run = store.load(simulated(entry, tmp_path))
    assert law(entry).nanoseconds
    assert run.simulated
    assert run.ending is not None
    assert run.ending.status == "complete"
    assert run.info.command == ("assay", "run", *entry.words)
    assert {case.benchmark for case in run.plan.studied} == {"himeno"}
