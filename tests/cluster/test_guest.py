"""A guest that fails says why, and none outlives the tests that started it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cluster import guest
from tests.cluster.guest import GuestError, Parts

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[2]
#: Starts a guest that would sleep for long, and waits for it.
WAITING = """
import sys
from pathlib import Path
from tests.cluster import guest
kernel, busybox, work = map(Path, sys.argv[1:])
guest.run(guest.Parts(kernel, busybox), {}, {"sleep": ("sleep", "100")}, work)
"""
PATIENCE_S = 20.0


def guests(work: Path) -> list[int]:
    """Ids of the qemu processes that work in a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"qemu-system-x86_64") and any(str(work).encode() in word for word in words):
            found.append(int(entry.name))
    return found


def test_a_guest_that_takes_too_long_is_ended_and_its_last_output_is_reported(
    parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest, "LIMIT_S", 0.5)
    with pytest.raises(GuestError, match=r"not done after 0 s\nits console ends:"):
        guest.run(parts, {}, {}, tmp_path)
    assert guests(tmp_path) == []


def test_a_guest_that_cannot_start_its_first_process_says_so(parts: Parts, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"this is no program")
    with pytest.raises(GuestError, match="Kernel panic"):
        guest.run(Parts(parts.kernel, broken), {}, {}, tmp_path)


def test_a_guest_ends_with_the_process_that_started_it_even_when_that_is_killed(
    parts: Parts, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", WAITING, str(parts.kernel), str(parts.busybox), str(tmp_path)]
    starter = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    deadline = time.monotonic() + PATIENCE_S
    try:
        while not guests(tmp_path) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert guests(tmp_path)
    finally:
        starter.send_signal(signal.SIGKILL)
        starter.wait()
    while guests(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert guests(tmp_path) == []
