"""Compilers, MPIs and libraries of the native programs, and the manifest of a build."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from assay.model.private import FilePath

#: Family of an MPI; it decides the launcher and its environment.
MpiKind = Literal["openmpi", "mpich", "intel", "cray"]
#: The PMI that ranks of each family need from Slurm to learn their numbers: a name in `srun --mpi=list`. HPE makes
#: the PMI of its own MPI the default of the site.
SLURM_PMI: Mapping[MpiKind, str] = MappingProxyType(
    {"openmpi": "pmix", "mpich": "pmi2", "intel": "pmi2", "cray": ""}
)


class Mpi(msgspec.Struct, frozen=True):
    """One installed MPI: its compiler wrapper and its launcher.

    Attributes:
        name: kind and version, e.g. `openmpi-4.1.4`, or a name of assay.toml.
        kind: its family; it decides the launcher and its environment.
        version: of the library, e.g. `4.1.4`.
        compiler: path of its C++ wrapper (`mpicxx`; `CC` for HPE's).
        launcher: path of its own launcher (`mpiexec`); empty if it has none: `srun` may start its programs.
    """

    name: str
    kind: MpiKind
    version: str
    compiler: FilePath
    launcher: FilePath


class Library(msgspec.Struct, frozen=True):
    """One library that programs load at launch.

    Attributes:
        name: as users say it: `openblas`, `blis-pthread`, or a path.
        role: its role for a program, e.g. `blas`.
        file: path of the shared library.
        source: where it was found: the PyPI package or the folder.
    """

    name: str
    role: str
    file: FilePath
    source: str = ""


class Toolchain(msgspec.Struct, frozen=True):
    """A compiler with its flags, and an MPI where programs pass messages. A factor like any other.

    Attributes:
        name: as users say it: `gcc`, `clang`, or a name of assay.toml; with `+flags` level where flags vary, and
            with `/MPI` if there is one: `gcc/openmpi-4.1.4`.
        compiler: path of the C++ compiler.
        version: first line of `--version`.
        flags: as given to the compiler, split.
        mpi: None: only programs without MPI are built.
    """

    name: str
    compiler: FilePath
    version: str
    flags: tuple[str, ...]
    mpi: Mpi | None = None


class Build(msgspec.Struct, frozen=True):
    """Manifest of one build in the cache, stamped into every run.

    Attributes:
        key: hash of sources, compiler, flags and target; the name of its folder in the cache.
        toolchain: toolchain that built it.
        target: machine triple or microarchitecture of the host it was built on.
        sources: hash of the native sources.
        programs: program -> path of the executable.
        sha256: program -> hash of the executable.
        openmp: whether the compiler had OpenMP.
        built: ISO time.
        absent: program -> why it could not be built, e.g. a library to link is missing.
        left: programs that were not needed yet and are not built.
    """

    key: str
    toolchain: Toolchain
    target: str
    sources: str
    programs: dict[str, FilePath]
    sha256: dict[str, str]
    openmp: bool
    built: str
    absent: dict[str, str] = {}
    left: tuple[str, ...] = ()
