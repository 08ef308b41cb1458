"""The executor that starts real processes."""

import contextlib
import math
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple

from assay.launch.command import Command, CpuTimes, Outcome
from assay.model.errors import UnfitEnvironmentError

#: Native programs end with the process that this variable names, even if it is killed. A launcher whose programs
#: are started by daemons sets it to the empty string.
_PARENT = "ASSAY_PARENT"
_LOOK_S = 0.01
#: Seconds between checks whether a command is ended early.
_OFTEN_S = 0.1
#: Seconds between checks of the output, and for a launcher to end after its program.
LINGER_S = 5.0
#: Start of a record that ends a case.
_END = b'{"type":"end"'
_TICKS = os.sysconf("SC_CLK_TCK")


class Processes:
    """Starts each program in its own process group and ends the whole group.

    Args:
        is_over: whether to end a command now, from its output so far; it is called often, so only for commands
            that measure nothing.
    """

    def __init__(self, is_over: Callable[[bytes], bool] | None = None) -> None:
        self._is_over = is_over

    def now(self) -> float:
        """Seconds on the monotonic clock. For scheduling only: no result is ever timed with it."""
        return time.monotonic()

    def date(self) -> datetime:
        """The date of this host, UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Let time pass without using a cpu."""
        time.sleep(seconds)

    def cpu_times(self) -> CpuTimes:
        """From /proc/stat; zeros if there is none."""
        own = os.times()
        used = own.user + own.system + own.children_user + own.children_system
        load = os.getloadavg()[0]
        try:
            lines = Path("/proc/stat").read_text().splitlines()
        except OSError:
            return CpuTimes(0.0, 0.0, 0.0, 0, load)
        user, nice, system, _idle, _iowait, irq, softirq, steal = (int(word) for word in lines[0].split()[1:9])
        cpus = sum(1 for line in lines if line.startswith("cpu")) - 1
        return CpuTimes((user + nice + system + irq + softirq) / _TICKS, steal / _TICKS, used, cpus, load)

    def execute(self, command: Command, timeout: float) -> Outcome:
        """Start the command without a shell and wait; its child processes are ended with it.

        Raises:
            UnfitEnvironmentError: it cannot be started.
        """
        (outcome,) = self.execute_together((command,), timeout)
        return outcome

    def execute_together(
        self, commands: Sequence[Command], timeout: float, at_limit: Callable[[], None] = lambda: None
    ) -> tuple[Outcome, ...]:
        """Start all commands at once and wait for all of them; the time limit is for all together.

        At the time limit, `at_limit` is called before any of them is ended.

        Raises:
            UnfitEnvironmentError: a command cannot be started; then all are ended.
        """
        with contextlib.ExitStack() as ended:
            # Files, not pipes: nobody has to read while the program takes times, and no pipe can fill up.
            started = [_Started.of(command, ended) for command in commands]
            switches = _wait(started, timeout, self._is_over)
            stayed = [one.process.returncode is None for one in started]
            if None in switches:
                at_limit()
            _ask_to_end(one.process for one in started)
            asked = time.monotonic()
            for one in started:
                _end_group(one.process, max(0.0, asked + one.grace_s - time.monotonic()))
            counted = zip(started, switches, stayed, strict=True)
            return tuple(one.outcome(count, stayed=stays) for one, count, stays in counted)


class _Started(NamedTuple):
    """A process with the files of its output."""

    process: subprocess.Popen[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]
    grace_s: float
    ends: int

    @classmethod
    def of(cls, command: Command, ended: contextlib.ExitStack) -> "_Started":
        """Start it; it is ended when the stack is closed, for whatever reason."""
        stdout = ended.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
        stderr = ended.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        process = _start(command, stdout, stderr, written(command, ended))
        ended.callback(_end_group, process, command.grace_s)
        return cls(process, stdout, stderr, command.grace_s, command.ends)

    def printed(self) -> bytes:
        """All of its stdout so far."""
        return os.pread(self.stdout.fileno(), os.fstat(self.stdout.fileno()).st_size, 0)

    def is_through(self) -> bool:
        """Whether every expected case has its end."""
        return self.printed().count(_END) >= self.ends

    def outcome(self, switches: int | None, *, stayed: bool) -> Outcome:
        """Its outcome after its end; `switches` is None if its time was up."""
        self.stdout.seek(0)
        self.stderr.seek(0)
        code = None if switches is None else self.process.returncode
        lingered = stayed and switches is not None
        return Outcome(
            self.stdout.read(), self.stderr.read(), code, -1 if switches is None else switches, lingered
        )


def _ask_to_end(processes: Iterable[subprocess.Popen[bytes]]) -> None:
    """Send SIGTERM to all running processes at once, so that their grace periods run in parallel."""
    for process in processes:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGTERM)


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Delay requests to end (Ctrl-C, SIGTERM, SIGHUP) until the block is done.

    Handlers note them: a mask is of one thread, and the kernel gives the signal to another, such as one of a BLAS.
    """
    if threading.current_thread() is not threading.main_thread():  # handlers run in the main thread only
        yield
        return
    noted: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    held = [number for number, handler in before.items() if handler not in {signal.SIG_IGN, None}]
    for number in held:
        signal.signal(number, lambda found, _frame: noted.append(found))
    try:
        yield
    finally:
        for number in held:
            signal.signal(number, before[number])
        if noted:
            signal.raise_signal(noted[0])


def written(command: Command, ended: contextlib.ExitStack) -> dict[str, str]:
    """Write the files that a command reads: variable -> path, which exists until the stack is closed."""
    paths = {}
    for variable, lines in command.files.items():
        file = ended.enter_context(tempfile.NamedTemporaryFile("w", prefix="assay-"))  # noqa: SIM115
        file.writelines(f"{line}\n" for line in lines)
        file.flush()
        paths[variable] = file.name
    return paths


def _start(
    command: Command, stdout: IO[bytes], stderr: IO[bytes], files: dict[str, str]
) -> subprocess.Popen[bytes]:
    environment = os.environ | {_PARENT: str(os.getpid())} | command.environment | files
    try:
        return subprocess.Popen(
            command.argv,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise UnfitEnvironmentError(
            f"cannot start '{command.argv[0]}'",
            why=error.strerror or str(error),
            remedy="build the programs again: assay build" if "/" in command.argv[0] else "assay doctor",
        ) from error


def _wait(
    started: Sequence[_Started], timeout: float, is_over: Callable[[bytes], bool] | None
) -> list[int | None]:
    """Involuntary switches of each process; None if its time was up; -1 if it has printed all and does not end."""
    begun = time.monotonic()
    deadline, look = begun + timeout, begun + LINGER_S
    waiting, through = dict(enumerate(started)), set[int]()
    switches: list[int | None] = [None] * len(started)
    with _sleeping_until_one_ends([one.process.pid for one in started]) as sleep:
        while waiting and (left := deadline - time.monotonic()) > 0:
            often = min(left, _OFTEN_S) if is_over else left
            if any(one.ends for one in waiting.values()):
                often = min(often, max(0.0, look - time.monotonic()))
            sleep(often, [one.process.pid for one in waiting.values()])
            is_late = time.monotonic() >= look
            for at, one in tuple(waiting.items()):
                pid, status, usage = os.wait4(one.process.pid, os.WNOHANG)
                if pid:
                    one.process.returncode = os.waitstatus_to_exitcode(status)
                    switches[at] = usage.ru_nivcsw
                elif is_late and at in through:
                    switches[at] = -1
                elif not (is_over and is_over(one.printed())):
                    if is_late and one.ends and one.is_through():
                        through.add(at)
                    continue
                del waiting[at]
            look = time.monotonic() + LINGER_S if is_late else look
    return switches


@contextlib.contextmanager
def _sleeping_until_one_ends(pids: Iterable[int]) -> Iterator[Callable[[float, Iterable[int]], object]]:
    """Sleep until one of the processes ends or the time is over, without using their cpus."""
    with contextlib.ExitStack() as closed:
        handles = {}
        try:
            for pid in pids:
                handles[pid] = os.pidfd_open(pid)
                closed.callback(os.close, handles[pid])
        except OSError:  # Linux before 5.3, or too many of them: poll
            yield lambda left, _: time.sleep(min(left, _LOOK_S))
            return

        def sleep(left: float, waiting: Iterable[int]) -> None:
            poll = select.poll()
            for pid in waiting:
                poll.register(handles[pid], select.POLLIN)
            poll.poll(math.ceil(1000 * left))

        yield sleep


def _end_group(process: subprocess.Popen[bytes], grace_s: float) -> None:
    """End the process and its children: SIGTERM first, then SIGKILL."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(grace_s)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
