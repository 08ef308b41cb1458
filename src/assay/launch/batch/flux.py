"""Flux: flux batch, flux jobs, flux cancel."""

import re
from collections import Counter

from assay.launch.batch.job import Job, Queue, State, Status, job_script, last_id, optional

_STATES: dict[str, State] = {
    **dict.fromkeys(("NEW", "DEPEND", "PRIORITY", "SCHED"), "queued"),
    **dict.fromkeys(("RUN", "CLEANUP"), "running"),
    "COMPLETED": "complete",
    "CANCELED": "cancelled",
    "TIMEOUT": "timed-out",
}


class Flux:
    """Jobs of Flux."""

    name = "flux"
    submits = "flux"
    queue_variable = ""
    queues = ("flux", "resource", "list", "--states=all", "-n", "-o", "{queue}|{nnodes}")

    def read_queues(self, output: str) -> tuple[Queue, ...]:
        """`NAME,NAME|NODES` for all nodes of the same queues; Flux does not report the default queue."""
        nodes = Counter[str]()
        for names, count in re.findall(r"^([^|\n]*)\|(\d+)$", output, re.MULTILINE):
            nodes.update(dict.fromkeys({"", *names.split(",")}, int(count)))
        return tuple(Queue(name, count, usual=not name) for name, count in sorted(nodes.items()))

    def script(self, job: Job) -> str:
        """Whole nodes; Flux itself sends SIGTERM before it kills."""
        directives = (
            f"--job-name={job.name}",
            f"--nodes={job.nodes}",
            "--exclusive",
            *optional("--requires=host:", ",".join(job.hosts)),
            f"--time-limit={job.seconds}s",
            *optional("--queue=", job.queue),
            *optional("--bank=", job.account),
            f"--cwd={job.folder}",
            f"--output={job.output}",
        )
        return job_script("#flux:", directives, job)

    def submit(self, script: str, job: Job) -> tuple[str, ...]:  # noqa: ARG002 (all options are in the script)
        """The command prints the id."""
        return ("flux", "batch", script)

    def job_id(self, output: str) -> str:
        """`ƒ2aXyz`, or `f2aXyz` if the terminal does not have this letter."""
        return last_id(r"([ƒf][1-9A-HJ-NP-Za-km-z]+)", output, "flux batch")

    def status(self, job_id: str) -> tuple[tuple[str, ...], ...]:
        """Its state, or how it ended, and the error."""
        return (("flux", "jobs", "-n", "--format={status}|{exception.note}|{returncode}", job_id),)

    def read(self, output: str) -> Status | None:
        """`STATUS|note|code`."""
        line = output.strip().splitlines()[-1:]
        if not line:
            return None
        word, note, code = (*line[0].split("|"), "", "")[:3]
        reason = note or (f"exit code {code}" if code not in {"", "0", "-"} else "")
        return Status(_STATES.get(word, "failed"), word, reason, int(code) if code.isdecimal() else 0)


scheduler = Flux()
