"""Parquet for DuckDB, pandas, Polars and Spark: typed columns, one for each axis and each factor."""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np

from assay.model.answers import Export
from assay.model.declaration import ParamValue
from assay.model.errors import UnfitEnvironmentError
from assay.model.record import Header, Launch
from assay.model.result import Analysis, Estimate
from assay.model.run import CaseRecords, Run
from assay.model.samples import PHASES, starts_of, table_of
from assay.topics.interchange.parts import COUNTS, TEXTS

_AT_ONCE = 1_000_000
_TEXT, _NUMBER, _WHOLE = "string", "float64", "int64"
#: Column -> its type, and its value in a row.
_FIGURES: dict[str, tuple[str, Callable[[Estimate], object]]] = {
    **{
        name: (_TEXT, attrgetter(name))
        for name in ("id", "case", "benchmark", "kernel", "metric", "unit", "better", "state")
    },
    "placement": (_TEXT, lambda e: e.placement.label),
    "hosts": ("texts", lambda e: list(e.placement.hosts)),
    "cores": (_WHOLE, lambda e: sum(map(len, e.placement.cpus))),
    "memory": (_TEXT, lambda e: e.placement.memory),
    "as_asked": ("bool", lambda e: e.placement.proven and e.placement.proven.as_asked),
    **{
        name: (_NUMBER, attrgetter(name))
        for name in ("median", "lo", "hi", "confidence", "mean", "min", "max", "p99", "precision")
    },
    "basis": (_TEXT, lambda e: e.basis),
    "launches": (_WHOLE, lambda e: e.launches),
    "samples": (_WHOLE, lambda e: e.samples),
    "steady": ("bool", lambda e: e.steady),
    "limit": (_NUMBER, lambda e: e.limit and e.limit.value),
    "limit_source": (_TEXT, lambda e: e.limit and e.limit.source),
    "limit_of": (_TEXT, lambda e: e.limit and e.limit.of),
    "status": (_TEXT, lambda e: e.status),
    "reason": (_TEXT, lambda e: e.reason),
    **{name: (_TEXT, value) for name, value in TEXTS.items()},
    **{name: (_WHOLE, value) for name, value in COUNTS.items()},
}


def figures(run: Run, analysis: Analysis) -> Iterator[bytes]:
    """Write a row for each estimate, in SI base units; absent values are null."""
    arrow, parquet = _libraries()
    types = {**_columns(arrow), "texts": arrow.list_(arrow.string())}
    rows = (*analysis.estimates, *analysis.members)
    made = {"run": arrow.array([run.info.id] * len(rows)), "started": _started(arrow, run.info.started, len(rows))}
    for name, (kind, value) in _FIGURES.items():
        made[name] = arrow.array([value(each) for each in rows], types[kind])
    for name, kind, column in _varied([(each.params, each.factors) for each in rows]):
        made[name] = arrow.array(column, types[kind])
    yield _written(parquet, [arrow.table(made)])


def samples(run: Run) -> Iterator[bytes]:
    """Write a row for each sample, warm-ups too: `seconds` of `iterations` iterations, undivided."""
    arrow, parquet = _libraries()
    types = _columns(arrow)
    cases = {case.id: case for plan in (run.plan, *run.plan.trials) for case in plan.cases}
    varied = [(case.params, case.factors) for case in cases.values()]
    own: dict[str, dict[str, Any]] = {case: {} for case in cases}
    kinds: dict[str, Any] = {}
    for name, kind, column in _varied(varied):
        kinds[name] = types[kind]
        for case, value in zip(cases, column, strict=True):
            own[case][name] = value

    def tables() -> Iterator[Any]:
        for records in run.made:
            for case in records.cases:
                made = _samples(arrow, run, records.launch, case)
                planned = cases[case.header.case]
                made["placement"] = _repeated(arrow, planned.placement.label, types[_TEXT], len(made["seconds"]))
                for name, kind in kinds.items():
                    made[name] = _repeated(arrow, own[planned.id][name], kind, len(made["seconds"]))
                yield arrow.table(made)

    yield _written(parquet, _together(arrow, tables()))


def _samples(arrow: Any, run: Run, launch: Launch, case: CaseRecords) -> dict[str, Any]:  # noqa: ANN401 (pyarrow)
    """Return the columns of a case in a launch."""
    table, header = table_of(case.series), case.header
    count = int(table.counts.sum())
    rows = np.repeat(np.arange(len(table.counts)), table.counts)
    first = table.ends - table.counts
    words = {
        "run": run.info.id,
        "launch": launch.id,
        "program": launch.program,
        "toolchain": launch.toolchain,
        "case": header.case,
        "benchmark": header.benchmark,
    }
    numbers = {"attempt": launch.attempt, "block": launch.block}
    made = {name: _repeated(arrow, value, arrow.string(), count) for name, value in words.items()}
    made |= {name: _repeated(arrow, value, arrow.int64(), count) for name, value in numbers.items()}
    made["started"] = _started(arrow, launch.started, count)
    made["kernel"] = arrow.array(np.array([*table.kernels, ""], dtype=object)[table.kernel][rows], arrow.string())
    made["host"] = arrow.array(_hosts(header, table.rank)[rows], arrow.string())
    made["phase"] = arrow.array(np.array(PHASES, dtype=object)[table.phase][rows], arrow.string())
    whole = {
        "rank": table.rank[rows],
        "iterations": table.iterations[rows],
        "sample": np.arange(count) - first[rows],
    }
    made |= {name: arrow.array(column, arrow.int64()) for name, column in whole.items()}
    made["start_s"] = arrow.array(starts_of(case.series), arrow.float64())
    made["seconds"] = arrow.array(table.seconds, arrow.float64())
    return made


def _hosts(header: Header, ranks: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    of = {rank.rank: rank.host for rank in header.ranks}
    return np.array([of.get(rank) for rank in ranks.tolist()], dtype=object)


def _varied(
    rows: Iterable[tuple[Mapping[str, ParamValue], Mapping[str, str]]],
) -> Iterator[tuple[str, str, list[ParamValue | None]]]:
    """Yield a column for each axis and each factor: its name, its type and the value of each row."""
    rows = list(rows)
    for prefix, place in (("param", 0), ("factor", 1)):
        for name in dict.fromkeys(name for row in rows for name in row[place]):
            column: list[ParamValue | None] = [row[place].get(name) for row in rows]
            kinds = {type(value) for value in column if value is not None}
            kind = _WHOLE if kinds == {int} else _NUMBER if kinds and kinds <= {int, float} else _TEXT
            if kind == _TEXT:
                column = [None if value is None else str(value) for value in column]
            yield f"{prefix}_{name.replace('-', '_')}", kind, column


def _columns(arrow: Any) -> dict[str, Any]:  # noqa: ANN401 (pyarrow has no types)
    return {_TEXT: arrow.string(), _NUMBER: arrow.float64(), _WHOLE: arrow.int64(), "bool": arrow.bool_()}


def _repeated(arrow: Any, value: object, kind: Any, count: int) -> Any:  # noqa: ANN401 (pyarrow has no types)
    return arrow.nulls(count, kind) if value is None else arrow.repeat(arrow.scalar(value, kind), count)


def _started(arrow: Any, time: str, count: int) -> Any:  # noqa: ANN401 (pyarrow has no types)
    known = datetime.fromisoformat(time) if time else None
    return _repeated(arrow, known, arrow.timestamp("us", tz="UTC"), count)


def _together(arrow: Any, tables: Iterable[Any]) -> Iterator[Any]:  # noqa: ANN401 (pyarrow has no types)
    """Join tables to tables of many rows, each a group in the file."""
    waiting: list[Any] = []
    for table in tables:
        waiting.append(table)
        if sum(each.num_rows for each in waiting) >= _AT_ONCE:
            yield arrow.concat_tables(waiting)
            waiting = []
    if waiting:
        yield arrow.concat_tables(waiting)


def _written(parquet: Any, tables: Iterable[Any]) -> bytes:  # noqa: ANN401 (pyarrow has no types)
    sink, writer = io.BytesIO(), None
    for table in tables:
        writer = writer or parquet.ParquetWriter(sink, table.schema, compression="zstd")
        writer.write_table(table)
    if writer:
        writer.close()
    return sink.getvalue()


def _libraries() -> tuple[Any, Any]:
    """Return Arrow and its Parquet; UnfitEnvironmentError where they are not installed."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise UnfitEnvironmentError(
            "Parquet cannot be written",
            why="the library pyarrow is not installed",
            remedy="pip install 'assay[parquet]'",
        ) from error


export = Export("typed columns for DuckDB and pandas; with --samples one row a sample", figures, samples)
