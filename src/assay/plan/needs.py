"""What a study needs of the machine that it runs on: an MPI, libraries, third-party programs."""

from assay.catalogue import benchmarks
from assay.model.application import Application
from assay.model.plan import Study


def foreign_programs(study: Study) -> tuple[str, ...]:
    """Names of the third-party programs that a study starts, without those of applications with one program."""
    found = (benchmarks.get(measure.benchmark).foreign for measure in study.measure)
    named = (each for each in found if each and (each.tool or each.names))
    return tuple(dict.fromkeys(name for each in named for name in each.executables))


def applications(study: Study) -> tuple[Application, ...]:
    """The applications of a study, in its order."""
    found = (benchmarks.get(name).foreign for name in dict.fromkeys(each.benchmark for each in study.measure))
    return tuple(each.application for each in found if each and each.application)


def passes_messages(study: Study) -> bool:
    """Whether a study needs an MPI, because the processes of a benchmark pass messages."""
    return any(benchmarks.get(measure.benchmark).launcher == "mpi" for measure in study.measure)


def optional_functions(study: Study) -> tuple[str, ...]:
    """Functions of libraries that only some values of axes need."""
    axes = (axis for measure in study.measure for axis in benchmarks.get(measure.benchmark).axes)
    return tuple(dict.fromkeys(name for axis in axes for names in axis.functions.values() for name in names))


def needed_libraries(study: Study) -> dict[str, tuple[str, ...]]:
    """Role of each library that programs of a study load at launch -> functions that they call."""
    found: dict[str, tuple[str, ...]] = {}
    for measure in study.measure:
        for role, functions in benchmarks.get(measure.benchmark).needs.items():
            found[role] = tuple(dict.fromkeys((*found.get(role, ()), *functions)))
    return found
