"""Cores of each memory node against the memory of every node."""

from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.units import scale
from assay.report import choose, words
from assay.report.charts.heatmap import Cell, heatmap
from assay.report.section import Figure, Section

order = 20
claims: frozenset[str] = frozenset()

_BIND = "bind:"


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where memory was not bound to several nodes."""
    wanted = set(matrix_estimates(analysis))
    matrix = choose.middle(e for e in analysis.estimates if e.id in wanted)
    measured = choose.measured(matrix)
    if not matrix:
        return None
    home = _homes(run)
    groups = choose.grouped(measured, lambda e: choose.series(e, _series_names(measured)))
    drawn = tuple(_figure(name, members, home, number) for number, (name, members) in enumerate(groups.items()))
    return Section(
        id="memory-nodes",
        title="Near and far memory",
        meaning=(_meaning(measured, home),),
        figures=drawn,
        estimates=matrix,
        benchmarks=frozenset(),
    )


def matrix_estimates(analysis: Analysis) -> tuple[str, ...]:
    """Ids of headline estimates whose cpus were measured against more than one node's memory."""
    stream = choose.headline_kernel(choose.headline_metric(choose.of_benchmark(analysis, "stream")))
    bound = [e for e in stream if e.placement.memory.startswith(_BIND) and "," not in e.placement.memory]
    groups = choose.grouped(bound, lambda e: (e.placement.label, e.placement.hosts))
    return tuple(
        e.id for members in groups.values() if len({e.placement.memory for e in members}) > 1 for e in members
    )


def _series_names(estimates: tuple[Estimate, ...]) -> tuple[str, ...]:
    return choose.varied(estimates)


def _homes(run: Run) -> dict[int, int]:
    """Cpu -> memory node that is local to it, on the first machine."""
    machine = next(iter(run.machines.values()), None)
    return {cpu: node.index for node in machine.topology.numa_nodes for cpu in node.cpus} if machine else {}


def _node(estimate: Estimate) -> int:
    return int(estimate.placement.memory.removeprefix(_BIND))


def _is_local(estimate: Estimate, home: dict[int, int]) -> bool:
    return {home.get(cpu) for cpus in estimate.placement.cpus for cpu in cpus} == {_node(estimate)}


def _figure(name: str, estimates: tuple[Estimate, ...], home: dict[int, int], number: int) -> Figure:
    largest = max(e.median or 0.0 for e in estimates)
    scaled, unit = scale(largest, estimates[0].unit)
    factor = scaled / largest
    local = {e.placement.label: e.median for e in estimates if _is_local(e, home)}
    cells = []
    for estimate in sorted(estimates, key=_node):
        figure = words.shown(estimate)
        if figure is None or estimate.median is None:
            continue
        base = local.get(estimate.placement.label)
        value = factor * estimate.median
        cells.append(
            Cell(
                row=estimate.placement.label,
                column=f"node {_node(estimate)}",
                value=value,
                text=f"{value:.{words.decimals(scaled)}f}",
                ratio=f"×{estimate.median / base:.2f}" if base else "",  # noqa: RUF001 (a factor)
                basis=f"{figure.ends} {figure.unit}, {figure.basis}",
                local=_is_local(estimate, home),
            )
        )
    order_of_rows = list(dict.fromkeys(e.placement.label for e in estimates))
    cells.sort(key=lambda cell: (order_of_rows.index(cell.row), int(cell.column.split()[1])))
    suffix = f", {name}" if name else ""
    caption = (
        f"Triad bandwidth in {unit}{suffix}: cores of a row against the memory of a column. Below each figure "
        "stands its ratio to the same cores' local memory. Intervals are in the table."
    )
    result = "; ".join(f"{cell.row} with {cell.column}: {cell.text} {unit} {cell.ratio}" for cell in cells)
    titles = ("cores", "memory of", f"{unit}{suffix}")
    return Figure(f"figure-numa-{number}", caption, result, heatmap(cells, titles))


def _meaning(estimates: tuple[Estimate, ...], home: dict[int, int]) -> str:
    text = (
        "Memory that hangs at another die or socket is reached over a link, which is slower than the cores' own."
    )
    near = choose.measured(e for e in estimates if _is_local(e, home))
    far = choose.measured(e for e in estimates if not _is_local(e, home))
    for what, group in (("local", near), ("remote", far)):
        if group:
            low, high = (min(group, key=lambda e: e.median or 0), max(group, key=lambda e: e.median or 0))
            ends = [words.shown(e) for e in (low, high)]
            text += f" The {what} medians of {len(group)} pairs lie between " + " and ".join(
                end.short for end in ends if end
            )
            text += "."
    return text if near or far else text + " None of the pairs could be measured."
