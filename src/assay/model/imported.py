"""What other tools printed, or others published: tables of figures without samples, each with where it stood."""

import msgspec

from assay.model.benchmark import ParamValue
from assay.model.facts import Fact
from assay.model.placement import Memory, Placement
from assay.model.plan import Case, case_id
from assay.model.private import Host

IMPORTED_SCHEMA = 1
#: Placement of a figure whose source does not say where it was measured.
UNSTATED = "not stated"
#: Param of the two ends of a published range, `low` and `high`: they are one thing, not two to compare.
RANGE_END = "end"


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """One printed value.

    Attributes:
        kernel: name, of this or another benchmark.
        metric: name.
        unit: SI base unit.
        value: in that unit.
        printed: as it stood there, with its unit: `3402.54 MB/s`.
        better: direction.
        params: what it was measured at, beside the params of its table.
        line: in the source, from 1; 0 where lines mean nothing.
        where: in a publication, where that is not the table's.
        remark: what makes it less than a plain mean: `best of 10`, `about`; empty for a plain one.
        printed_unit: as it stood there; empty where none did, None in an import of a version that kept none.
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


class Table(msgspec.Struct, frozen=True, omit_defaults=True):
    """Figures of one start of one tool.

    Attributes:
        source: name of the source.
        where: in the source: `lines 40 to 63`, or table and paragraph of a publication.
        tool: that printed it, e.g. `OSU Micro-Benchmarks`.
        benchmark: of ours that measures the same, or the tool's own name where none does.
        figures: in the order printed.
        version: of the tool; empty where it is not said.
        command: the command line that stands before it; empty where none does.
        params: of all figures.
        factors: what the command line chose, by the name of the option.
        placement: portable word, `not stated` where nothing says it.
        hosts: nodes; empty where nothing says them.
        memory: policy; first touch where nothing was chosen.
        failed: why its figures do not count: the tool's own check failed.
        limit: what its figures stand against, in their unit, by what the source states; 0 where it states nothing.
        limit_of: how that follows.
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
    failed: str = ""
    limit: float = 0.0
    limit_of: str = ""


class Printed(msgspec.Struct, frozen=True):
    """Where an estimate stood that was not measured here.

    Attributes:
        tool: that printed it.
        source: name of the file, or the publication.
        place: in it: `lines 40 to 63`, or table and paragraph of a publication.
        line: in the file, from 1; 0 where lines mean nothing.
    """

    tool: str
    source: str
    place: str
    line: int = 0


class Source(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file that was read, or a publication.

    Attributes:
        name: of the file, `standard input`, or author, title and year.
        sha256: of the file's bytes; empty for a publication that was typed in.
    """

    name: str
    sha256: str = ""


class Skipped(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place that looked like output of a tool and could not be read.

    Attributes:
        source: name of the source.
        where: `lines 40 to 63`; empty for all of it.
        reason: what is wrong there.
        line: that cannot be read; 0 where none is.
    """

    source: str
    where: str
    reason: str
    line: int = 0


class Conclusion(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the authors of a publication conclude, to hold our own conclusions from their figures to.

    Attributes:
        says: in words, translated.
        where: in the publication.
        kind: `ratio` a / b, `difference` a - b, or `value` of a, in the unit of the figures.
        value: that they print.
        a: id of an estimate, `REFERENCE:ID` where it is of another reference.
        b: the other one; empty for a value.
        tolerance: relative, to which the printed value is rounded.
    """

    says: str
    where: str
    kind: str
    value: float
    a: str
    b: str = ""
    tolerance: float = 0.05


class Imported(msgspec.Struct, frozen=True, omit_defaults=True):
    """`imported.json`: what stands in place of records in a run that Assay did not measure.

    Attributes:
        schema: version of this record.
        title: for headings.
        machine: what the figures are of, in words.
        sources: what was read.
        tables: in the order read.
        facts: of the machine, as far as the sources state them: section -> name -> fact.
        conclusions: of the authors.
        question: that the source answers, one sentence.
        titled: whether somebody gave the title; else it is made of the tool and the names of the files.
        skipped: places that were not read.
        label: what it is called beside others; empty where the name of the run says it.
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


def case_of(table: Table, figure: Figure) -> Case:
    """The case that a figure belongs to: what was measured at one point in one place, in words of plans."""
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
