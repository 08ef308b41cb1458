"""Slurm: sbatch, squeue (which forgets jobs minutes after their end), sacct (where the site keeps accounts)."""

import re

from assay.launch.batch.job import Job, State, Status, clock, refused, written

#: From the request to end to the time limit: what is running then is ended and saved, and the run can be resumed.
_WARNING_S = 60

_STATES: dict[str, State] = {
    **dict.fromkeys(
        ("PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT"), "queued"
    ),
    **dict.fromkeys(("RUNNING", "CONFIGURING", "COMPLETING", "STAGE_OUT", "SIGNALING", "RESIZING"), "running"),
    **dict.fromkeys(("SUSPENDED", "STOPPED"), "running"),
    "COMPLETED": "complete",
    "CANCELLED": "cancelled",
    **dict.fromkeys(("TIMEOUT", "DEADLINE"), "timed-out"),
}


class Slurm:
    """Jobs of Slurm."""

    name = "slurm"
    submits = "sbatch"

    def script(self, job: Job) -> str:
        """Whole nodes; SIGTERM to the command, which stands in the place of the shell, before the time limit."""
        directives = (
            f"--job-name={job.name}",
            f"--nodes={job.nodes}",
            *((f"--nodelist={','.join(job.hosts)}",) if job.hosts else ()),
            "--exclusive",
            f"--time={clock(job.seconds)}",
            f"--signal=B:TERM@{_WARNING_S}",
            "--no-requeue",  # it would begin anew where it shall be resumed
            *((f"--partition={job.queue}",) if job.queue else ()),
            *((f"--account={job.account}",) if job.account else ()),
            f"--chdir={job.folder}",
            f"--output={job.output}",
        )
        return written("#SBATCH", directives, job)

    def submit(self, script: str) -> tuple[str, ...]:
        """It prints the id and, on sites of several clusters, the cluster."""
        return ("sbatch", "--parsable", script)

    def job_id(self, output: str) -> str:
        """`1234` of `1234` or `1234;cluster`; sites may print more before it."""
        found = re.findall(r"^(\d+)(?:;\S+)?$", output, re.MULTILINE)
        if not found:
            raise refused(self.submits, output)
        return str(found[-1])

    def status(self, job_id: str) -> tuple[tuple[str, ...], ...]:
        """The queue first: it knows the reason."""
        return (
            ("squeue", "--noheader", "--states=all", f"--jobs={job_id}", "--format=%T|%r"),
            ("sacct", "--noheader", "--parsable2", "--allocations", f"--jobs={job_id}", "--format=State,ExitCode"),
        )

    def read(self, output: str) -> Status | None:
        """`STATE|reason`; sacct names who cancelled within the state, and gives the exit code for a reason."""
        line = output.strip().splitlines()[-1:]
        if not line:
            return None
        word, _, reason = line[0].partition("|")
        code = re.fullmatch(r"(\d+):(\d+)", reason)
        told = ("" if reason == "0:0" else f"exit code {code[1]}, signal {code[2]}") if code else reason
        return Status(_STATES.get(word.split()[0], "failed"), word, "" if told == "None" else told)

    def cancel(self, job_id: str) -> tuple[str, ...]:
        """SIGTERM to all of it, then, after the site's KillWait, SIGKILL."""
        return ("scancel", job_id)


scheduler = Slurm()
