"""Comma-separated values: a row for each estimate with all of its fields, or for each raw sample."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter

from assay.model.answers import Export
from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.topics.interchange.parts import COUNTS, TEXTS

COLUMNS = (
    "id", "case", "benchmark", "kernel", "metric", "unit", "better", "params", "factors", "state",
    "placement", "hosts", "cpus", "memory", "as_asked", "proven_cpus", "page_nodes",
    "median", "lo", "hi", "basis", "confidence", "mean", "min", "max", "p99", "launches", "samples", "stop",
    "precision", "steady", "modes", "limit", "limit_source", "limit_of", "status", "reason", *TEXTS, *COUNTS,
)  # fmt: skip
#: Column -> its value, where it is not an attribute of an estimate.
_VALUES: dict[str, Callable[[Estimate], object]] = {
    "params": lambda e: _pairs(e.params),
    "factors": lambda e: _pairs(e.factors),
    "placement": lambda e: e.placement.label,
    "hosts": lambda e: " ".join(e.placement.hosts),
    "cpus": lambda e: _lists(e.placement.cpus),
    "memory": lambda e: e.placement.memory,
    "as_asked": lambda e: e.placement.proven and e.placement.proven.as_asked,
    "proven_cpus": lambda e: e.placement.proven and _lists(e.placement.proven.cpus),
    "page_nodes": lambda e: e.placement.proven and _pairs(e.placement.proven.page_nodes),
    "modes": lambda e: " ".join(map(str, e.modes)),
    "limit": lambda e: e.limit and e.limit.value,
    "limit_source": lambda e: e.limit and e.limit.source,
    "limit_of": lambda e: e.limit and e.limit.of,
    **TEXTS,
    **COUNTS,
}
SAMPLE_COLUMNS = (
    "launch", "attempt", "case", "kernel", "host", "phase", "iterations", "sample", "start_s", "seconds",
)  # fmt: skip


def figures(_run: Run, analysis: Analysis) -> Iterator[str]:
    """Write estimates as CSV (RFC 4180) in SI base units; absent values are empty, lists have blanks."""
    lines = io.StringIO(newline="")
    writer = csv.writer(lines)
    writer.writerow(COLUMNS)
    values = [_VALUES.get(name, attrgetter(name)) for name in COLUMNS]
    writer.writerows([value(each) for value in values] for each in (*analysis.estimates, *analysis.members))
    yield lines.getvalue()


def samples(run: Run) -> Iterator[str]:
    """Yield raw samples as lines of CSV with line ends: seconds of `iterations` iterations, warm-ups too."""
    line = io.StringIO(newline="")
    writer = csv.writer(line)
    for cells in _samples(run):
        writer.writerow(cells)
        yield line.getvalue()
        line.seek(0)
        line.truncate()


def _samples(run: Run) -> Iterator[tuple[object, ...]]:
    yield SAMPLE_COLUMNS
    for records in run.made:
        for case in records.cases:
            hosts = {rank.rank: rank.host for rank in case.header.ranks}
            for series in case.series:
                head = (
                    records.launch.id,
                    records.launch.attempt,
                    case.header.case,
                    series.kernel,
                    hosts.get(series.rank, series.rank),
                    series.phase,
                    series.iterations,
                )
                for number, (start, seconds) in enumerate(zip(series.start_s, series.seconds, strict=True)):
                    yield (*head, number, start, seconds)


def _pairs(values: Mapping[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def _lists(cpus: tuple[tuple[int, ...], ...]) -> str:
    return " ".join(",".join(map(str, of_host)) for of_host in cpus)


export = Export("one row a figure, or with --samples a sample", figures, samples)
