"""The applications of a study as they are here: where their programs are, and with which libraries."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from assay import plan as planning
from assay import toolchain
from assay.cli.support import settings
from assay.model.application import Application
from assay.model.errors import UsageError
from assay.model.plan import Study
from assay.model.toolchain import Library


class Peers(NamedTuple):
    """What a plan needs to know of them.

    Attributes:
        applications: in the order of the study.
        places: application -> folder that is searched before PATH; empty for none.
        programs: application -> path of its program; of the first one if there are several.
        executables: names of all of their programs that are here.
        absent: application -> why it cannot be started here, and what installs it.
    """

    applications: tuple[Application, ...]
    places: dict[str, str]
    programs: dict[str, str]
    executables: frozenset[str]
    absent: dict[str, str]

    @property
    def linked(self) -> tuple[str, ...]:
        """The libraries with which their programs are linked."""
        found = (toolchain.linked.libraries(file, self.places[name]) for name, file in self.programs.items())
        return tuple(dict.fromkeys(file for files in found for file in files))

    @property
    def mpi(self) -> tuple[str, ...]:
        """The name of their MPI, with which Assay's own programs are built and started, too; empty if unknown."""
        found = toolchain.mpi_of(self.linked, settings.table("mpi"))
        here = (each for each in self.applications if each.name not in self.absent)
        family = found or next((each.needs.mpi for each in here if each.needs.mpi), "")
        return (family,) if family else ()

    def blas(self, libraries: Sequence[Library]) -> tuple[str, ...]:
        """The file of their BLAS, if it is one that Assay's programs can load, too."""
        linked = self.linked
        return tuple(each.file for each in libraries if str(Path(each.file).resolve()) in linked)[:1]


def find(name: str, study: Study, folders: Sequence[str]) -> Peers:
    """The applications of a study.

    Args:
        name: name of the study.
        study: the request.
        folders: folders with programs, which the user named.

    Raises:
        UsageError: a folder has none of their programs.
    """
    applications = planning.applications(study)
    places = {each.name: toolchain.applications.folder(each, folders) for each in applications}
    for folder in folders:
        if folder not in places.values():
            known = ", ".join(program for each in applications for program in each.executables[:1])
            raise UsageError(
                f"no program of study '{name}' is in {folder}",
                why=f"it has programs of others: {known}" if known else "it has no programs of others",
                remedy=f"ls {folder}   # then: assay plan {name} --peer DIR",
            )
    found = {each.name: toolchain.applications.found(each, places[each.name]) for each in applications}
    reasons = {each.name: toolchain.applications.absent(each, places[each.name]) for each in applications}
    return Peers(
        applications,
        places,
        {name: next(iter(programs.values())) for name, programs in found.items() if programs},
        frozenset(program for programs in found.values() for program in programs),
        {name: why for name, why in reasons.items() if why},
    )
