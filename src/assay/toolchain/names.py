"""What a toolchain is called: `gcc/mpich-4.0.2+O2 -g` is a compiler, an MPI, added flags and flags in place."""

from typing import NamedTuple


class Parts(NamedTuple):
    """The parts of a name, each empty where it is not said.

    Attributes:
        compiler: `gcc`, or a name of assay.toml.
        mpi: `mpich-4.0.2`.
        levels: flags without their dash that are added to the usual ones.
        flags: flags in place of the usual ones, not split.
    """

    compiler: str
    mpi: str
    levels: tuple[str, ...]
    flags: str


def parted(name: str) -> Parts:
    """The parts that a name is made of."""
    named, _, flags = name.partition(" ")
    base, *levels = named.split("+")
    compiler, _, mpi = base.partition("/")
    return Parts(compiler, mpi, tuple(levels), flags)


def spelled(parts: Parts) -> str:
    """The name that is made of these parts."""
    base = f"{parts.compiler}/{parts.mpi}" if parts.mpi else parts.compiler
    named = "+".join([base, *parts.levels])
    return f"{named} {parts.flags}" if parts.flags else named


def joined(name: str, mpi: str) -> str:
    """The name of a toolchain with an MPI; one that names an MPI already keeps its own."""
    parts = parted(name)
    return name if parts.mpi else spelled(parts._replace(mpi=mpi))
