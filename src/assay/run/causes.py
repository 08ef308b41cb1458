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


def cause_of(words: str) -> str:
    """The cause behind a program's error message; empty where the message is not known."""
    return next((cause for pattern, cause in _CAUSES.items() if re.search(pattern, words)), "")
