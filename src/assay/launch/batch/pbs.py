"""OpenPBS and PBS Professional: qsub, qstat, qdel."""

import re

import msgspec

from assay.launch.batch.job import Job, Queue, State, Status, format_clock, job_script, last_id, optional

_STATES: dict[str, State] = {
    **dict.fromkeys("QHWTM", "queued"),
    **dict.fromkeys("RBESU", "running"),
}
#: Exit statuses of PBS itself: -29 if killed at its wall time, and 256 + SIGTERM if ended by qdel.
_ENDED: dict[int, State] = {0: "complete", -29: "timed-out", 271: "cancelled"}


class _Answer(msgspec.Struct, frozen=True, rename={"jobs": "Jobs"}):
    jobs: "dict[str, _Job]" = {}


class _Job(msgspec.Struct, frozen=True, rename={"state": "job_state", "code": "Exit_status"}):
    state: str
    code: int | None = None
    comment: str = ""


class _Nodes(msgspec.Struct, frozen=True):
    nodes: "dict[str, _Node]" = {}


class _Node(msgspec.Struct, frozen=True, rename={"resources": "resources_available"}):
    resources: dict[str, str | int | float] = {}


class Pbs:
    """Jobs of PBS."""

    name = "pbs"
    submits = "qsub"
    queue_variable = ""
    queues = ("pbsnodes", "-a", "-F", "json")

    def read_queues(self, output: str) -> tuple[Queue, ...]:
        """All hosts, each of which may have several virtual nodes; PBS does not report the hosts of a queue."""
        try:
            found = msgspec.json.decode(output, type=_Nodes).nodes
        except msgspec.DecodeError:
            return ()
        hosts = {each.resources.get("host", name) for name, each in found.items()}
        return (Queue("", len(hosts)),) if hosts else ()

    def script(self, job: Job) -> str:
        """Whole nodes, one chunk each; PBS itself sends SIGTERM some seconds before it kills."""
        cpus = f":ncpus={job.cpus}" if job.cpus else ""
        chunks = "+".join(f"1:host={host}{cpus}" for host in job.hosts) or f"{job.nodes}{cpus}"
        directives = (
            f"-N{re.sub(r'[^A-Za-z0-9_-]', '-', job.name)[:15]}",  # accepted by every version
            f"-lselect={chunks}",
            "-lplace=scatter:excl",
            f"-lwalltime={format_clock(job.seconds)}",
            "-rn",  # a requeued job would start a new run instead of resuming
            "-V",  # keep the loaded modules, as Slurm and Flux do by default
            "-joe",
            f"-o{job.output}",
            "-S/bin/sh",
            *optional("-q", job.queue),
            *optional("-A", job.account),
        )
        return job_script("#PBS", directives, job)

    def submit(self, script: str, job: Job) -> tuple[str, ...]:  # noqa: ARG002 (all options are in the script)
        """The command prints the id."""
        return ("qsub", script)

    def job_id(self, output: str) -> str:
        """`1234.server`."""
        return last_id(r"(\d+\.[\w.-]+)", output, self.submits)

    def status(self, job_id: str) -> tuple[tuple[str, ...], ...]:
        """The command includes ended jobs, as long as the server keeps them."""
        return (("qstat", "-x", "-f", "-F", "json", job_id),)

    def read(self, output: str) -> Status | None:
        """JSON of qstat; a job that ended without an exit code never ran."""
        try:
            found = msgspec.json.decode(output, type=_Answer).jobs
        except msgspec.DecodeError:
            return None
        job = next(iter(found.values()), None)
        if job is None:
            return None
        if (state := _STATES.get(job.state)) is not None:
            return Status(state, job.state, job.comment)
        ended = "cancelled" if job.code is None else _ENDED.get(job.code, "failed")
        reason = job.comment or ("" if job.code is None else f"exit code {job.code}")
        return Status(ended, job.state, "" if ended == "complete" else reason, job.code or 0)


scheduler = Pbs()
