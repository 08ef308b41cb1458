"""Compilers, their flags and MPIs, and the cache of native programs that they built."""

from assay.toolchain.building import build, ready
from assay.toolchain.cache import builds_folder
from assay.toolchain.cmake import tools
from assay.toolchain.compilers import find, full_name, get, with_flags
from assay.toolchain.deploying import deploy
from assay.toolchain.mpis import find_mpis, get_mpi, mpi_names, mpis_folder
from assay.toolchain.names import joined

__all__ = [
    "build",
    "builds_folder",
    "deploy",
    "find",
    "find_mpis",
    "full_name",
    "get",
    "get_mpi",
    "joined",
    "mpi_names",
    "mpis_folder",
    "ready",
    "tools",
    "with_flags",
]
