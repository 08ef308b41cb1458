"""The table of the gallery, docs/gallery/gallery.toml."""

import shlex
import tomllib
from pathlib import Path
from typing import Any, Literal

import msgspec

from assay.simulation import Law

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery"


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One packed run and its page.

    Attributes:
        name: of both files, without their suffixes.
        reference: that the run repeats row by row; empty for another study.
        source: who published the study.
        study: what it is, in a few words.
        where: in the lab, on one machine, or simulated.
        command: that made the packed run.
        theirs: the command for machines like the source's; empty for the same command.
        machine: of the source, in hwloc's short form.
        model: of a simulated machine, in words.
        law: of the simulated machine.
    """

    name: str
    reference: str = ""
    source: str
    study: str
    where: Literal["lab", "here", "simulated"]
    command: str
    theirs: str = ""
    machine: str
    model: str = ""
    law: dict[str, Any] = {}

    @property
    def packed(self) -> Path:
        """The packed run."""
        return GALLERY / f"{self.name}.tar.xz"

    @property
    def page(self) -> Path:
        """The page."""
        return GALLERY / f"{self.name}.md"

    @property
    def words(self) -> list[str]:
        """The command that made the run, as words after `assay run`."""
        return shlex.split(self.command)[2:]

    @property
    def plan(self) -> str:
        """The command line of the plan for the source's machine."""
        words = list(shlex.split(self.theirs or self.command)[2:])
        seed = [] if "--seed" in words else ["--seed", "1"]
        return shlex.join(["assay", "plan", words[0], "--synthetic", self.machine, *words[1:], *seed])


def law(entry: Entry) -> Law:
    """The law of the simulated machine; its clock counts whole nanoseconds, as real ones do."""
    return msgspec.convert({"nanoseconds": True} | entry.law, Law, strict=False, str_keys=True)


def entries() -> list[Entry]:
    """All entries, in the order of the index."""
    found = tomllib.loads((GALLERY / "gallery.toml").read_text("utf-8"))
    return msgspec.convert(found["run"], list[Entry])
