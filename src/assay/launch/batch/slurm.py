"""Slurm: sbatch, squeue (which forgets jobs minutes after their end), sacct (if the site has accounting)."""

import re

from assay.launch.batch.job import Job, Queue, State, Status, format_clock, job_script, last_id, optional

#: Seconds between SIGTERM and the time limit: the current launch is ended and saved, and the run can be resumed.
_WARNING_S = 60

#: Fields, each with its separator.
_FIELDS = "State:|,Reason:|,exit_code:"

_STATES: dict[str, State] = {
    **dict.fromkeys(
        ("PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT"), "queued"
    ),
    **dict.fromkeys(("RUNNING", "CONFIGURING", "COMPLETING", "STAGE_OUT", "SIGNALING", "RESIZING"), "running"),
    **dict.fromkeys(("SUSPENDED", "STOPPED"), "running"),
    "COMPLETED": "complete",
    "CANCELLED": "cancelled",
    **dict.fromkeys(("TIMEOUT", "DEADLINE", "PREEMPTED"), "timed-out"),
}


class Slurm:
    """Jobs of Slurm."""

    name = "slurm"
    submits = "sbatch"
    queue_variable = "SBATCH_PARTITION"
    queues = ("sinfo", "--noheader", "--format=%P|%D")

    def read_queues(self, output: str) -> tuple[Queue, ...]:
        """`NAME|NODES` per line; the default partition is marked with an asterisk."""
        found = re.findall(r"^([^|*\n]+)(\*?)\|(\d+)$", output, re.MULTILINE)
        return tuple(Queue(name, int(nodes), bool(usual)) for name, usual, nodes in found)

    def script(self, job: Job) -> str:
        """Whole nodes; SIGTERM to the command, which replaces the shell, before the time limit."""
        return job_script("#SBATCH", _directives(job), job)

    def submit(self, script: str, job: Job) -> tuple[str, ...]:
        """The command prints the id and, on sites with several clusters, the cluster.

        Environment variables (SBATCH_PARTITION, SBATCH_TIMELIMIT) override a script, but not a command line.
        """
        return ("sbatch", "--parsable", *_directives(job), *job.options, script)

    def job_id(self, output: str) -> str:
        """`1234` of `1234` or `1234;cluster`."""
        return last_id(r"(\d+)(?:;\S+)?", output, self.submits)

    def status(self, job_id: str) -> tuple[tuple[str, ...], ...]:
        """The queue first, because it knows the reason."""
        return (
            ("squeue", "--noheader", "--states=all", f"--jobs={job_id}", f"--Format={_FIELDS}"),
            ("sacct", "--noheader", "--parsable2", "--allocations", f"--jobs={job_id}", "--format=State,ExitCode"),
        )

    def read(self, output: str) -> Status | None:
        """`STATE|reason|wait status`, or `STATE|code:signal` from sacct; the state may name who cancelled."""
        line = output.strip().splitlines()[-1:]
        if not line:
            return None
        word, reason, wait, *_ = (*line[0].split("|"), "", "")
        if match := re.fullmatch(r"(\d+):(\d+)", reason):
            reason, code, number = "None", int(match[1]), int(match[2])
        else:
            code, number = divmod(int(wait) if wait.isdecimal() else 0, 256)
        reasons = [] if reason in {"", "None"} else [reason]
        reasons += ["node failure"] if word == "NODE_FAIL" else []
        reasons += [f"exit code {code}"] if code else []
        reasons += [f"signal {number}"] if number else []
        return Status(_STATES.get(word.split()[0], "failed"), word, ", ".join(reasons), code)


def _directives(job: Job) -> tuple[str, ...]:
    return (
        f"--job-name={job.name}",
        f"--nodes={job.nodes}",
        *optional("--nodelist=", ",".join(job.hosts)),
        "--exclusive",
        f"--time={format_clock(job.seconds)}",
        f"--signal=B:TERM@{_WARNING_S}",
        "--no-requeue",  # a requeued job would start a new run instead of resuming
        *optional("--partition=", job.queue),
        *optional("--account=", job.account),
        f"--chdir={job.folder}",
        f"--output={job.output}",
    )


scheduler = Slurm()
