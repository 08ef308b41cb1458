"""What is behind words by which MPIs fail, where they do not say it themselves."""

import re
from collections.abc import Mapping
from types import MappingProxyType

_NO_SHARED_MEMORY = "shared memory cannot be had: /dev/shm of a node may be full (there: df /dev/shm)"
_NO_LIBRARY = "a node lacks a shared library of the program: load the MPI's module there, or install it there"
_NO_MODULES = "the MPI of a node is not whole: it does not find its own modules"
_NO_PORT = "a port that was to be listened at is taken: free it, or widen MPIEXEC_PORT_RANGE or MPICH_PORT_RANGE"
#: Open MPI's own words for it name a line of its source.
NO_PMI = "the launcher does not speak the PMI by which this MPI asks who its ranks are"
#: What is said (UCX, glibc, MPICH) -> what it means.
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
#: How launchers (Open MPI, Hydra, srun) tell that a rank did not end by itself -> where.
_DEATHS: Mapping[str, str] = MappingProxyType(
    {
        r"process rank (\d+) with PID \d+ on node (\S+) exited on (signal \d+)": r"rank \1 on \2 ended by \3",
        r"RUNNING AT (\S+)[\s\S]*?EXIT STRING:.*\(signal (\d+)\)": r"a rank on \1 ended by signal \2",
        r"error: (\S+): tasks? ([\d,-]+): (Killed|Terminated|Aborted|Segmentation fault)": r"rank \2 on \1: \3",
    }
)


def cause_of(words: str) -> str:
    """The cause behind a program's error message; empty if the message is not known."""
    return _first(_CAUSES, words)


def death_of(words: str) -> str:
    """Which rank was ended where, as launchers tell it; empty if they tell nothing."""
    return _first(_DEATHS, words)


def lost_nodes(words: str) -> tuple[str, ...]:
    """Nodes that a scheduler gave up, as its launcher tells it."""
    return tuple(dict.fromkeys(_NODE_FAILURE.findall(words)))


def _first(known: Mapping[str, str], words: str) -> str:
    matches = ((re.search(pattern, words), told) for pattern, told in known.items())
    return next((match.expand(told) for match, told in matches if match), "")
