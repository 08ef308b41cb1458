"""Requests to end wait for what must not be left half done, also where a library has threads of its own."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.simulation import Recorder, begin, builds_for, described, plan_for, starter_for

from assay import store
from assay.run import execute
from assay.run.process import signals_held
from assay.simulation import SimulatedMachine
from assay.store import RunDirectory


@pytest.fixture
def _another_thread() -> Iterator[None]:
    """A thread that the kernel may give any signal to, as those of a BLAS."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    yield
    done.set()
    thread.join()


@pytest.mark.usefixtures("_another_thread")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_comes_after_the_block(number: signal.Signals) -> None:
    seen: list[str] = []
    before = signal.signal(number, lambda *_: seen.append("request"))
    try:
        with signals_held():
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)
            seen.append("whole")
        seen.append("after")
    finally:
        signal.signal(number, before)
    assert seen == ["whole", "request", "after"]


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals_held():
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("_another_thread")
def test_the_ending_is_written_whole_whenever_the_request_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_for()
    end = RunDirectory.end

    def interrupted(directory: RunDirectory, *words: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        end(directory, *words)  # type: ignore[arg-type]

    monkeypatch.setattr(RunDirectory, "end", interrupted)
    with begin(tmp_path, plan) as directory:
        with pytest.raises(KeyboardInterrupt):
            execute(
                plan,
                directory,
                starter_for(plan),
                SimulatedMachine(described().topology),
                builds_for(plan),
                Recorder(),
            )
        run = store.load(directory.path)
    assert run.ending is not None
    assert run.ending.status == "complete"
