"""Programs that a launcher started end with it, however it ends; those that a user started do not."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.model.toolchain import Build

pytestmark = pytest.mark.native

#: Longer than any test lasts.
LONG = ("--bytes", "64M", "--min-samples", "1M", "--max-samples", "1M", "--seconds", "600")
LIMIT_S = 60.0

#: Starts a program as the engine does, and says its process id.
LAUNCHER = """
import sys
from assay.launch.command import Command
from assay.run import process
begin = process._start
def start(*arguments):
    begun = begin(*arguments)
    print(begun.pid, flush=True)
    return begun
process._start = start
process.Processes().execute(Command(tuple(sys.argv[1:]), {}), 600)
"""

#: Starts a program as a shell does, says its process id, and ends.
SHELL = """
import subprocess, sys
print(subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL).pid, flush=True)
"""


def gone(pid: int) -> bool:
    """Whether a process has ended, zombies included."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def samples(pid: int) -> bool:
    """Whether a process has used more cpu time than starting takes."""
    used = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11]
    return int(used) > 10


def test_a_program_ends_with_a_launcher_that_is_killed(build: Build) -> None:
    command = [sys.executable, "-c", LAUNCHER, build.programs["memcpy"], *LONG]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as launcher:
        assert launcher.stdout is not None
        pid = int(launcher.stdout.readline())
        assert within(LIMIT_S, lambda: samples(pid))
        launcher.kill()
    assert within(LIMIT_S, lambda: gone(pid))


def test_a_program_that_is_used_alone_outlives_its_shell(build: Build) -> None:
    command = [sys.executable, "-c", SHELL, build.programs["memcpy"], *LONG]
    # Its stderr is not caught: the program inherits it and would keep the pipe open.
    pid = int(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S).stdout)
    try:
        assert within(LIMIT_S, lambda: samples(pid))
    finally:
        os.kill(pid, signal.SIGKILL)


def test_a_program_whose_launcher_had_ended_before_it_began_ends_too(build: Build) -> None:
    with subprocess.Popen(["true"]) as ended:
        pass
    environment = {**os.environ, "ASSAY_PARENT": str(ended.pid)}
    done = subprocess.run(
        [build.programs["memcpy"], *LONG], check=False, capture_output=True, env=environment, timeout=LIMIT_S
    )
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, b"")


@pytest.mark.parametrize("text", ["me", "0", "-1", "1 2"])
def test_a_parent_that_is_no_process_is_refused(build: Build, text: str) -> None:
    environment = {**os.environ, "ASSAY_PARENT": text}
    done = subprocess.run(
        [build.programs["memcpy"]], check=False, capture_output=True, text=True, env=environment, timeout=LIMIT_S
    )
    assert done.returncode == 2
    assert "next: unset ASSAY_PARENT" in done.stderr


@pytest.mark.parametrize(
    "words", [("--colour", "red"), ("--bytes", "many"), ("--cpus", "99999"), ("--bytes", "1T")]
)
def test_the_next_command_can_be_typed_and_the_program_is_named_once(build: Build, words: tuple[str, ...]) -> None:
    program = build.programs["memcpy"]
    done = subprocess.run([program, *words], check=False, capture_output=True, text=True, timeout=LIMIT_S)
    what, _, after = done.stderr.splitlines()
    assert what.startswith("memcpy: ")
    assert what.count("memcpy") == 1
    assert after.startswith(f"  next: {program} --")
