"""Devices, pipes, closed outputs, names that command a terminal, and numbers that no machine has."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.simulation import TWO_CORES, simulated_run

from assay import cli
from assay.cli.support import hosts, output
from assay.model.errors import UsageError
from assay.model.plan import Measure, Study

SMALL = Study("Small", "How?", (Measure("stream", ("one-core",), axes={"elements": 1000}),), launches=2)
#: Escape, bell, a C1 control, and what turns the direction of text.
HOSTILE = "a\x1b[2Jb\x07c\x9bd\u202ee\u2066f"
SHOWN = r"a\u001b[2Jb\u0007c\u009bd\u202ee\u2066f"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated_run(tmp_path_factory.mktemp("runs"), study=SMALL)


def assay(words: list[str], *, line: str = 'exec "$@"', **given: str) -> subprocess.CompletedProcess[str]:
    """The real command, started by a line of a shell."""
    command = ["bash", "-c", line, "sh", sys.executable, "-P", "-m", "assay", *words]
    return subprocess.run(
        command, env=os.environ | given, capture_output=True, text=True, check=False, timeout=100
    )


def test_output_into_a_pipe_a_device_or_a_link_is_written_into_it(tmp_path: Path) -> None:
    pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "target"
    os.mkfifo(pipe)
    target.write_text("old")
    link.symlink_to(target)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    output.write(pipe, "page")
    reader.join(20)
    assert read == ["page"]
    assert pipe.is_fifo()
    output.write(link, "page")
    assert link.is_symlink()
    assert target.read_text() == "page"
    output.write(Path("/dev/null"), "page")
    assert Path("/dev/null").is_char_device()


def test_the_report_of_a_run_from_elsewhere_writes_through_no_link_of_it(run: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (run / "report.html").symlink_to(victim)
    assert CliRunner().invoke(cli.assay, ["report", str(run)]).exit_code == 0
    assert victim.read_text() == "mine"
    assert not (run / "report.html").is_symlink()


def test_a_draft_that_somebody_foresaw_is_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda _length: "foreseen")
    (tmp_path / "victim").write_text("mine")
    (tmp_path / ".foreseen.draft").symlink_to(tmp_path / "victim")
    with pytest.raises(FileExistsError):
        output.write(tmp_path / "page.html", "page")
    assert (tmp_path / "victim").read_text() == "mine"


def test_every_output_shows_what_a_terminal_would_obey(capsys: pytest.CaptureFixture[str]) -> None:
    output.echo(HOSTILE)
    output.console().print(HOSTILE, soft_wrap=True)
    cli._run([HOSTILE])
    told = capsys.readouterr()
    assert told.out.splitlines() == [SHOWN, SHOWN.replace(r"\u0007", "")]  # rich leaves bells out
    assert SHOWN in told.err
    output.print_json({HOSTILE: 1})
    assert SHOWN in capsys.readouterr().out


def test_other_programs_get_every_character_unless_a_terminal_would_obey_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    output.hand_over(HOSTILE)
    assert capsys.readouterr().out == f"{HOSTILE}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    output.hand_over(HOSTILE)
    assert capsys.readouterr().out == f"{SHOWN}\n"


@pytest.mark.parametrize("words", [["show"], ["export", "--samples"], ["list", "benchmarks"], ["--help"]])
def test_a_reader_that_leaves_is_no_error(run: Path, words: list[str]) -> None:
    done = assay(words, line='("$@"; echo "exit $?" >&2) | head -c 1', ASSAY_RUNS=str(run.parent), COLUMNS="60")
    assert done.stderr == "exit 0\n"


@pytest.mark.parametrize(("closing", "what"), [(">&-", "standard output is closed"), ("> /dev/full", "No space")])
def test_an_output_that_cannot_be_written_is_an_error_of_its_own(closing: str, what: str) -> None:
    done = assay(["list", "studies"], line=f'"$@" {closing}')
    assert done.returncode == 4
    assert what in done.stderr
    assert "internal" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_with_little_address_space_a_page_is_written_without_drawn_charts(run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    empty = f"export ASSAY_CACHE={tmp_path / 'cache'}"  # no drawings of earlier pages
    done = assay(["report", str(run), "-o", str(page)], line=f'{empty}; ulimit -v 3000000; exec "$@"')
    assert done.returncode == 0, done.stderr
    assert "Not drawn: the process that wrote this page had too little memory" in page.read_text()


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--launcher", "../x"], "there is no launcher"),
        (["--nic-node", "99", "--synthetic", TWO_CORES], "--nic-node names NUMA node 99"),
        (["--hosts", "node[1-99999999]"], "more than 100000 nodes"),
        (["--hosts", f"node[1-{'9' * 400}]"], "more than 100000 nodes"),
        (["--hosts", "n[1-999]r[1-999]"], "more than 100000 nodes"),
    ],
)
def test_what_no_site_has_is_refused(words: list[str], what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli._run(["plan", "quick", *words]) == 2
    assert what in capsys.readouterr().err


def test_sets_of_nodes_within_reason_are_read() -> None:
    assert hosts.read(None, None, "node[01-03],other") == ("node01", "node02", "node03", "other")
    assert len(hosts.read(None, None, "n[1-99]r[1-99]")) == 99 * 99
    with pytest.raises(UsageError):
        hosts.read(None, None, "node[")
