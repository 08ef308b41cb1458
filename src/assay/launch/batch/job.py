"""A batch job as the user requests it, and its status from the scheduler."""

import re
import shlex
from typing import Literal, Protocol

import msgspec

from assay.model.errors import UsageError

State = Literal["queued", "running", "complete", "failed", "cancelled", "timed-out"]


class Job(msgspec.Struct, frozen=True):
    """One job on whole nodes, which runs one command on the first of them.

    Attributes:
        name: name in the queue.
        command: program and arguments; on SIGTERM it must save its results.
        folder: working directory, absolute.
        output: file of its output, absolute.
        nodes: number of nodes.
        seconds: time limit.
        hosts: names of the nodes; empty: any nodes.
        cpus: cpus of each node, for schedulers that give only requested cpus; 0 if unknown.
        queue: partition or queue; empty: the site's default.
        account: account that pays; empty: the user's default.
        options: further options of the scheduler.
        prologue: lines of bash that run first, in a login shell, where modules exist.
    """

    name: str
    command: tuple[str, ...]
    folder: str
    output: str
    nodes: int
    seconds: int
    hosts: tuple[str, ...] = ()
    cpus: int = 0
    queue: str = ""
    account: str = ""
    options: tuple[str, ...] = ()
    prologue: tuple[str, ...] = ()


class Status(msgspec.Struct, frozen=True):
    """Status of a job.

    Attributes:
        state: one of Assay's states.
        word: the scheduler's own word.
        reason: the scheduler's reason; empty if it gives none.
        exit_code: exit code of an ended job; 0 if the scheduler gives none.
    """

    state: State
    word: str
    reason: str = ""
    exit_code: int = 0


class Queue(msgspec.Struct, frozen=True):
    """A partition or queue; or all nodes of a site whose queues do not list their nodes.

    Attributes:
        name: empty for all nodes.
        nodes: number of nodes, in any state.
        usual: whether it is the default queue.
    """

    name: str
    nodes: int
    usual: bool = True


class Scheduler(Protocol):
    """A pure translator: it starts nothing and reads nothing. `batch/` has one module for each.

    Attributes:
        name: name for users.
        submits: program that submits; the scheduler exists if this program is on the path.
        queue_variable: environment variable with the user's default queue; empty for none.
        queues: command that lists queues with their nodes.
    """

    name: str
    submits: str
    queue_variable: str
    queues: tuple[str, ...]

    def read_queues(self, output: str) -> tuple[Queue, ...]:
        """Parse the output of that command; empty if it cannot be parsed."""

    def script(self, job: Job) -> str:
        """The job script."""

    def submit(self, script: str, job: Job) -> tuple[str, ...]:
        """The command that submits the script of a job at that path."""

    def job_id(self, output: str) -> str:
        """The id in the output of the submitting command; UsageError if there is none."""

    def status(self, job_id: str) -> tuple[tuple[str, ...], ...]:
        """Commands that print the status of a job, to be run in turn until one knows the job."""

    def read(self, output: str) -> Status | None:
        """Parse the output of one of them; None if it does not know the job (any more)."""


def job_script(prefix: str, directives: tuple[str, ...], job: Job) -> str:
    """A script with directives and one command, which replaces the shell so that signals reach it.

    Raises:
        UsageError: a word contains a line break, which would end the directive.
    """
    words = (*directives, *job.options)
    broken = next((word for word in words if "\n" in word), None)
    if broken is not None:
        raise UsageError(
            f"{broken!r} is not an option of a job", why="it holds a line break", remedy="assay submit --help"
        )
    lines = [f"{prefix} {shlex.quote(word)}" for word in words]
    shell = "#!/bin/bash -l" if job.prologue else "#!/bin/sh"
    run = (f"cd {shlex.quote(job.folder)} || exit", f"exec {shlex.join(job.command)}")
    return "\n".join([shell, *lines, "", *(f"{line} || exit" for line in job.prologue), *run, ""])


def format_clock(seconds: int) -> str:
    """Seconds as `1:02:03`, which every scheduler accepts."""
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def optional(option: str, value: str) -> tuple[str, ...]:
    """The option with its value; empty without a value."""
    return (f"{option}{value}",) if value else ()


def last_id(pattern: str, output: str, command: str) -> str:
    """The id in the output of a submitting command: in the last line that matches; sites may print other lines.

    Args:
        pattern: pattern of a whole line, with the id as its group.
        output: output of the command.
        command: name of the command, for messages.

    Raises:
        UsageError: no line matches.
    """
    found = re.findall(rf"^{pattern}$", output, re.MULTILINE)
    if not found:
        lines = output.strip().splitlines()
        raise UsageError(
            f"{command} gave no job id", why=lines[-1] if lines else "it printed nothing", remedy=command
        )
    return str(found[-1])
