"""The conditions of two programs that are compared, as the records of their launches prove them."""

from collections.abc import Mapping

import msgspec

from assay.model.record import Header
from assay.model.result import Estimate
from assay.model.run import Run

#: Shares of huge pages that differ by more are other pages.
_OTHER_PAGES = 0.1


class Conditions(msgspec.Struct, frozen=True):
    """What decides how fast a program is beside its own code, as it was read back.

    Attributes:
        program: path of its executable; empty if unknown.
        version: version that it prints; empty if it prints none.
        cpus: cpus of all of its ranks, ascending.
        mpi: file of the MPI that it loaded; empty if it has none.
        blas: file of the BLAS.
        huge_pages: share of its memory in huge pages, mean over the ranks; None if the kernel does not say.
    """

    program: str = ""
    version: str = ""
    cpus: tuple[int, ...] = ()
    mpi: str = ""
    blas: str = ""
    huge_pages: float | None = None

    def other_files(self, other: "Conditions") -> tuple[str, ...]:
        """The roles, `mpi` and `blas`, in which both load a library, and not the same file."""
        pairs = {"mpi": (self.mpi, other.mpi), "blas": (self.blas, other.blas)}
        return tuple(role for role, (one, two) in pairs.items() if one and two and one != two)

    def has_other_pages(self, other: "Conditions") -> bool:
        """Whether the one has huge pages where the other has small ones."""
        known = self.huge_pages is not None and other.huge_pages is not None
        return known and abs((self.huge_pages or 0.0) - (other.huge_pages or 0.0)) > _OTHER_PAGES


def conditions(run: Run) -> Mapping[str, Conditions]:
    """Case -> the conditions in its last launch."""
    found: dict[str, Conditions] = {}
    for launch in run.launches:
        for case in launch.cases:
            version = case.verdict.version if case.verdict else ""
            found[case.header.case] = _of(case.header, version)
    return found


def between(known: Mapping[str, Conditions], a: Estimate, b: Estimate) -> tuple[Conditions, Conditions]:
    """The conditions of two estimates."""
    return known.get(a.case, Conditions()), known.get(b.case, Conditions())


def _of(header: Header, version: str) -> Conditions:
    shares = [each.huge_page_share for each in header.ranks if each.huge_page_share is not None]
    loaded = header.libraries.get("blas", {}).get("file", "")
    return Conditions(
        program=header.facts.get("program", ""),
        version=version,
        cpus=tuple(sorted({cpu for rank in header.ranks for cpu in rank.cpus})),
        mpi=header.facts.get("mpi", ""),
        blas=header.facts.get("blas", "") or loaded,
        huge_pages=sum(shares) / len(shares) if shares else None,
    )
