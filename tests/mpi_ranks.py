"""How tests start a native MPI program as several ranks, with each MPI that is found here."""

import os
from functools import cache

import pytest
from tests.native_programs import Told, start

from assay import toolchain
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.toolchain import Build, Mpi

KINDS = ("openmpi", "mpich")
#: Tests may be root, and may have fewer cpus than ranks; nothing of theirs is timed.
_ALLOWANCES = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "ASSAY_PARENT": "",
}


@cache
def build_with(kind: str) -> Build:
    """The MPI programs built for the first MPI of a kind; skips the test where there is none."""
    try:
        return toolchain.build(toolchain.get(f"{toolchain.get().name}/{kind}"))
    except (UsageError, UnfitEnvironmentError) as error:
        pytest.skip(f"no compiler, or no MPI of the kind {kind}: {error.why}")


def launcher(build: Build) -> str:
    """The mpiexec that belongs to a build."""
    return mpi(build).launcher


def mpi(build: Build) -> Mpi:
    """What a build was made for."""
    assert build.toolchain.mpi
    return build.toolchain.mpi


def environment() -> dict[str, str]:
    """Of the tests, and what launchers want in order to start anything here."""
    return {**os.environ, **_ALLOWANCES}


def cpus(ranks: int) -> list[int]:
    """A cpu for each rank; where there are fewer, some have to share."""
    allowed = sorted(os.sched_getaffinity(0))
    return [allowed[rank % len(allowed)] for rank in range(ranks)]


def command(build: Build, program: str, ranks: int, *arguments: str) -> list[str]:
    """The program as so many ranks, each on a cpu of its own."""
    placed = ("--cpus", "/".join(map(str, cpus(ranks))), "--expect-ranks", str(ranks))
    return [launcher(build), "-n", str(ranks), build.programs[program], *placed, *arguments]


def run(build: Build, program: str, ranks: int, *arguments: str) -> Told:
    """Run it to its end."""
    return start(*command(build, program, ranks, *arguments), environment=environment())
