"""A run as one file: everything of it is there, nothing else is, and strangers' archives do no harm."""

import io
import tarfile
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from tests.simulation import simulated_run

from assay import store
from assay.cli import assay
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.plan import Measure, Study

SMALL = Study("Small", "How?", (Measure("stream", ("one-core",), axes={"elements": 1000}),), launches=2)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = simulated_run(tmp_path_factory.mktemp("runs"), study=SMALL)
    (made / "logs" / "000-00.err").write_text("a program said this\n")
    (made / "report.html").write_text("drawn from the records")
    return made


@pytest.fixture
def packed(run: Path, tmp_path: Path) -> Path:
    done = CliRunner().invoke(assay, ["pack", str(run), "-o", str(tmp_path / "sent.tar.xz")])
    assert done.exit_code == 0, done.output
    assert done.output.strip() == str(tmp_path / "sent.tar.xz")
    return tmp_path / "sent.tar.xz"


def archive(path: Path, *files: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:xz") as made:
        for member, content in files:
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    return path


def test_a_packed_run_is_read_as_its_directory_is(run: Path, packed: Path) -> None:
    assert store.find(str(packed)) == packed
    assert msgspec.structs.replace(store.load(packed), path=str(run)) == store.load(run)


def test_commands_that_read_a_run_read_the_file(run: Path, packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(packed.parent)
    shown = [CliRunner().invoke(assay, ["show", "--json", str(path)]) for path in (run, packed)]
    assert shown[0].exit_code == 0
    assert shown[0].output == shown[1].output
    report = CliRunner().invoke(assay, ["report", str(packed)])
    assert report.exit_code == 0, report.output
    assert Path(report.output.strip()).name == f"{run.name}.html"
    assert Path(report.output.strip()).is_file()


def test_the_archive_has_the_files_of_the_run_and_nobodys_name(run: Path, packed: Path) -> None:
    with tarfile.open(packed) as opened:
        members = opened.getmembers()
    names = {member.name.removeprefix(f"{run.name}/") for member in members}
    assert {"run.json", "plan.json", "ending.json", "records.jsonl", "logs/000-00.err"} <= names
    assert not names & {"report.html", "lock"}
    assert {(member.uid, member.gid, member.uname, member.gname) for member in members} == {(0, 0, "", "")}


def test_a_packed_run_is_not_gone_on_with(packed: Path) -> None:
    before = packed.read_bytes()
    with pytest.raises(UsageError, match="only read"):
        store.reopen(packed)
    assert packed.read_bytes() == before


def test_what_an_archive_has_beside_a_run_is_left_in_it(run: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    link = tarfile.TarInfo("run/logs/link")
    link.type, link.linkname = tarfile.SYMTYPE, str(outside)
    files = [(tarfile.TarInfo("run/../../outside"), b"x"), (tarfile.TarInfo(str(outside)), b"x"), (link, b"")]
    files += [(tarfile.TarInfo("run/logs/../../../outside"), b"x"), (tarfile.TarInfo("run/strange"), b"x")]
    files += [(tarfile.TarInfo(f"run/{name}"), (run / name).read_bytes()) for name in ("run.json", "plan.json")]
    loaded = store.load(archive(tmp_path / "strange.tar.xz", *files))
    assert loaded.info == store.load(run).info
    assert not outside.exists()


@pytest.mark.parametrize("harm", ["torn", "empty"])
def test_a_broken_archive_is_told(packed: Path, harm: str) -> None:
    if harm == "torn":
        packed.write_bytes(packed.read_bytes()[:-400])
    else:
        archive(packed)
    with pytest.raises(UsageError):
        store.load(store.find(str(packed)))


def test_what_is_packed_already_is_not_packed_again(packed: Path) -> None:
    with pytest.raises(UsageError, match="is not a run directory"):
        CliRunner().invoke(assay, ["pack", str(packed)], catch_exceptions=False)


def test_a_folder_that_cannot_be_written_is_told(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UnfitEnvironmentError):
        store.pack(run, tmp_path / "absent" / "run.tar.xz")
