"""The gallery's pages show what Assay prints, and its packed runs can be read as the pages say."""

import re
import shlex
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay import store
from assay.cli import assay
from assay.model.private import COMMAND_LINE
from assay.model.units import parse_duration
from assay.store.files import COLUMNS

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
PAGES = sorted(GALLERY.glob("*.md"))
PACKED = sorted(GALLERY.glob("*.tar.xz"))
PLAN = re.compile(r"^    assay (plan .*)\n\n```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
READING = re.compile(r"^    assay ((?:show|report|compare) .*docs/gallery/.*)$", re.MULTILINE)
LARGEST, ALL_TOGETHER = 800_000, 1_500_000


def printed(command: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", "100")
    done = CliRunner().invoke(assay, shlex.split(command))
    assert done.exit_code == 0, done.output
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "index.md"], ids=lambda page: page.stem)
def test_the_plan_of_each_study_is_the_one_that_its_command_prints(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = PLAN.findall(page.read_text("utf-8"))
    assert plans
    for command, shown in plans:
        assert shown == printed(command, monkeypatch)


def test_the_packed_runs_are_small_and_each_is_told_of() -> None:
    assert PACKED
    assert all(file.stat().st_size <= LARGEST for file in PACKED)
    assert sum(file.stat().st_size for file in PACKED) <= ALL_TOGETHER
    index = (GALLERY / "index.md").read_text("utf-8")
    for file in PACKED:
        run = store.load(file)
        assert not run.damage
        assert len(run.machines) == (2 if file.name.startswith("lab-") else 1)
        (row,) = (line for line in index.splitlines() if line.startswith(f"| [{file.name}]"))
        assert "one machine" in row
        told = shlex.split(re.findall(r"`(assay run [^`]*)`", row)[0])
        begun = list(run.info.command)
        at = begun.index("--budget") + 1
        assert told[:at] + told[at + 1 :] == begun[:at] + begun[at + 1 :]
        assert parse_duration(told[at]) == run.plan.budget_s, "a run that was resumed has its last budget"


def test_the_packed_runs_were_shared_and_tell_nothing_of_their_machine() -> None:
    anywhere = (
        rb"/assay-ssh|\b10\.\d+\.\d+\.\d+"
        rb"|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-|\b(?!02:00:00)[0-9a-f]{2}(?::[0-9a-f]{2}){5}\b"
    )
    any_path = rb"(?<![\w.}>)%*<-])/(?!(?:tmp|sys|home|usr|proc|etc|entry\d+)\b)[A-Za-z_]"
    long_path = rb"/[A-Za-z]{3,}/[A-Za-z]"  # what bytes of numbers are not by chance
    of_numbers = re.compile(long_path + rb"|" + anywhere)
    of_text = re.compile(any_path + rb"|\bvm\b(?!/)|" + anywhere)
    for file in PACKED:
        with tarfile.open(file) as opened:
            for member in opened:
                private = of_numbers if Path(member.name).name == COLUMNS else of_text
                content = opened.extractfile(member)
                found = private.findall(content.read()) if content else []
                assert not found, f"{file.name}, {member.name}: {found[:5]}"
        for machine in store.load(file).machines.values():
            line = machine.fact("system", COMMAND_LINE).value
            assert set(str(line).split()) <= {"none", "mitigations=auto,no_guest_host,no_guest_guest"}


@pytest.mark.usefixtures("undrawn_here")
def test_every_packed_run_is_read_as_the_pages_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = sorted({line for page in PAGES for line in READING.findall(page.read_text("utf-8"))})
    assert {file.name for file in PACKED} == {Path(word).name for line in commands for word in line.split()} & {
        file.name for file in PACKED
    }
    for line in commands:
        words = [str(GALLERY / Path(word).name) if "docs/gallery/" in word else word for word in line.split()]
        monkeypatch.chdir(tmp_path)
        assert printed(shlex.join(words), monkeypatch)
        page = words[words.index("-o") + 1] if "-o" in words else ""
        assert not page or (tmp_path / page).read_text("utf-8").startswith("<!doctype html>")
