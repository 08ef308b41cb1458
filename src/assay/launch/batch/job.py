"""A batch job as its user means it, and what a scheduler says of it."""

import re
import shlex
from typing import Literal, Protocol

import msgspec

from assay.model.errors import UsageError

State = Literal["queued", "running", "complete", "failed", "cancelled", "timed-out"]


class Job(msgspec.Struct, frozen=True):
    """One job on whole nodes, which runs one command on the first of them.

    Attributes:
        name: as the queue shows it.
        command: program and arguments; a request to end (SIGTERM) must make it save what it has.
        folder: absolute, where it runs.
        output: file of all that it prints; absolute.
        nodes: how many.
        seconds: until it is ended.
        hosts: nodes by name; any where empty.
        cpus: of each node, for schedulers that give only those that are asked for; 0 if unknown.
        queue: partition or queue; the site's usual one where empty.
        account: that pays; the user's usual one where empty.
        options: further words for the scheduler, as its manual has them.
        prologue: lines of bash that it runs first, as in a login shell: modules exist there.
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
    """How a job stands.

    Attributes:
        state: in our words.
        word: the scheduler's own.
        reason: why, in the scheduler's words; empty if it gives none.
        exit_code: of a job that ended; 0 if it gives none.
    """

    state: State
    word: str
    reason: str = ""
    exit_code: int = 0


class Queue(msgspec.Struct, frozen=True):
    """A partition or queue, or all nodes of a site whose queues do not say which they have.

    Attributes:
        name: empty if it is all nodes.
        nodes: how many it has, in whatever state they are.
        usual: whether jobs that name no queue come into it.
    """

    name: str
    nodes: int
    usual: bool = True


class Scheduler(Protocol):
    """A pure translator: it starts nothing and asks nobody. `batch/` has one module for each.

    Attributes:
        name: as users say it.
        submits: program that submits; where it is on the path, the scheduler is there.
        queue_variable: variable of the environment that names the queue of jobs that name none; empty for none.
        queues: command that lists queues with their nodes.
    """

    name: str
    submits: str
    queue_variable: str
    queues: tuple[str, ...]

    def read_queues(self, output: str) -> tuple[Queue, ...]:
        """What that command printed; none where it cannot be read."""

    def script(self, job: Job) -> str:
        """The job script."""

    def submit(self, script: str, job: Job) -> tuple[str, ...]:
        """The command that submits the script of a job, which is at that path."""

    def job_id(self, output: str) -> str:
        """The id in what the submitting command printed; UsageError if there is none."""

    def status(self, job_id: str) -> tuple[tuple[str, ...], ...]:
        """Commands that tell how a job stands, to be asked in turn until one knows it."""

    def read(self, output: str) -> Status | None:
        """What one of them printed; None if it does not know the job (any more)."""


def job_script(prefix: str, directives: tuple[str, ...], job: Job) -> str:
    """A script of directives and one command, which takes the shell's place so that signals reach it.

    Raises:
        UsageError: a word holds a line break, which would end the directive.
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
    """Seconds as `1:02:03`, which every scheduler reads."""
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def optional(option: str, value: str) -> tuple[str, ...]:
    """The option with its value; empty if the user left it to the site."""
    return (f"{option}{value}",) if value else ()


def last_id(pattern: str, output: str, command: str) -> str:
    """The last line of what a submitting command printed that is an id: sites may print more before it.

    Args:
        pattern: a whole line with the id as its group.
        output: what the command printed.
        command: its name, for people.

    Raises:
        UsageError: no line is one.
    """
    found = re.findall(rf"^{pattern}$", output, re.MULTILINE)
    if not found:
        said = output.strip().splitlines()
        raise UsageError(
            f"{command} gave no job id", why=said[-1] if said else "it printed nothing", remedy=command
        )
    return str(found[-1])
