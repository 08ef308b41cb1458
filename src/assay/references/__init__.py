"""Published systems that come with Assay for comparison, one TOML file each."""

import re
from functools import cache
from pathlib import Path

import msgspec

from assay.model.declaration import ParamValue
from assay.model.derivation import Derivation, Operand
from assay.model.errors import UsageError
from assay.model.facts import Fact, FactValue
from assay.model.imported import IMPORTED_SCHEMA, UNSTATED, Figure, Imported, Source, StatedFactor, Table
from assay.model.plan import Measure
from assay.references.sentences import Sentence, conclusion

_FOLDER = Path(__file__).parent
#: A text that is the value of one axis.
_ALONE = re.compile(r"\{([^{}]+)\}")
#: Unit as printed -> SI unit and factor; network speeds are in bits, transfers in decimal bytes.
UNITS = {
    "us": ("s", 1e-6),
    "s": ("s", 1.0),
    "MB/s": ("B/s", 1e6),
    "GB/s": ("B/s", 1e9),
    "Mbps": ("B/s", 1e6 / 8),
    "Gbps": ("B/s", 1e9 / 8),
    "MFLOPS": ("flop/s", 1e6),
    "GFLOPS": ("flop/s", 1e9),
    "KiB": ("B", 2.0**10),
    "MB": ("B", 2.0**20),
    "%": ("share", 1e-2),
    "nodes": ("", 1.0),
    "tests": ("", 1.0),
    "": ("", 1.0),
}


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One `[[table]]` of a file: rows of values with one unit, at points of the named axes.

    Attributes:
        where: table, figure or paragraph of the publication.
        tool: that printed it.
        benchmark: see Table.
        kernel: of all rows.
        metric: of all rows.
        unit: as printed.
        rows: values of the axes, then the figure, then perhaps a remark.
        axes: names of the values before the figure in each row.
        better: direction.
        version: see Table.
        command: see Table.
        params: see Table.
        factors: see Table.
        placement: see Table.
        hosts: see Table.
        memory: see Table.
        remark: of all rows without one.
        limit: see Table; a value in the printed unit, and its derivation.
        derivation: how each of its figures follows from others; `{axis}` is the row's value on that axis.
    """

    where: str
    tool: str
    benchmark: str
    kernel: str
    metric: str
    unit: str
    rows: tuple[tuple[ParamValue, ...], ...]
    axes: tuple[str, ...] = ()
    better: str = ""
    version: str = ""
    command: str = ""
    params: dict[str, ParamValue] = {}
    factors: dict[str, str] = {}
    placement: str = UNSTATED
    hosts: tuple[str, ...] = ()
    memory: str = "first-touch"
    remark: str = ""
    limit: tuple[float, str] = (0.0, "")
    derivation: Derivation | None = None


class _Reference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of this folder; `measure`: the curves that its source draws, without numbers in the text."""

    title: str
    machine: str
    question: str
    source: str
    table: tuple[_Part, ...]
    label: str = ""
    measure: tuple[Measure, ...] = ()
    facts: dict[str, dict[str, FactValue]] = {}
    factor: dict[str, StatedFactor] = {}
    conclusion: tuple[Sentence, ...] = ()


@cache
def names() -> tuple[str, ...]:
    """Return the names of the references, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def path(name: str) -> Path:
    """Return the file of a reference."""
    return _FOLDER / f"{name}.toml"


@cache
def get(name: str) -> Imported:
    """Return a reference by its name.

    Raises:
        UsageError: there is none of this name.
    """
    if name not in names():
        raise UsageError(
            f"there is no reference '{name}'", why=f"known: {', '.join(names())}", remedy="assay list references"
        )
    read = _read(name)
    return Imported(
        schema=IMPORTED_SCHEMA,
        title=read.title,
        machine=read.machine,
        question=read.question,
        label=read.label,
        sources=(Source(read.source),),
        tables=tuple(_table(part, read.source) for part in read.table),
        facts={
            section: {fact: Fact(value=value, source=read.source) for fact, value in facts.items()}
            for section, facts in read.facts.items()
        },
        conclusions=tuple(conclusion(each, UNITS) for each in read.conclusion),
        factors=read.factor,
    )


def measures(name: str) -> tuple[Measure, ...]:
    """Return what a source measured beside the figures that it states: the curves of its pictures."""
    return _read(name).measure


@cache
def _read(name: str) -> _Reference:
    return msgspec.toml.decode(path(name).read_bytes(), type=_Reference)


def _table(part: _Part, source: str) -> Table:
    return Table(
        source=source,
        where=part.where,
        tool=part.tool,
        benchmark=part.benchmark,
        figures=tuple(_figure(part, row) for row in part.rows),
        version=part.version,
        command=part.command,
        params=part.params,
        factors=part.factors,
        placement=part.placement,
        hosts=part.hosts,
        memory=part.memory,
        limit=part.limit[0] * UNITS[part.unit][1],
        limit_of=part.limit[1],
    )


def _figure(part: _Part, row: tuple[ParamValue, ...]) -> Figure:
    """A row: the values of its axes, the figure, and perhaps a remark."""
    at, printed, *remark = (row[: len(part.axes)], *row[len(part.axes) :])
    unit, factor = UNITS[part.unit]
    params = dict(zip(part.axes, at, strict=True))
    derivation = _of_row(part.derivation, part, params) if part.derivation else None
    value = float(f"{float(str(printed)) * factor:.15g}")
    if derivation and derivation.printed != "ratio":
        value = 1 - value if derivation.printed == "loss" else 1 + value
        unit = "share" if derivation.printed == "loss" else ""
    return Figure(
        kernel=part.kernel,
        metric=part.metric,
        unit=unit,
        value=value,
        printed=f"{printed} {part.unit}".strip(),
        printed_unit=part.unit,
        better=part.better or ("lower" if unit == "s" else "higher"),
        params=params,
        remark=str(remark[0]) if remark else part.remark,
        derivation=derivation,
    )


def _of_row(derivation: Derivation, part: _Part, row: dict[str, ParamValue]) -> Derivation:
    """The derivation of the figure of one row: its operands have the benchmark and the params of the table."""
    if {"cores", "nodes"} <= row.keys():
        row = row | {"cores of a node": int(row["cores"]) // int(row["nodes"])}

    def filled(value: ParamValue) -> ParamValue:
        if not isinstance(value, str):
            return value
        alone = _ALONE.fullmatch(value)
        return row[alone[1]] if alone else value.format_map(row)

    def own(operand: Operand) -> Operand:
        benchmark = operand.benchmark or part.benchmark
        same = benchmark == part.benchmark
        return msgspec.structs.replace(
            operand,
            benchmark=benchmark,
            kernel=operand.kernel or (part.kernel if same else ""),
            placement=str(filled(operand.placement)) or (part.placement if same else ""),
            memory=str(filled(operand.memory)) or part.memory,
            params={
                **(part.params if same else {}),
                **{name: filled(value) for name, value in operand.params.items()},
            },
            factors={**part.factors, **{name: str(filled(each)) for name, each in operand.factors.items()}},
            where=str(filled(operand.where)),
            at={name: filled(value) for name, value in operand.at.items()},
        )

    a, b = derivation.a, derivation.b
    return msgspec.structs.replace(derivation, a=own(a), b=own(b) if b else None)
