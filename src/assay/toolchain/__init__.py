"""Compilers, flags, MPIs and libraries, and the cache of native programs."""

from assay.model.folders import builds_folder
from assay.toolchain import applications, linked
from assay.toolchain.building import build, cached_build
from assay.toolchain.cmake import tools
from assay.toolchain.compilers import find, full_name, get, with_flags, with_mpi
from assay.toolchain.deploying import deploy
from assay.toolchain.libraries import find_libraries, require_loadable
from assay.toolchain.mpis import find_mpis, get_mpi, mpi_names, mpi_of, mpis_folder

__all__ = [
    "applications",
    "build",
    "builds_folder",
    "cached_build",
    "deploy",
    "find",
    "find_libraries",
    "find_mpis",
    "full_name",
    "get",
    "get_mpi",
    "linked",
    "mpi_names",
    "mpi_of",
    "mpis_folder",
    "require_loadable",
    "tools",
    "with_flags",
    "with_mpi",
]
