"""The study `like:REFERENCE`: the measurements of a published system, as far as Assay can make them here."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec.structs import replace

from assay import references
from assay.catalogue import benchmarks
from assay.model import roles
from assay.model.benchmark import Benchmark
from assay.model.declaration import Axis, Params, ParamValue
from assay.model.derivation import OF_ITERATION, OF_MACHINE, OVER_MEAN
from assay.model.errors import UsageError
from assay.model.imported import RANGE_END, UNSTATED, Figure, Imported, Table
from assay.model.measurands import FACTOR_ROLES
from assay.model.placement import Memory, parsed
from assay.model.plan import LARGEST, Measure, Study
from assay.model.units import format_size

_WEIGHT = 0.3
#: Sizes of messages for a bandwidth without one: authors print the best of large ones; for a latency the curve.
_LARGE = (2**18, 2**20, 2**22)
_CURVE = (0, *(2**power for power in range(23)))
_UNSTATED_SIZES = {
    "size of the messages of a bandwidth": "the source does not state it; {} take its place".format(
        ", ".join(map(format_size, _LARGE))
    )
}
#: What a conclusion states besides the quantity that it is about.
_NO_FIGURE = Figure("", "", "", 1.0, "")
_NO_TABLE = Table("", "", "", "", (_NO_FIGURE,))


class _Row(NamedTuple):
    """The conditions of one figure, in words of a study."""

    benchmark: str
    placement: str
    memory: str
    params: tuple[tuple[str, ParamValue], ...]
    launches: int = 0


def study(name: str, sweeps: Sequence[str] = ()) -> Study:
    """The rows of a reference, equal ones once; figures without a counterpart are left out with the reason.

    Raises:
        UsageError: there is no such reference.
    """
    if sweeps:
        raise UsageError(
            f"study 'like:{name}' is not swept", why="--sweep is for scale:NAME", remedy=f"assay plan like:{name}"
        )
    found, curves = references.get(name), references.measures(name)
    rows: dict[_Row, None] = {}
    without = {request: why for request, why, _ in _other_levels(found)}
    unless = {request: names for request, _, names in _other_levels(found)}
    for table in found.tables:
        for figure in table.figures:
            request = f"{table.tool}: {table.where}"
            try:
                for each, of in _measured(table, figure):
                    wanted = dict.fromkeys(_rows(each, of, curves))
                    rows |= wanted
                    if wanted and _unstated_size(each, of):
                        without |= _UNSTATED_SIZES
            except _AbsentError as absent:
                without.setdefault(request, str(absent))
    rows |= dict.fromkeys(_of_conclusions(found, curves))
    if not rows and not curves:
        raise UsageError(
            f"nothing of '{name}' can be measured",
            why="; ".join(dict.fromkeys(without.values())),
            remedy="assay list references",
        )
    return Study(
        title=f"Like {found.title}",
        question=found.question or f"What does this machine do of what {name} did?",
        measure=(*curves, *_measures(rows)),
        budget_s=900,
        grows=True,
        repeats=found.sources[0].name,
        reference=name,
        without=without,
        unless=unless,
    )


def _other_levels(found: Imported) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Levels of factors of the source, what takes their place or how they are varied, and names of the factors."""
    levels: dict[str, dict[str, None]] = {factor: {} for factor in found.factors}
    for factor, level in (item for table in found.tables for item in table.factors.items()):
        levels.setdefault(factor, {})[level] = None
    for factor, of in levels.items():
        named = ", ".join(level for level in of if level != UNSTATED)
        why: str = "what is here takes its place"
        names: tuple[str, ...] = ()
        if factor in found.factors:
            stated = found.factors[factor]
            vary, names = stated.vary, (factor, *stated.also, stated.vary.partition("=")[0])
            option = f"--vary {shlex.quote(vary)}" if vary else f"--level {factor}=LEVEL"
            first = ", your usual level first" if ":" in vary else ""
            why = f"to compare {'them' if named else 'two levels'}, add {option}{first} (docs/factors.md)"
        elif factor not in FACTOR_ROLES:
            why = f"to compare them, name such levels in assay.toml, [factor.{factor}], and add --vary {factor}"
            names = (factor,)
        yield f"{factor} of the source{': ' if named else ''}{named}", why, names


def _of_conclusions(found: Imported, curves: Sequence[Measure]) -> Iterator[_Row]:
    """Rows that the conclusions need; what cannot be measured for one is said beside it."""
    known = {table.benchmark for table in found.tables}
    for each in found.conclusions:
        operands = each.quantity.operands
        levels = {name for operand in operands for name in operand.factors} - {"network"}
        of_threads = any(operand.aspect in {OVER_MEAN, OF_ITERATION} for operand in operands)
        if levels or of_threads or not {operand.benchmark for operand in operands} <= known:
            continue
        with suppress(_AbsentError):
            for table, figure in _measured(_NO_TABLE, replace(_NO_FIGURE, derivation=each.quantity)):
                yield from _rows(table, figure, curves)


class _AbsentError(Exception):
    """Assay cannot measure a figure on any machine; the message is the reason."""


def _measured(table: Table, figure: Figure) -> Iterator[tuple[Table, Figure]]:
    """What is measured for a figure, as a source would state it: itself, or all that it follows from."""
    if figure.derivation is None:
        yield table, figure
        return
    operands = figure.derivation.operands
    others = (each.reference for each in operands if each.reference)
    if absent := next((name for name in others if name not in references.names()), ""):
        raise _AbsentError(f"it needs figures of another system: {absent}")
    for operand in operands:
        if operand.reference or operand.aspect in OF_MACHINE:
            continue
        _refuse_unknown(operand.benchmark)
        benchmark = benchmarks.get(operand.benchmark)
        kernel = operand.kernel or benchmark.main_kernel
        metric = operand.metric or benchmark.headline_name(kernel, operand.params, "")
        described = Figure(kernel, metric, "", 1.0, "")
        memory, place = operand.memory or "first-touch", operand.placement or UNSTATED
        yield (
            Table("", "", "", benchmark.name, (described,), params=operand.params, placement=place, memory=memory),
            described,
        )


def _refuse_unknown(name: str) -> None:
    if name not in benchmarks.names():
        raise _AbsentError(f"Assay has no benchmark '{name}'")


def _rows(table: Table, figure: Figure, curves: Sequence[Measure]) -> Iterator[_Row]:
    _refuse_unknown(table.benchmark)
    benchmark = benchmarks.get(table.benchmark)
    params = {name: value for name, value in (table.params | figure.params).items() if name != RANGE_END}
    if all(figure.metric != metric.name for metric in benchmark.metrics):
        raise _AbsentError(f"'{figure.metric}' follows from other figures")
    if table.placement == UNSTATED:
        raise _AbsentError("the source does not say where it ran")
    if _is_drawn(_row(benchmark, table.placement, table.memory, params), curves):
        return
    size, order = _unstated_size(table, figure), benchmark.axis("order")
    metric = roles.metric(benchmark, figure.kernel, figure.metric)
    sizes = _CURVE if metric and metric.role == "message-time" else _LARGE
    for sized in [{size: each} for each in sizes] if size else [{}]:
        yield _row(benchmark, table.placement, table.memory, params | sized)
    if order and order.name not in params:  # authors fill the memory; such a solution takes an hour
        largest = _row(benchmark, table.placement, table.memory, params | {order.name: LARGEST})
        yield largest._replace(launches=1)


def _unstated_size(table: Table, figure: Figure) -> str:
    """The axis of the size of messages if the figure is a bandwidth without one, else empty."""
    metric = roles.metric(benchmarks.get(table.benchmark), figure.kernel, figure.metric)
    size = roles.axis(benchmarks.get(table.benchmark), "message-size")
    of_messages = metric is not None and metric.role in {"message-bandwidth", "message-time"}
    return size if of_messages and size not in table.params | figure.params else ""


def _is_drawn(row: _Row, curves: Sequence[Measure]) -> bool:
    """Whether a row is on a curve that is measured whole."""
    return any(
        row.benchmark == each.benchmark
        and row.memory in each.memory
        and row.placement in {word for words in each.placements for word in parsed(words).each_over}
        and all(value in _values(each, name) for name, value in row.params)
        for each in curves
    )


def _values(measure: Measure, axis: str) -> tuple[ParamValue, ...]:
    value = measure.axes.get(axis, ())
    return value if isinstance(value, tuple) else (value,)


def _row(benchmark: Benchmark, placement: str, memory: str, params: Params) -> _Row:
    axes = {axis.name: axis for axis in benchmark.axes}
    for name, value in params.items():
        if name not in axes:
            raise _AbsentError(f"{benchmark.name} has no axis '{name}'")
        axis = axes[name]
        if axis.role == "message-pattern" and value not in axis.values:
            params = {**params, name: _own_pattern(axis, str(value))}
            continue
        named = any(isinstance(each, str) for each in axis.values)
        if named and value not in axis.values:
            raise _AbsentError(f"{benchmark.name} has no {name} '{value}'")
    word = memory if memory.startswith("bind") else Memory.parsed(memory).policy
    return _Row(benchmark.name, placement, word, tuple(params.items()))


def _own_pattern(axis: Axis, name: str) -> str:
    """Assay's pattern that corresponds to that of another tool."""
    other = axis.patterns.get(name)
    if other and other.timed in axis.values:
        return other.timed
    ours = ((str(level), axis.patterns[str(level)]) for level in axis.values)
    for level, own in ours:
        if other and (own.pairs, own.directions) == (other.pairs, other.directions):
            return level
    raise _AbsentError(f"there is no pattern like '{name}'")


def _measures(rows: dict[_Row, None]) -> Iterator[Measure]:
    """A measure for each group of rows that differ only on one axis of numbers."""
    groups: dict[_Row, dict[str, list[ParamValue]]] = {}
    for row in rows:
        numbers = [name for name, value in row.params if not isinstance(value, str)]
        last = numbers[-1] if numbers else ""
        others = tuple((name, value) for name, value in row.params if name != last)
        values = groups.setdefault(row._replace(params=others), {}).setdefault(last, [])
        values += [value for name, value in row.params if name == last]
    for row, swept in groups.items():
        for name, values in swept.items():
            axes: dict[str, tuple[ParamValue, ...] | ParamValue] = dict(row.params)
            if name:
                axes[name] = tuple(dict.fromkeys(values))
            weight = _WEIGHT / max(1, len(values))
            why = "rows of the published system"
            yield Measure(
                row.benchmark, (row.placement,), (row.memory,), axes, weight, why=why, launches=row.launches
            )
