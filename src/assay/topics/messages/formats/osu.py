"""Tables in the format of the OSU Micro-Benchmarks, for programs that read it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from assay.model import roles
from assay.model.grouping import grouped
from assay.model.result import Analysis, Estimate
from assay.model.role_words import SIZE_AXES, usual_axes
from assay.model.run import Run
from assay.report import formatting

#: Widths of OSU's columns: the size, then each figure.
_SIZE, _FIGURE = 10, 20
#: Unit -> (heading, factor from SI). OSU's megabyte has 10^6 bytes.
_UNITS = {"s": ("Latency (us)", 1e6), "B/s": ("Bandwidth (MB/s)", 1e-6), "1/s": ("Messages/s", 1.0)}
_LEAST_DIGITS = 3
_SIZED = set(SIZE_AXES)
#: Axes whose levels a title or a column names.
_TITLED = {*SIZE_AXES, *usual_axes("message-pattern", "operation-name")}
#: OSU's name of what passes messages.
_BY = {"MPI": "OSU MPI", "TCP": "TCP"}


#: What a run without such a table lacks, and the command that measures it.
needs, remedy = "a complete measurement of messages", "assay run network"


def tables(analysis: Analysis, _run: Run | None = None) -> Iterator[str]:
    """Yield the lines of every table: a figure for each size, one table for each test, placement, factor level.

    Comments before the columns name the placement and what is not OSU's default.
    """
    columns = (each for each in analysis.estimates if each.median is not None and _is_column(each))
    for number, group in enumerate(
        grouped(columns, lambda each: each.signature("kernel", "metric", *_SIZED)).values()
    ):
        if number:
            yield ""
        yield from _table(group)


def _is_column(estimate: Estimate) -> bool:
    """Whether OSU prints it: one figure for one pair; bandwidth and message rate for many pairs."""
    benchmark = estimate.declared
    if not benchmark.message_size:
        return False
    pattern = roles.pattern(estimate)
    several = pattern is None or pattern.pairs == "all"
    return several or estimate.metric == benchmark.metrics_of(estimate.kernel, estimate.params)[0].name


def _table(group: Sequence[Estimate]) -> Iterator[str]:
    first = group[0]
    yield f"# {_title(first)} Test, by Assay"
    yield f"# {', '.join(_circumstances(first))}"
    yield from _means(group)
    columns = {estimate.metric: estimate.unit for estimate in group}
    headings = _headings(columns)
    yield f"{'# Size':<{_SIZE}}" + "".join(f"{heading:>{_FIGURE}}" for heading in headings)
    rows: dict[int, dict[str, float]] = {}
    for estimate in group:
        if estimate.median is not None:
            rows.setdefault(roles.size(estimate), {})[estimate.metric] = estimate.median
    for size, figures in sorted(rows.items()):
        cells = (_figure(figures.get(metric), unit) for metric, unit in columns.items())
        yield f"{size:<{_SIZE}}" + "".join(f"{cell:>{_FIGURE}}" for cell in cells)


def _means(group: Iterable[Estimate]) -> Iterator[str]:
    """Compare the means, which OSU's programs print, with the medians of this table."""
    ratios = sorted(each.mean / each.median for each in group if each.mean and each.median)
    if ratios:
        least, most = f"{ratios[0]:.2f}", f"{ratios[-1]:.2f}"
        span = least if least == most else f"{least} to {most}"
        yield f"# OSU's programs print means: of these samples they are {span} of the medians"


def _title(estimate: Estimate) -> str:
    """Return OSU's name of the test, else the name of the benchmark with its pattern or operation."""
    pattern, declared = roles.pattern(estimate), estimate.declared
    if pattern and pattern.osu and declared.between_two and declared.two_sided:
        return f"{_BY[declared.two_sided]} {pattern.osu}"
    return f"{declared.name} {roles.pattern_name(estimate) or roles.level_of(estimate, 'operation-name') or ''}"


def _headings(columns: Mapping[str, str]) -> list[str]:
    """Return OSU's headings; `MB/s` and `Messages/s` for both, as in its multi-pair test."""
    if set(columns.values()) == {"B/s", "1/s"}:
        return ["MB/s" if unit == "B/s" else "Messages/s" for unit in columns.values()]
    if list(columns.values()).count("s") > 1:
        return [f"{metric.capitalize()} (us)" for metric in columns]
    return [_UNITS[unit][0] for unit in columns.values()]


def _figure(value: float | None, unit: str) -> str:
    """Print two decimals as OSU does, more where these are fewer than three digits."""
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
    defaults = {axis.name: axis.default for axis in estimate.declared.axes}
    for name, value in estimate.params.items():
        if name not in _TITLED and defaults.get(name) not in {None, value}:
            yield f"{name}={value}"
    yield (
        f"medians of {formatting.count(estimate.launches, 'launch', 'launches')}"
        if estimate.launches
        else "imported"
    )
