"""What `assay show` printed is printed again from the cache only while nothing of it has changed."""

import gzip
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.simulation import simulated_run

from assay import analyse
from assay.catalogue import topics
from assay.cli import assay
from assay.cli.support import printed
from assay.model.result import Analysis
from assay.model.run import Run
from assay.store.files import kept

#: Prints a page, then which of those modules it needed that take long to load.
SHOW = """
import sys
from assay.cli import assay
assay(["show", sys.argv[1]], standalone_mode=False)
print(*{"numpy", "assay.analyse", "assay.report.terminal", "assay.topics.memory.sections"} & set(sys.modules))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated_run(tmp_path_factory.mktemp("made"))


@pytest.fixture
def run(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    return Path(shutil.copytree(made, tmp_path / "runs" / made.name))


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The path of each run that is analysed."""
    known: list[str] = []
    real = analyse.analyse

    def counting(run: Run, *given: Mapping[str, float]) -> Analysis:
        known.append(run.path)
        return real(run, *given)

    monkeypatch.setattr(analyse, "analyse", counting)
    return known


def show(*arguments: str, charset: str = "utf-8") -> str:
    return CliRunner(charset=charset).invoke(assay, ["show", *arguments], catch_exceptions=False).stdout


def cached(folder: Path) -> list[Path]:
    return sorted((folder / "cache" / "shown").iterdir())


def test_a_run_that_has_not_changed_is_analysed_once(run: Path, analysed: list[str], tmp_path: Path) -> None:
    before = sorted(run.rglob("*"))
    texts = {show(), show("last"), show(run.name), show(str(run))}
    assert len(texts) == 1
    assert run.name in texts.pop()
    assert show("--json") == show("--format", "json")
    assert analysed == [str(run)] * 2
    assert sorted(run.rglob("*")) == before
    assert len(cached(tmp_path)) == 2


def test_what_was_shown_is_shown_without_what_analyses_it(run: Path) -> None:
    told = [
        subprocess.run(
            [sys.executable, "-c", SHOW, str(run)], check=True, capture_output=True, text=True
        ).stdout.splitlines()
        for _ in range(2)
    ]
    assert told[0][:-1] == told[1][:-1]
    assert sorted(told[0][-1].split()) == [
        "assay.analyse",
        "assay.report.terminal",
        "assay.topics.memory.sections",
        "numpy",
    ]
    assert not told[1][-1]


def test_a_run_that_grew_is_analysed_again(run: Path, analysed: list[str]) -> None:
    whole = show()
    records = (run / "records.jsonl").read_bytes()
    (run / "records.jsonl").write_bytes(records[: len(records) // 2])
    assert show() != whole
    (run / "records.jsonl").write_bytes(records)
    assert show() == whole
    assert len(analysed) == 3


def damage(run: Path) -> None:
    """One letter, by someone who sets the clock of the file back."""
    records = run / "records.jsonl"
    before = records.stat()
    content = bytearray(records.read_bytes())
    content[content.index(b'"seconds"')] = ord("!")
    records.write_bytes(content)
    os.utime(records, ns=(before.st_atime_ns, before.st_mtime_ns))


def kill(run: Path) -> None:
    (run / "ending.json").unlink()


def rewrite_machine(run: Path) -> None:
    (file,) = (run / "machine").glob("*.json")
    file.write_bytes(file.read_bytes())


@pytest.mark.parametrize("change", [damage, kill, rewrite_machine])
def test_a_run_that_changed_is_analysed_again(
    run: Path, analysed: list[str], change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = show()
    change(run)
    after = show()
    assert len(analysed) == 2
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "empty"))
    assert show() == after
    assert (after == before) == (change is rewrite_machine)


def test_another_version_of_the_code_or_of_a_topic_analyses_again(
    run: Path, analysed: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert Path(analyse.__file__).parent.parent in map(Path, topics.folders())
    code = tmp_path / "code" / "topic"
    code.mkdir(parents=True)
    (code / "rule.py").write_text("LIMIT = 1\n")
    monkeypatch.setattr(topics, "folders", lambda: (str(code.parent),))
    show(str(run))
    (code / "__pycache__").mkdir()
    (code / "__pycache__" / "rule.pyc").write_text("")
    show(str(run))
    assert len(analysed) == 1
    (code / "rule.py").write_text("LIMIT = 2\n")
    show(str(run))
    assert len(analysed) == 2
    (code / "section.py").write_text("")
    show(str(run))
    assert len(analysed) == 3
    library = tmp_path / "site-packages"
    library.mkdir()
    monkeypatch.syspath_prepend(library)
    show(str(run))
    (library / "numpy-9.dist-info").mkdir()
    show(str(run))
    assert len(analysed) == 5


def test_every_width_colour_alphabet_option_and_setting_has_a_page_of_its_own(
    run: Path, analysed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = [show(), show("--json"), show(charset="ascii"), show("--limit", "memory-bandwidth=204.8 GB/s")]
    with monkeypatch.context() as patch:
        patch.setenv("COLUMNS", "60")
        told.append(show())
    with monkeypatch.context() as patch:
        patch.setenv("FORCE_COLOR", "1")
        patch.setenv("TERM", "xterm-256color")
        told.append(show())
    Path("assay.toml").write_text('[limits]\nmemory-bandwidth = "100 GB/s"\n')
    told.append(show())
    assert len(analysed) == len(set(told)) == len(told)
    Path("assay.toml").unlink()
    assert show() == told[0]
    assert len(analysed) == len(told)
    assert "\x1b[" in told[5]
    assert "\x1b" not in told[0]
    assert run.name in told[2]
    assert told[2].isascii()


def in_the_middle(page: bytes) -> bytes:
    middle = len(page) // 2
    return page[:middle] + bytes([page[middle] ^ 4]) + page[middle + 1 :]


@pytest.mark.parametrize(
    "change",
    [
        lambda _: b"",
        lambda _: b"something else",
        lambda page: page[:20],
        in_the_middle,
        lambda _: gzip.compress(b""),
        lambda _: gzip.compress(b"\xff\xfe"),
        lambda _: gzip.compress(b" " * (1 << 25)),
    ],
    ids=["empty", "other", "torn", "one bit", "of nothing", "no text", "longer than any"],
)
def test_a_damaged_file_of_the_cache_is_made_anew(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    file, odd = tmp_path / "kept", "a page of \udc80\n"
    made = [kept(file, lambda: odd)]
    file.write_bytes(change(file.read_bytes()))
    made += [kept(file, lambda: f"{odd}again\n"), kept(file, lambda: "never")]
    assert made == [odd, f"{odd}again\n", f"{odd}again\n"]


@pytest.mark.usefixtures("run")
def test_a_torn_page_is_made_anew(analysed: list[str], tmp_path: Path) -> None:
    told = show()
    (page,) = cached(tmp_path)
    page.write_bytes(page.read_bytes()[:-1])
    assert [show(), show()] == [told, told]
    assert len(analysed) == 2


@pytest.mark.usefixtures("run")
def test_a_terminal_obeys_nothing_in_a_page_but_its_colours(analysed: list[str], tmp_path: Path) -> None:
    show()
    (page,) = cached(tmp_path)
    page.write_bytes(gzip.compress(b"\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J\n"))
    assert show() == "\x1b[31mred\x1b[0m \\u001b]0;title\\u0007 \\u001b[2J\n"
    assert len(analysed) == 1


@pytest.mark.usefixtures("run")
def test_a_cache_that_cannot_be_written_stops_no_page(
    analysed: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = show()
    Path("file").write_text("in the way")
    for place in ("file", "/proc/self"):
        monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / place))
        assert show() == told
    assert len(analysed) == 3


def test_of_a_packed_run_nothing_is_kept_beside_it(run: Path, analysed: list[str], tmp_path: Path) -> None:
    packed = tmp_path / "sent" / "run.tar.xz"
    packed.parent.mkdir()
    assert CliRunner().invoke(assay, ["pack", str(run), "-o", str(packed)]).exit_code == 0
    assert show(str(packed)) == show(str(packed))
    assert len(analysed) == 1
    assert list(packed.parent.iterdir()) == [packed]


@pytest.mark.usefixtures("run")
def test_the_oldest_pages_make_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, analysed: list[str]) -> None:
    monkeypatch.setattr(printed, "_MOST", 2)
    for number, width in enumerate(("60", "70", "80")):
        monkeypatch.setenv("COLUMNS", width)
        show()
        assert len(cached(tmp_path)) == min(number + 1, 2)
        for page in cached(tmp_path):  # a second is a long time for a test
            os.utime(page, ns=(0, page.stat().st_mtime_ns - 10**9))
    monkeypatch.setenv("COLUMNS", "80")
    show()
    assert len(analysed) == 3
