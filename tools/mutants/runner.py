"""Tests in processes of their own, each with one fault in memory: no file of the sources is changed."""

import importlib.machinery
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Literal, NamedTuple

#: A fault may make tests this much slower, and so many seconds, before they are ended: it is found, too.
_PATIENCE, _PATIENCE_S = 8.0, 60.0
_LOOK_S = 0.02
#: pytest's exit codes: tests passed, tests failed.
_PASSED, _FAILED = 0, 1
#: Heavy modules that no fault touches: loaded once, before a process is split off for each fault.
_SHARED = ("numpy", "scipy.stats", "hypothesis", "msgspec", "jinja2", "click", "rich.table", "xdist.scheduler")

Fate = Literal["killed", "timed out", "survived", "undecided"]


@dataclass(frozen=True)
class Trial:
    """Tests to run with a fault.

    Attributes:
        key: number of the trial.
        file: path of the file with the fault; empty for none.
        source: the source of that file.
        tests: names of tests, as pytest has them.
        seconds: that the tests take without a fault.
    """

    key: int
    file: str
    source: bytes
    tests: tuple[str, ...]
    seconds: float


class Verdict(NamedTuple):
    """What a trial gave: its key, the fate of its fault, the first test that failed."""

    key: int
    fate: Fate
    test: str


class _FirstFailure:
    """A plugin of pytest that writes the name of the first test that fails."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def pytest_runtest_logreport(self, report: object) -> None:
        if getattr(report, "failed", False) and not self._file.exists():
            self._file.write_text(json.dumps(getattr(report, "nodeid", "")))


def load_shared() -> None:
    """Load what every trial needs and no fault touches."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in ("pytest", *_SHARED):
        __import__(name)


def run(trials: Iterable[Trial], jobs: int) -> Iterator[Verdict]:
    """Run trials, so many at a time, and yield their verdicts as they end."""
    waiting, running = iter(trials), dict[int, tuple[Trial, float, Path]]()
    with tempfile.TemporaryDirectory() as folder:
        while True:
            while len(running) < jobs and (trial := next(waiting, None)):
                file = Path(folder, f"{trial.key}")
                limit_s = time.monotonic() + _PATIENCE * trial.seconds + _PATIENCE_S
                running[_split_off(trial, file)] = trial, limit_s, file
            if not running:
                return
            time.sleep(_LOOK_S)
            for process, (trial, limit_s, file) in tuple(running.items()):
                verdict = _verdict(process, trial, file, late=time.monotonic() > limit_s)
                if verdict:
                    del running[process]
                    yield verdict


def _verdict(process: int, trial: Trial, file: Path, *, late: bool) -> Verdict | None:
    if late:
        os.killpg(process, signal.SIGKILL)
    ended, status = os.waitpid(process, 0 if late else os.WNOHANG)
    if not ended:
        return None
    if late:
        return Verdict(trial.key, "timed out", "")
    test = json.loads(file.read_text()) if file.exists() else ""
    return Verdict(trial.key, "survived" if os.waitstatus_to_exitcode(status) == _PASSED else "killed", test)


def _split_off(trial: Trial, file: Path) -> int:
    """Start a process for a trial; return its id, which is that of its group."""
    process = os.fork()
    if process:
        return process
    code = _FAILED
    try:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        if trial.file:
            _replace(trial.file, trial.source)
        code = _test(trial.tests, file)
    finally:
        os._exit(code)


def _replace(file: str, source: bytes) -> None:
    """Let imports of a file have this source."""
    usual = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: importlib.machinery.SourceFileLoader, name: str) -> CodeType | None:
        return compile(source, file, "exec") if self.path == file else usual(self, name)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]


def _test(tests: Sequence[str], file: Path) -> int:
    import pytest  # noqa: PLC0415 (loaded in the process that is split)

    sys.argv = ["pytest"]
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # modules are loaded before: see `load_shared`
    return int(pytest.main([*options, *tests], plugins=[_FirstFailure(file)]))
