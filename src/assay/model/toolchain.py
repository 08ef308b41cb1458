"""What the native programs are built with."""

import msgspec


class Toolchain(msgspec.Struct, frozen=True):
    """A compiler with its flags; later an MPI and a BLAS. A factor like any other.

    Attributes:
        name: as users say it: `gcc`, `clang`, or a name of assay.toml; with `+flags` level where flags vary.
        compiler: path of the C++ compiler.
        version: first line of `--version`.
        flags: as given to the compiler, split.
    """

    name: str
    compiler: str
    version: str
    flags: tuple[str, ...]


class Build(msgspec.Struct, frozen=True):
    """Manifest of one build in the cache, stamped into every run.

    Attributes:
        key: hash of sources, compiler, flags and target that names its folder in the cache.
        toolchain: what it was built with.
        target: machine triple or microarchitecture of the host it was built on.
        sources: hash of the native sources.
        programs: program -> path of the executable.
        sha256: program -> hash of the executable.
        openmp: whether the compiler had OpenMP.
        built: ISO time.
    """

    key: str
    toolchain: Toolchain
    target: str
    sources: str
    programs: dict[str, str]
    sha256: dict[str, str]
    openmp: bool
    built: str
