"""Figures that other tools printed, or that others published: tables without samples, with their source."""

from typing import Final

import msgspec

from assay.model.conclusion import Conclusion
from assay.model.declaration import ParamValue
from assay.model.derivation import Derivation
from assay.model.facts import Fact
from assay.model.placement import Memory, Placement
from assay.model.plan import Case, case_id, split_levels
from assay.model.private import Host

IMPORTED_SCHEMA = 1
#: Placement of a figure whose source does not state it.
UNSTATED: Final = "not stated"
#: Param of the two ends of a published range, `low` and `high`: one figure, not two to compare.
RANGE_END = "end"
#: Its value at the lower end; alone it says that the source states no upper end.
LOWER: Final = "low"


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """One printed value.

    Attributes:
        kernel: name, of this or another benchmark.
        metric: name.
        unit: SI base unit.
        value: in that unit.
        printed: the value as printed, with its unit: `3402.54 MB/s`.
        better: direction.
        params: its params, in addition to those of its table.
        line: line in the source, from 1; 0 if lines do not apply.
        where: place in a publication, if it differs from the table's.
        remark: why it is not a plain mean: `best of 10`, `about`; empty for a plain one.
        printed_unit: the unit as printed; empty if there was none, None in imports of versions without it.
        derivation: how it follows from other figures; None if it was measured.
    """

    kernel: str
    metric: str
    unit: str
    value: float
    printed: str
    better: str = "higher"
    params: dict[str, ParamValue] = {}
    line: int = 0
    where: str = ""
    remark: str = ""
    printed_unit: str | None = None
    derivation: Derivation | None = None


class Table(msgspec.Struct, frozen=True, omit_defaults=True):
    """Figures of one execution of one tool.

    Attributes:
        source: name of the source.
        where: place in the source: `lines 40 to 63`, or table and paragraph of a publication.
        tool: tool that printed it, e.g. `OSU Micro-Benchmarks`.
        benchmark: Assay's benchmark that measures the same, or the tool's own name if there is none.
        figures: in the order printed.
        version: version of the tool; empty if not stated.
        command: the command line printed before it; empty if there is none.
        params: params of all figures.
        factors: options of the command line -> their values.
        placement: portable word, `not stated` if unknown.
        hosts: nodes; empty if unknown.
        memory: policy; first touch if nothing was chosen.
        ranks: number of processes on all nodes; 0 if not stated.
        threads: threads of each process; 0 if not stated.
        failed: why its figures do not count: the tool's own check failed.
        limit: limit of its figures, in their unit, from statements of the source; 0 without one.
        limit_of: how the limit was derived.
    """

    source: str
    where: str
    tool: str
    benchmark: str
    figures: tuple[Figure, ...]
    version: str = ""
    command: str = ""
    params: dict[str, ParamValue] = {}
    factors: dict[str, str] = {}
    placement: str = UNSTATED
    hosts: tuple[Host, ...] = ()
    memory: str = "first-touch"
    ranks: int = 0
    threads: int = 0
    failed: str = ""
    limit: float = 0.0
    limit_of: str = ""


class Printed(msgspec.Struct, frozen=True):
    """The source of an imported estimate.

    Attributes:
        tool: tool that printed it.
        source: name of the file, or the publication.
        place: place in it: `lines 40 to 63`, or table and paragraph of a publication.
        line: line in the file, from 1; 0 if lines do not apply.
    """

    tool: str
    source: str
    place: str
    line: int = 0


class Source(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file that was read, or a publication.

    Attributes:
        name: name of the file, `standard input`, or author, title and year.
        sha256: hash of the file's bytes; empty for a publication that was typed in.
    """

    name: str
    sha256: str = ""


class Skipped(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part that looked like output of a tool and could not be read.

    Attributes:
        source: name of the source.
        where: `lines 40 to 63`; empty for the whole source.
        reason: what is wrong with it.
        line: the line that cannot be read; 0 if there is no such line.
    """

    source: str
    where: str
    reason: str
    line: int = 0


class StatedFactor(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a publication had of a factor where it varied nothing, and how a run names the same levels.

    Attributes:
        default: level of the source where it varied nothing; a run that varies nothing has it, too.
        levels: level of the source -> words for it in a run, the best first: of its name, or of what sets it; none
            if any levels will do, of which the source has the largest and the smallest.
        also: other names of the factor in a run.
        vary: what `--vary` takes: `OMPI_MCA_pml=ucx,yalla`, or `NAME=LEVEL:COMMAND|LEVEL:COMMAND`, where `DEVICE`
            stands for the interface of the network; empty for levels of whole runs (`--level`).
        mpis: level of the source -> what `--mpi` takes for it; needed of levels that `vary` does not set.
    """

    default: str
    levels: dict[str, tuple[str, ...]] = {}
    also: tuple[str, ...] = ()
    vary: str = ""
    mpis: dict[str, str] = {}

    def is_set(self, level: str) -> bool:
        """Whether `vary` sets a level of the source."""
        values = {each.partition(":")[0] for each in split_levels(self.vary.partition("=")[2])}
        return not values.isdisjoint(self.words(level))

    def words(self, level: str) -> tuple[str, ...]:
        """Return the words for a level in a run."""
        return self.levels.get(level) or (level,)


class Imported(msgspec.Struct, frozen=True, omit_defaults=True):
    """`imported.json`: replaces the records in a run that Assay did not measure.

    Attributes:
        schema: version of this record.
        title: for headings.
        machine: the machine of the figures, as text.
        sources: files and publications that were read.
        tables: tables in the order read.
        facts: facts of the machine that the sources state: section -> name -> fact.
        conclusions: conclusions of the authors.
        question: question that the source answers, one sentence.
        titled: whether the user gave the title; else it is made of the tool and the names of the files.
        skipped: parts that could not be read.
        label: its name in comparisons; empty: the name of the run is used.
        factors: factors whose usual level the source states.
    """

    schema: int
    title: str
    machine: str
    sources: tuple[Source, ...]
    tables: tuple[Table, ...]
    facts: dict[str, dict[str, Fact]] = {}
    conclusions: tuple[Conclusion, ...] = ()
    question: str = ""
    titled: bool = True
    skipped: tuple[Skipped, ...] = ()
    label: str = ""
    factors: dict[str, StatedFactor] = {}


def case_of(table: Table, figure: Figure) -> Case:
    """The case that a figure belongs to, as a plan would have it."""
    params = table.params | figure.params
    memory = Memory.parsed(table.memory)
    named = ",".join(f"{name}={value}" for name, value in params.items())
    subject = "/".join(filter(None, (table.benchmark, table.placement.replace(" ", "-"), table.memory, named)))
    return Case(
        id=case_id(subject, table.factors),
        benchmark=table.benchmark,
        params=params,
        placement=Placement(table.placement, "", (), memory, table.hosts),
        factors=table.factors,
        plain=subject if table.factors else "",
    )
