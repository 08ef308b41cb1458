"""Causes behind error messages of MPIs that do not state them."""

import re
from collections.abc import Mapping
from types import MappingProxyType

_NO_SHARED_MEMORY = "shared memory cannot be had: /dev/shm of a node may be full (there: df /dev/shm)"
_NO_LIBRARY = "a node lacks a shared library of the program: load the MPI's module there, or install it there"
_NO_MODULES = "the MPI of a node is not whole: it does not find its own modules"
_NO_PORT = "a port that was to be listened at is taken: free it, or widen MPIEXEC_PORT_RANGE or MPICH_PORT_RANGE"
#: Open MPI's own message for it names only a line of its source.
NO_PMI = "the launcher does not speak the PMI by which this MPI asks who its ranks are"
#: Message (UCX, glibc, MPICH) -> its cause.
_CAUSES: Mapping[str, str] = MappingProxyType(
    {
        r"OPAL ERROR: Unreachable in file ext|SLURM's PMI support|PMI2?_Init": NO_PMI,
        r"\b(opal|orte|prte|ompi_mpi)_init\b.*failed": _NO_MODULES,
        r"error while loading shared libraries": _NO_LIBRARY,
        r"Bus error": _NO_SHARED_MEMORY,
        r"mm_iface failed to allocate": _NO_SHARED_MEMORY,
        r"shm_open|/dev/shm": _NO_SHARED_MEMORY,
        r"no port to bind|unable to listen on port": _NO_PORT,
    }
)

_NODE_FAILURE = re.compile(r"Node failure on (\S+)")
#: srun in a job that its scheduler ends; a step that `--kill-on-bad-exit` ends is CANCELLED without a reason.
_JOB_ENDS = re.compile(
    r"CANCELLED AT \S+ DUE TO (?:TIME LIMIT|PREEMPTION|JOB REQUEUE)"
    r"|Unable to create (?:job )?step for job \d+: Job/step already completing or completed"
)
#: srun that is asked to end, by Assay or a user, while its step waits for resources says that it is completing.
_STEP_CANCELLED = "Cancelled pending job step with signal"
#: Message of a launcher (Open MPI, Hydra, srun) that a rank was ended -> a text with its place.
_DEATHS: Mapping[str, str] = MappingProxyType(
    {
        r"process rank (\d+) with PID \d+ on node (\S+) exited on (signal \d+)": r"rank \1 on \2 ended by \3",
        r"RUNNING AT (\S+)[\s\S]*?EXIT STRING:.*\(signal (\d+)\)": r"a rank on \1 ended by signal \2",
        r"error: (\S+): tasks? ([\d,-]+): (Killed|Terminated|Aborted|Segmentation fault)": r"rank \2 on \1: \3",
    }
)


def cause_of(message: str) -> str:
    """The cause behind an error message; empty if the message is not known."""
    return _first(_CAUSES, message)


def death_of(message: str) -> str:
    """The rank that was ended and its place, from a launcher's message; empty if it names none."""
    return _first(_DEATHS, message)


def lost_nodes(message: str) -> tuple[str, ...]:
    """Nodes that a scheduler gave up, from its launcher's message."""
    return tuple(dict.fromkeys(_NODE_FAILURE.findall(message)))


def is_of_ending_job(message: str) -> bool:
    """Whether a launcher could not start or keep its program because the scheduler ends the whole job."""
    return _JOB_ENDS.search(message) is not None and _STEP_CANCELLED not in message


def _first(known: Mapping[str, str], message: str) -> str:
    matches = ((re.search(pattern, message), text) for pattern, text in known.items())
    return next((match.expand(text) for match, text in matches if match), "")
