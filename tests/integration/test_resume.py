"""A run that is killed, interrupted or finished twice: nothing is lost, nothing is doubled."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.impatient import ASSAY

from assay import store
from assay.model.record import Launch, RecordError, decode_record
from assay.model.run import Run
from assay.model.toolchain import Build

pytestmark = pytest.mark.native

_LIMIT_S = 300.0

STUDY = """
title = "Small"
question = "Does it go on?"
launches = 3
precision = 0.5

[[measure]]
benchmark = "stream"
placements = ["one-core"]
axes = { stores = ["ordinary", "non-temporal"], elements = 200000 }

[[measure]]
benchmark = "memcpy"
placements = ["one-core"]
axes = { bytes = "64:4K", buffers = "hot" }
"""


@pytest.fixture
def home(tmp_path: Path, build: Build) -> Path:
    """A folder to run in, with the programs built already."""
    assert build.programs
    (tmp_path / "small.toml").write_text(STUDY)
    return tmp_path


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, build: Build) -> Path:
    """The runs of a folder where one block of the study was measured to its end."""
    assert build.programs
    folder = tmp_path_factory.mktemp("measured")
    (folder / "small.toml").write_text(STUDY)
    code, _, err = finish(folder, "run", "small.toml", "--launches", "1")
    assert code == 0, err
    return folder / "assay-runs"


#: A launch that lasts until somebody ends it, as far as a test is concerned.
LONG = """
title = "Long"
question = "Does it end?"
launches = 1
precision = 0.000001

[[measure]]
benchmark = "memcpy"
placements = ["one-core"]
axes = { bytes = "1K:512M/9", buffers = "cold" }
"""


def measuring(pid: int) -> list[int]:
    """Programs that a process has started and that have measured for a while: no probe lasts as long."""
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        try:
            used = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[11]
            name = Path(f"/proc/{child}/comm").read_text().strip()
        except (FileNotFoundError, ProcessLookupError):
            continue
        found += [int(child)] if name == "memcpy" and int(used) > 20 else []
    return found


def start(home: Path, *arguments: str, through: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """`assay` in a process group of its own, as a shell starts it."""
    return subprocess.Popen(
        [*through, *ASSAY, *arguments],
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def finish(home: Path, *arguments: str) -> tuple[int, str, str]:
    process = start(home, *arguments)
    out, err = process.communicate(timeout=_LIMIT_S)
    return process.returncode, out, err


def committed(home: Path) -> list[str]:
    """Ids of the launches whose records are committed, in order."""
    found: list[str] = []
    for path in (home / "assay-runs").glob("*/records.jsonl"):
        for line in path.read_bytes().splitlines():
            try:
                record = decode_record(line)
            except RecordError:
                continue
            found += [record.id] if isinstance(record, Launch) else []
    return found


def start_and_stop(home: Path, launches: int, signal_number: int) -> tuple[int, str]:
    """Begin the study and send the signal to the whole process group once so many launches are committed."""
    process = start(home, "run", "small.toml")
    deadline = time.monotonic() + _LIMIT_S
    while len(set(committed(home))) < launches:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    if signal_number == signal.SIGKILL:
        process.kill()  # assay alone: what it started is not told
    else:
        os.killpg(process.pid, signal_number)
    _, err = process.communicate(timeout=_LIMIT_S)
    return process.returncode, err


def last_run(home: Path) -> Run:
    return store.load(store.find("last", home / "assay-runs"))


def attempts(run: Run) -> Counter[tuple[str, int]]:
    return Counter((one.launch.id, one.launch.attempt) for one in run.launches)


@pytest.fixture(scope="module")
def killed_runs(tmp_path_factory: pytest.TempPathFactory, build: Build) -> Path:
    """The runs of a folder where five launches of the study were committed before it was killed."""
    assert build.programs
    folder = tmp_path_factory.mktemp("killed")
    (folder / "small.toml").write_text(STUDY)
    code, _ = start_and_stop(folder, 5, signal.SIGKILL)
    assert code == -signal.SIGKILL
    return folder / "assay-runs"


def test_after_sigkill_the_run_goes_on_and_nothing_is_lost_or_doubled(home: Path, killed_runs: Path) -> None:
    shutil.copytree(killed_runs, home / "assay-runs")
    killed = last_run(home)
    assert killed.ending is None
    before = [(one.launch.id, one.launch.attempt, one.cases) for one in killed.launches]
    assert 5 <= len({launch_id for launch_id, _, _ in before}) < len(killed.plan.order)

    code, out, err = finish(home, "run", "--resume", "last")
    assert code == 0, err
    whole = last_run(home)
    assert out.splitlines()[-1] == str(Path(whole.path) / "report.html")
    assert [(one.launch.id, one.launch.attempt, one.cases) for one in whole.launches][: len(before)] == before
    assert list(dict.fromkeys(one.launch.id for one in whole.launches)) == [one.id for one in whole.plan.order]
    assert set(attempts(whole).values()) == {1}
    assert whole.ending is not None
    assert whole.ending.status == "complete"
    assert whole.damage == ()


def test_a_tail_torn_by_the_crash_is_set_aside_and_its_launch_made_again(home: Path, killed_runs: Path) -> None:
    shutil.copytree(killed_runs, home / "assay-runs")
    killed = last_run(home)
    records = Path(killed.path) / "records.jsonl"
    with records.open("ab") as file:
        file.write(b'{"type":"header","schema":1,"bench')
    code, _, err = finish(home, "run", "--resume", killed.info.id[:20])
    assert code == 0, err
    assert "torn off" in err
    assert (Path(killed.path) / "logs" / "torn-1.jsonl").read_bytes().startswith(b'{"type":"header"')
    whole = last_run(home)
    assert {one.launch.id for one in whole.launches} == {one.id for one in whole.plan.order}
    assert whole.damage == ()


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_is_asked_to_end_ends_with_130_and_a_valid_run_that_goes_on(
    home: Path, asked: signal.Signals, repeats: Callable[[int, int], int]
) -> None:
    code, err = start_and_stop(home, 3, asked)
    assert code == 130
    assert "assay run --resume" in err
    assert "Traceback" not in err
    interrupted = last_run(home)
    assert interrupted.ending is not None
    assert interrupted.ending.status == "interrupted"
    assert interrupted.damage == ()
    if asked != signal.SIGINT and repeats(1, 3) == 1:
        return  # each leaves the same run behind: one goes on
    assert finish(home, "run", "--resume", "last")[0] == 0
    whole = last_run(home)
    assert set(attempts(whole).values()) == {1}
    assert {one.launch.id for one in whole.launches} == {one.id for one in whole.plan.order}


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_however_assay_alone_ends_its_program_ends_too(home: Path, asked: signal.Signals) -> None:
    (home / "small.toml").write_text(LONG)
    process = start(home, "run", "small.toml")
    deadline = time.monotonic() + _LIMIT_S
    while not (started := measuring(process.pid)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(asked)
    _, err = process.communicate(timeout=_LIMIT_S)
    assert process.returncode == (-asked if asked == signal.SIGKILL else 130), err
    while any(Path(f"/proc/{pid}/exe").exists() for pid in started):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_under_nohup_a_terminal_that_closes_changes_nothing(home: Path) -> None:
    process = start(home, "run", "small.toml", "--launches", "1", through=("nohup",))
    deadline = time.monotonic() + _LIMIT_S
    while not committed(home):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGHUP)
    process.communicate(timeout=_LIMIT_S)
    assert process.returncode == 0
    assert store.load(store.find("last", home / "assay-runs")).ending is not None


@pytest.mark.parametrize("harm", ["a launch", "all records"])
def test_a_complete_run_that_was_damaged_is_made_whole_again(home: Path, measured: Path, harm: str) -> None:
    shutil.copytree(measured, home / "assay-runs")
    records = Path(last_run(home).path) / "records.jsonl"
    lines = records.read_bytes().splitlines(keepends=True)
    first = last_run(home).launches[0].launch.id.encode()  # all attempts of it: a repeat would stand for the first
    spoilt = [b"spoilt\n" if b'"type":"launch","id":"%b"' % first in line else line for line in lines]
    assert spoilt != lines
    records.write_bytes(b"".join(spoilt) if harm == "a launch" else b"")
    assert "damaged" in finish(home, "list")[1]
    code, out, err = finish(home, "run", "--resume", "last")
    assert code == 0, err
    assert "already complete" not in err
    assert out.splitlines()[-1].endswith("report.html")
    whole = last_run(home)
    assert {one.launch.id for one in whole.launches} == {one.id for one in whole.plan.order}
    # Lines were moved aside: every launch is there again, and the chain stays broken where they were missing.
    broken = ["the chain of records is broken" in each for each in whole.damage]
    assert broken == ([True] if harm == "a launch" else [])
    assert "already complete" in finish(home, "run", "--resume", "last")[2]
    assert "damaged" not in finish(home, "list")[1]


def test_what_a_budget_cut_is_said_with_the_command_that_has_it_made(home: Path) -> None:
    code, out, err = finish(home, "run", "small.toml", "--launches", "10", "--budget", "2s")
    assert code == 0, err
    said = re.search(r"(\d+) of (\d+) launches cut by the budget of 2 s; continue with: assay (.+)", err)
    assert said, err
    cut = last_run(home)
    assert int(said[2]) == len(cut.plan.order)
    made = {(one.launch.id, case) for one in cut.launches for case in one.launch.cases}
    short = [one for one in cut.plan.order if not {(one.id, case) for case in one.cases} <= made]
    assert int(said[1]) == len(short) > 0
    code, _, err = finish(home, "run", "--resume", "last", "--budget", "100ms")
    assert (code, "is used up" in err) == (2, True)
    code, out, err = finish(home, "run", "--resume", "last")
    assert (code, out, "a budget of 2 s is used up" in err) == (2, "", True)
    assert re.search(r"next: assay run --resume \S+ --budget \d+[sm]", err)
    for _ in range(3):  # launches take longer than foreseen where others use the machine
        code, out, err = finish(home, *said[3].split())
        assert code == 0, err
        assert out.splitlines()[-1].endswith("report.html")
        said = re.search(r"(\d+) of (\d+) launches cut by the budget of .* continue with: assay (.+)", err)
        if not said:
            break
    whole = last_run(home)
    assert whole.ending is not None
    assert whole.ending.status == "complete"


def test_a_complete_run_stays_as_it_is_and_says_so(home: Path, measured: Path) -> None:
    shutil.copytree(measured, home / "assay-runs")
    before = {path: path.read_bytes() for path in Path(last_run(home).path).glob("*.json*")}
    code, out, err = finish(home, "run", "--resume", "last")
    assert code == 0
    assert "already complete" in err
    assert out.splitlines()[-1].endswith("report.html")
    assert {path: path.read_bytes() for path in Path(last_run(home).path).glob("*.json*")} == before


def test_two_processes_in_one_run_directory_get_a_clear_answer(home: Path) -> None:
    first = start(home, "run", "small.toml", "--launches", "100")  # it ends by the interrupt
    try:
        deadline = time.monotonic() + _LIMIT_S
        while len(committed(home)) < 1:
            assert first.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        code, _, err = finish(home, "run", "--resume", "last")
        assert code == 4
        assert "being measured already" in err
        assert f"process {first.pid} on" in err
    finally:
        os.killpg(first.pid, signal.SIGINT)
        first.communicate(timeout=_LIMIT_S)


def test_resume_refuses_other_options_and_unknown_runs(home: Path) -> None:
    code, _, err = finish(home, "run", "--resume", "last")
    assert (code, "no run in" in err) == (2, True)
    code, _, err = finish(home, "run", "small.toml", "--resume", "last")
    assert (code, "neither a study nor other options" in err) == (2, True)


def test_a_full_disk_ends_with_4_keeps_what_was_measured_and_goes_on_when_there_is_space(home: Path) -> None:
    # Files may grow to 60 KiB: any user can set this limit, and it strikes in mid-write, as a full disk does.
    (home / "small.toml").write_text(STUDY.replace("0.5", "0.000001").replace("launches = 3", "launches = 2"))
    limited = ("bash", "-c", 'ulimit -f 60; exec "$@"', "bash")
    process = start(home, "run", "small.toml", through=limited)
    _, err = process.communicate(timeout=_LIMIT_S)
    assert process.returncode == 4, err
    assert "no space left" in err
    full = last_run(home)
    assert len(full.launches) > 0
    assert full.damage == ()
    kept = [one.launch.id for one in full.launches]
    assert finish(home, "run", "--resume", "last")[0] == 0
    assert [one.launch.id for one in last_run(home).launches][: len(kept)] == kept
    assert set(attempts(last_run(home)).values()) == {1}
