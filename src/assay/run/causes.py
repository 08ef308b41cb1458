"""What is behind words by which MPIs fail, where they do not say it themselves."""

import re
from collections.abc import Mapping
from types import MappingProxyType

_NO_SHARED_MEMORY = "shared memory cannot be had: /dev/shm of a node may be full (there: df /dev/shm)"
_NO_PORT = "a port that was to be listened at is taken: free it, or widen MPIEXEC_PORT_RANGE or MPICH_PORT_RANGE"
#: What is said (UCX, glibc, MPICH) -> what it means.
_CAUSES: Mapping[str, str] = MappingProxyType(
    {
        r"Bus error": _NO_SHARED_MEMORY,
        r"mm_iface failed to allocate": _NO_SHARED_MEMORY,
        r"shm_open|/dev/shm": _NO_SHARED_MEMORY,
        r"no port to bind|unable to listen on port": _NO_PORT,
    }
)


def cause_of(words: str) -> str:
    """The cause behind a program's error message; empty where the message is not known."""
    return next((cause for pattern, cause in _CAUSES.items() if re.search(pattern, words)), "")
