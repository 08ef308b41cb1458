"""How tests start a native MPI program as several ranks, with each MPI that is found here."""

import os
from collections.abc import Mapping
from functools import cache

import pytest
from tests.native_programs import ProgramOutput, start

from assay import toolchain
from assay.catalogue import benchmarks
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.record import End
from assay.model.toolchain import Build, Mpi
from assay.model.traffic import Traffic

Axes = Mapping[str, str | int]

KINDS = ("openmpi", "mpich")
#: The same for tests in which the MPI makes little difference, or in which ranks of MPICH, which never yield,
#: share a core: the second one is for long runs.
FIRST = ("openmpi", pytest.param("mpich", marks=pytest.mark.long))
#: Programs that pass messages.
PROGRAMS = {each.program for each in map(benchmarks.get, benchmarks.names()) if each.launcher == "mpi"}
#: Programs of MPICH that short runs start too: one for each kind of communication.
OF_MPICH = {"pt2pt", "collective", "onesided"}
#: Options with which a case takes almost no time.
QUICK = ("--seconds", "0.02", "--max-samples", "10")
#: Patterns of one pair, and those of many.
PAIR = ("latency", "bandwidth", "bidirectional")
MULTI = ("multi-bandwidth", "multi-latency")
#: Pattern, ranks, and the counts of one iteration with messages of 1000 B in windows of 8.
COUNTED = (
    ("latency", 2, {"one-way": 2, "messages": 2, "bytes": 2000}),
    ("bandwidth", 2, {"messages": 8, "bytes": 8000}),
    ("bidirectional", 2, {"messages": 16, "bytes": 16000}),
    ("multi-bandwidth", 4, {"messages": 16, "bytes": 16000}),
    ("multi-latency", 4, {"one-way": 2, "messages": 4, "bytes": 4000}),
)
#: Hydra's mpiexec of MPICH 4.0 ends with SIGSEGV where it is given a thousand words.
_MOST_WORDS = 900
#: Tests may run as root, with fewer cpus than ranks. Nothing is timed: waiting ranks yield.
_ALLOWANCES = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "ASSAY_PARENT": "",
}


@cache
def build_with(kind: str) -> Build:
    """The MPI programs built for the first MPI of a kind; skips the test if there is none.

    Open MPI's are those that are measured with. MPICH's are to be right: they are compiled in half the time.
    """
    flags, programs = (" -O1", OF_MPICH) if kind == "mpich" else ("", PROGRAMS)
    try:
        return toolchain.build(toolchain.get(f"{toolchain.get().name}/{kind}{flags}"), programs=programs)
    except (UsageError, UnfitEnvironmentError) as error:
        pytest.skip(f"no compiler, or no MPI of the kind {kind}: {error.why}")


def launcher(build: Build) -> str:
    """The mpiexec that belongs to a build."""
    return mpi(build).launcher


def mpi(build: Build) -> Mpi:
    """The MPI for which a build was made."""
    assert build.toolchain.mpi
    return build.toolchain.mpi


def path(build: Build, program: str) -> str:
    """A program of a build; it is compiled now if only long runs start it."""
    made = build if program in build.programs else toolchain.build(build.toolchain, programs={program})
    return made.programs[program]


def environment() -> dict[str, str]:
    """The environment of the tests, with what launchers need to start anything here."""
    return {**os.environ, **_ALLOWANCES}


def cpus(ranks: int) -> list[int]:
    """A cpu for each rank; with fewer cpus, some are shared."""
    allowed = sorted(os.sched_getaffinity(0))
    return [allowed[rank % len(allowed)] for rank in range(ranks)]


def command(build: Build, program: str, ranks: int, *arguments: str) -> list[str]:
    """The program as so many ranks, each on a cpu of its own."""
    placed = ("--cpus", "/".join(map(str, cpus(ranks))), "--expect-ranks", str(ranks))
    return [launcher(build), "-n", str(ranks), path(build, program), *placed, *arguments]


def run(build: Build, program: str, ranks: int, *arguments: str) -> ProgramOutput:
    """Run the program to its end."""
    return start(*command(build, program, ranks, *arguments), environment=environment())


def cases(*each: Axes) -> list[str]:
    """Options of cases, numbered."""
    words: list[str] = []
    for index, axes in enumerate(each):
        words += ["--case", str(index), *(f"--{axis}={value}" for axis, value in axes.items())]
    assert len(words) < _MOST_WORDS
    return words


def complete(result: ProgramOutput, count: int) -> None:
    """Check that all cases were measured, with the right payload."""
    assert result.exit_code == 0, result.words
    assert result.ends == [End("complete")] * count


def counted(build: Build, program: str, pattern: str, ranks: int, work: Mapping[str, float]) -> Traffic:
    """Measure one of `COUNTED`, check what it counted, and return the traffic of the interfaces."""
    result = run(build, program, ranks, *QUICK, "--pattern", pattern, "--bytes", "1000", "--window", "8")
    complete(result, 1)
    assert result.header.work == {"message": work}
    starting = {series.rank for series in result.series}
    assert starting == (set(range(ranks)) if pattern == "bidirectional" else set(range(ranks // 2)))
    traffic = next(record for record in result.records if isinstance(record, Traffic))
    iterations = sum(each.iterations * len(each.seconds) for each in result.series if each.rank == 0)
    assert traffic.payload >= work["bytes"] * iterations
    return traffic
