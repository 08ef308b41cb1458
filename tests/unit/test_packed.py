"""A run as one file: everything of it is there, nothing else is, and strangers' archives do no harm."""

import io
import lzma
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from tests.simulation import simulated_run

from assay import store
from assay.cli import assay
from assay.model.errors import UsageError
from assay.model.plan import Measure, Study
from assay.store import packed as packing

pytestmark = pytest.mark.usefixtures("undrawn")

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
    assert done.stdout.strip() == str(tmp_path / "sent.tar.xz")
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


def headed(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    """An archive whose headers say what they like of sizes."""
    blocks = b"".join(member.tobuf() + content for member, content in members)
    path.write_bytes(lzma.compress(blocks + bytes(1024)))
    return path


def member(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.size, made.type = size, kind
    return made


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ([(member("run/records.jsonl", 2 << 30), b"")], "more than 1 GiB"),
        ([(member("run/strange", 1 << 40), b"")], "larger than any of a run"),
        ([(member("run/run.json", 512, tarfile.GNUTYPE_SPARSE), bytes(512))], "sparse"),
        ([(member("x", 30, tarfile.XHDTYPE), b"22 GNU.sparse.major=1\n".ljust(512, b"\0"))], "sparse"),
        ([(member("x", 1 << 20, tarfile.XHDTYPE), b"")], "longer than any"),
        ([(member("run/logs/0.out", 0), b"")] * 6, "more than 5 files"),
        ([(member("run/run.json", 7000), bytes(512))], "too early"),
        ([(member("run/logs/..", 0), b"")], "Is a directory"),
    ],
)
def test_an_archive_of_harm_is_refused_before_it_is_unpacked(
    members: list[tuple[tarfile.TarInfo, bytes]], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "_MOST_FILES", 5)
    with pytest.raises(UsageError, match="is damaged, or is none") as refused:
        store.load(headed(tmp_path / "harm.tar.xz", *members))
    assert why in refused.value.why


def test_unpacking_ends_in_time(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_MOST_S", -1.0)
    with pytest.raises(UsageError) as refused:
        store.load(packed)
    assert "to unpack" in refused.value.why


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGKILL])
def test_whatever_signal_ends_the_reader_nothing_unpacked_stays(
    packed: Path, tmp_path: Path, kind: signal.Signals
) -> None:
    (tmp_path / "unpacked").mkdir()
    script = "import sys, time, pathlib\nfrom assay.store.packed import unpacked\n"
    script += "with unpacked(pathlib.Path(sys.argv[1])): print(flush=True); time.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(packed)],
        env=os.environ | {"TMPDIR": str(tmp_path / "unpacked")},
        stdout=subprocess.PIPE,
    ) as reader:
        assert reader.stdout
        reader.stdout.readline()
        assert list((tmp_path / "unpacked").glob("*/run.json"))
        reader.send_signal(kind)
    until = time.monotonic() + 20
    while list((tmp_path / "unpacked").iterdir()) and time.monotonic() < until:
        time.sleep(0.05)
    assert not list((tmp_path / "unpacked").iterdir())


def test_a_long_name_is_kept(run: Path, tmp_path: Path) -> None:
    host = f"{'n' * 120}é.json"
    shutil.copytree(run, tmp_path / "long")
    (tmp_path / "long/machine" / host).write_bytes(next((run / "machine").glob("*.json")).read_bytes())
    store.pack(tmp_path / "long", tmp_path / "long.tar.xz")
    with packing.unpacked(tmp_path / "long.tar.xz") as folder:
        assert (folder / "machine" / host).is_file()


def test_what_is_packed_already_is_not_packed_again(packed: Path) -> None:
    with pytest.raises(UsageError, match="is not a run directory"):
        CliRunner().invoke(assay, ["pack", str(packed)], catch_exceptions=False)


def test_a_folder_that_cannot_be_written_is_told(run: Path, tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"absent/run\.tar\.xz"):
        store.pack(run, tmp_path / "absent" / "run.tar.xz")
