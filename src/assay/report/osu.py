"""Tables as the OSU Micro-Benchmarks print them, so that what reads those reads these."""

from collections.abc import Iterable, Iterator, Mapping

from assay import benchmarks
from assay.model.benchmark import ParamValue
from assay.model.result import Analysis, Estimate
from assay.report import words

#: Widths of OSU's columns: the size, then each figure.
_SIZE, _FIGURE = 10, 20
#: (benchmark, pattern or operation) -> OSU's name of the test.
_TITLES = {
    ("pt2pt", "latency"): "OSU MPI Latency Test",
    ("pt2pt", "bandwidth"): "OSU MPI Bandwidth Test",
    ("pt2pt", "bidirectional"): "OSU MPI Bi-Directional Bandwidth Test",
    ("pt2pt", "multi-bandwidth"): "OSU MPI Multiple Bandwidth / Message Rate Test",
    ("pt2pt", "multi-latency"): "OSU MPI Multi Latency Test",
    ("tcp", "latency"): "TCP Latency Test",
    ("tcp", "bandwidth"): "TCP Bandwidth Test",
    ("tcp", "bidirectional"): "TCP Bi-Directional Bandwidth Test",
}
#: Unit -> (heading, factor from SI). OSU's megabyte has 10^6 bytes.
_UNITS = {"s": ("Latency (us)", 1e6), "B/s": ("Bandwidth (MB/s)", 1e-6), "1/s": ("Messages/s", 1.0)}
_LEAST_DIGITS = 3
_SWEPT = "bytes"
_SIZED = (_SWEPT, "offset")
_TEST_AXES = ("pattern", "operation")

_Key = tuple[object, ...]


def tables(analysis: Analysis) -> Iterator[str]:
    """Lines of every table: a figure for each size, one table for each test, placement, and levels of factors.

    What the columns cannot say stands in comments before them: where, and what is not OSU's default.
    """
    grouped: dict[_Key, list[Estimate]] = {}
    for estimate in analysis.estimates:
        if estimate.median is not None and _is_column(estimate):
            grouped.setdefault(_key(estimate), []).append(estimate)
    for number, group in enumerate(grouped.values()):
        if number:
            yield ""
        yield from _table(group)


def _is_column(estimate: Estimate) -> bool:
    """OSU's tests of one pair print one figure; a rate stands beside the bandwidth of many pairs only."""
    benchmark = benchmarks.get(estimate.benchmark)
    if not benchmark.joint:
        return False
    several = "pattern" not in estimate.params or str(estimate.params["pattern"]).startswith("multi-")
    return several or estimate.metric == benchmark.metrics_of(estimate.kernel, estimate.params)[0].name


def _key(estimate: Estimate) -> _Key:
    fixed = tuple((name, value) for name, value in estimate.params.items() if name not in _SIZED)
    placed = estimate.placement
    return estimate.benchmark, fixed, placed.label, placed.hosts, tuple(estimate.factors.items()), estimate.state


def _table(group: list[Estimate]) -> Iterator[str]:
    first = group[0]
    test = next((str(first.params[axis]) for axis in _TEST_AXES if axis in first.params), "")
    yield f"# {_TITLES.get((first.benchmark, test), f'{first.benchmark} {test} Test')}, by Assay"
    yield f"# {', '.join(_circumstances(first))}"
    columns = {estimate.metric: estimate.unit for estimate in group}
    headings = _headings(columns)
    yield f"{'# Size':<{_SIZE}}" + "".join(f"{heading:>{_FIGURE}}" for heading in headings)
    rows: dict[int, dict[str, float]] = {}
    for estimate in group:
        if estimate.median is not None:
            size = int(estimate.params.get(_SWEPT, 0)) + int(estimate.params.get("offset", 0))
            rows.setdefault(size, {})[estimate.metric] = estimate.median
    for size, figures in sorted(rows.items()):
        cells = (_figure(figures.get(metric), unit) for metric, unit in columns.items())
        yield f"{size:<{_SIZE}}" + "".join(f"{cell:>{_FIGURE}}" for cell in cells)


def _headings(columns: Mapping[str, str]) -> list[str]:
    """OSU's words where there is one column of a kind; `MB/s` beside `Messages/s` as its multi-pair test has."""
    if set(columns.values()) == {"B/s", "1/s"}:
        return ["MB/s" if unit == "B/s" else "Messages/s" for unit in columns.values()]
    if list(columns.values()).count("s") > 1:
        return [f"{metric.capitalize()} (us)" for metric in columns]
    return [_UNITS[unit][0] for unit in columns.values()]


def _figure(value: float | None, unit: str) -> str:
    """Two decimals as OSU prints them, more where they would leave fewer than three digits."""
    if value is None:
        return "nan"
    scaled = value * _UNITS[unit][1]
    decimals = 2
    while scaled and abs(scaled) < 10 ** (_LEAST_DIGITS - 1 - decimals):
        decimals += 1
    return f"{scaled:.{decimals}f}"


def _circumstances(estimate: Estimate) -> Iterable[str]:
    placed = estimate.placement
    yield f"{placed.label} on {' '.join(placed.hosts)}"
    yield from (f"{name}={level}" for name, level in estimate.factors.items())
    if estimate.state:
        yield f"state={estimate.state}"
    defaults = {axis.name: axis.default for axis in benchmarks.get(estimate.benchmark).axes}
    yield from _unusual(estimate.params, defaults)
    yield f"medians of {words.count(estimate.launches, 'launch', 'launches')}" if estimate.launches else "imported"


def _unusual(params: Mapping[str, ParamValue], defaults: Mapping[str, ParamValue | None]) -> Iterator[str]:
    for name, value in params.items():
        if name not in {*_SIZED, *_TEST_AXES} and defaults.get(name) not in {None, value}:
            yield f"{name}={value}"
