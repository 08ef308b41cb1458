"""Comma-separated values: one row an estimate with everything it carries, or one row a raw sample."""

import csv
import io
from collections.abc import Iterator, Mapping

from assay.model.exports import Export
from assay.model.result import Analysis, Estimate
from assay.model.run import Run

COLUMNS = (
    "id", "case", "benchmark", "kernel", "metric", "unit", "better", "params", "factors", "state",
    "placement", "hosts", "cpus", "memory", "as_asked", "proven_cpus", "page_nodes",
    "median", "lo", "hi", "basis", "confidence", "mean", "min", "max", "p99", "launches", "samples", "stop",
    "precision", "steady", "modes", "limit", "limit_source", "limit_of", "status", "reason",
)  # fmt: skip
SAMPLE_COLUMNS = (
    "launch", "attempt", "case", "kernel", "host", "phase", "iterations", "sample", "start_s", "seconds",
)  # fmt: skip


def figures(_run: Run, analysis: Analysis) -> Iterator[str]:
    """Estimates as CSV (RFC 4180) in SI base units; absent values are empty, lists have blanks."""
    lines = io.StringIO(newline="")
    writer = csv.DictWriter(lines, COLUMNS)
    writer.writeheader()
    writer.writerows(_row(estimate) for estimate in analysis.estimates)
    yield lines.getvalue()


def samples(run: Run) -> Iterator[str]:
    """Raw samples as CSV, line by line with line ends: seconds of `iterations` iterations, warm-ups too."""
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


def _row(e: Estimate) -> dict[str, object]:
    proven = e.placement.proven
    same = (
        "id", "case", "benchmark", "kernel", "metric", "unit", "better", "state", "median", "lo", "hi", "basis",
        "confidence", "mean", "min", "max", "p99", "launches", "samples", "stop", "precision", "steady", "status",
        "reason",
    )  # fmt: skip
    return {name: getattr(e, name) for name in same} | {
        "params": _pairs(e.params),
        "factors": _pairs(e.factors),
        "placement": e.placement.label,
        "hosts": " ".join(e.placement.hosts),
        "cpus": _lists(e.placement.cpus),
        "memory": e.placement.memory,
        "as_asked": "" if proven is None else proven.as_asked,
        "proven_cpus": "" if proven is None else _lists(proven.cpus),
        "page_nodes": "" if proven is None else _pairs(proven.page_nodes),
        "modes": " ".join(map(str, e.modes)),
        "limit": "" if e.limit is None else e.limit.value,
        "limit_source": "" if e.limit is None else e.limit.source,
        "limit_of": "" if e.limit is None else e.limit.of,
    }


def _pairs(values: Mapping[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def _lists(cpus: tuple[tuple[int, ...], ...]) -> str:
    return " ".join(",".join(map(str, of_host)) for of_host in cpus)


export = Export("one row a figure, or with --samples a sample", figures, samples)
