"""The real executor: it starts, waits, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from assay.launch.command import Command
from assay.model.errors import UnfitEnvironmentError
from assay.run import process
from assay.run.process import Processes

LONG = 60.0


def python(script: str, **environment: str) -> Command:
    return Command((sys.executable, "-c", script), environment)


def gone(pid: int) -> bool:
    """Whether a process has ended, zombies included."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def until(condition: Callable[[], bool], seconds: float = LONG) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_output_errors_and_exit_code_come_back() -> None:
    outcome = Processes().execute(
        python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"), LONG
    )
    assert (outcome.stdout, outcome.stderr, outcome.exit_code) == (b"out\n", b"err\n", 3)
    assert outcome.involuntary_switches >= 0


def test_what_is_too_long_for_a_command_line_stands_in_a_file_as_long_as_the_command_runs() -> None:
    lines = ("node0001",) * 2**14  # 128 nodes of 128 ranks: more than a word may be
    order = msgspec.structs.replace(
        python("import os; print(os.environ['HOSTS'], len(open(os.environ['HOSTS']).read()))"),
        files={"HOSTS": lines},
    )
    path, length = Processes().execute(order, LONG).stdout.split()
    assert int(length) == 9 * len(lines) > 2**17
    assert not Path(path.decode()).exists()


def test_much_output_on_both_streams_does_not_block() -> None:
    script = (
        "import sys; [print('x' * 9999, file=stream) for _ in range(400) for stream in (sys.stdout, sys.stderr)]"
    )
    outcome = Processes().execute(python(script), LONG)
    assert len(outcome.stdout) == len(outcome.stderr) == 4_000_000


def test_variables_of_the_command_are_set_beside_those_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INHERITED", "yes")
    outcome = Processes().execute(
        python("import os; print(os.environ['INHERITED'], os.environ['OWN'])", OWN="too"), LONG
    )
    assert outcome.stdout == b"yes too\n"


def test_a_signal_is_a_negative_exit_code() -> None:
    outcome = Processes().execute(python("import os; os.kill(os.getpid(), 9)"), LONG)
    assert outcome.exit_code == -signal.SIGKILL


def test_a_program_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    script = f"""
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(tmp_path / "pids")!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
print("begun", flush=True)
time.sleep(600)
"""
    outcome = Processes().execute(python(script), 5.0)
    assert outcome.exit_code is None
    assert outcome.stdout == b"begun\n"
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    assert until(lambda: all(gone(pid) for pid in pids))


@pytest.mark.parametrize(("ends", "lingers"), [(2, True), (3, False), (0, False)])
def test_a_launcher_that_stays_when_its_program_is_through_is_ended(
    monkeypatch: pytest.MonkeyPatch, ends: int, *, lingers: bool
) -> None:
    monkeypatch.setattr(process, "LINGER_S", 0.2)
    script = f"""import time; print('{{"type":"end"}}\\n' * 2, flush=True); time.sleep({9 if lingers else 1})"""
    outcome = Processes().execute(msgspec.structs.replace(python(script), ends=ends), LONG)
    assert outcome.lingered == lingers
    assert outcome.exit_code == (-signal.SIGTERM if lingers else 0)
    assert outcome.stdout.count(b"end") == 2


def test_a_command_is_ended_by_what_it_prints() -> None:
    script = "import time; print('a', flush=True); time.sleep(0.5); print('b', flush=True); time.sleep(600)"
    outcome = Processes(lambda printed: b"b" in printed).execute(python(script), LONG)
    assert (outcome.stdout, outcome.exit_code) == (b"a\nb\n", None)


def test_one_that_hangs_takes_no_time_from_others_that_were_started_with_it() -> None:
    hangs, ends, fails = python("import time; time.sleep(600)"), python("print(1)"), python("exit(3)")
    outcomes = Processes().execute_together((hangs, ends, fails), 5.0)
    assert [each.exit_code for each in outcomes] == [None, 0, 3]
    assert [each.involuntary_switches >= 0 for each in outcomes] == [False, True, True]


def test_launchers_that_stay_are_waited_for_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LINGER_S", 2.0)
    stays = python('import time; print(\'{"type":"end"}\', flush=True); time.sleep(600)')
    begun = time.monotonic()
    outcomes = Processes().execute_together((msgspec.structs.replace(stays, ends=1),) * 4, LONG)
    assert all(each.lingered for each in outcomes)
    assert time.monotonic() - begun < 4 * 2 * 2.0  # of one after the other


def test_children_left_behind_by_a_program_are_ended_too(tmp_path: Path) -> None:
    script = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
"""
    assert Processes().execute(python(script), LONG).exit_code == 0
    pid = int((tmp_path / "pid").read_text())
    assert until(lambda: gone(pid))


def test_ctrl_c_ends_the_program_and_reaches_the_caller(tmp_path: Path) -> None:
    script = f"""
import os, sys
from assay.launch.command import Command
from assay.run.process import Processes
program = "import os, time; open({str(tmp_path / "pid")!r}, 'w').write(str(os.getpid())); time.sleep(600)"
try:
    Processes().execute(Command((sys.executable, "-c", program), {{}}), 600)
except KeyboardInterrupt:
    print("interrupted")
"""
    caller = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    pid_file = tmp_path / "pid"
    assert until(lambda: pid_file.is_file() and pid_file.read_text() != "")
    caller.send_signal(signal.SIGINT)
    assert caller.communicate(timeout=LONG)[0] == b"interrupted\n"
    assert gone(int(pid_file.read_text()))


def test_a_program_that_is_not_there_is_told_with_the_way_out() -> None:
    with pytest.raises(UnfitEnvironmentError, match="cannot start") as refused:
        Processes().execute(Command(("/nowhere/stream",), {}), LONG)
    assert refused.value.remedy.endswith("assay build")


@pytest.mark.parametrize("missing", [False, True], ids=["pidfd", "an old kernel"])
def test_waiting_ends_with_the_program(monkeypatch: pytest.MonkeyPatch, missing: bool) -> None:  # noqa: FBT001
    if missing:
        monkeypatch.setattr(os, "pidfd_open", _no_pidfd)
    assert Processes().execute(python("print(1)"), LONG).exit_code == 0


def _no_pidfd(_pid: int) -> int:
    raise OSError(38, "Function not implemented")


def test_the_counters_of_the_host_never_go_back_and_contain_our_own_work() -> None:
    machine = Processes()
    before = machine.cpu_times()
    machine.execute(python("sum(range(20_000_000))"), LONG)
    after = machine.cpu_times()
    assert after.busy >= before.busy
    assert after.own > before.own
    assert after.cpus == before.cpus > 0
