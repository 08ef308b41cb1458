"""Names of toolchains: `gcc/mpich-4.0.2+O2 -g` is a compiler, an MPI, added flags and replacing flags."""

from typing import NamedTuple


class Parts(NamedTuple):
    """The parts of a name; missing parts are empty.

    Attributes:
        compiler: `gcc`, or a name of assay.toml.
        mpi: `mpich-4.0.2`.
        levels: flags, without their dash, that are added to the default ones.
        flags: flags that replace the default ones, not split.
    """

    compiler: str
    mpi: str
    levels: tuple[str, ...]
    flags: str


def split_name(name: str) -> Parts:
    """The parts of a toolchain's name."""
    named, _, flags = name.partition(" ")
    base, *levels = named.split("+")
    compiler, _, mpi = base.partition("/")
    return Parts(compiler, mpi, tuple(levels), flags)


def join_name(parts: Parts) -> str:
    """The toolchain's name from its parts."""
    base = f"{parts.compiler}/{parts.mpi}" if parts.mpi else parts.compiler
    named = "+".join([base, *parts.levels])
    return f"{named} {parts.flags}" if parts.flags else named


def with_mpi(name: str, mpi: str) -> str:
    """The name of a toolchain with an MPI; a name that has an MPI keeps it."""
    parts = split_name(name)
    return name if parts.mpi else join_name(parts._replace(mpi=mpi))
