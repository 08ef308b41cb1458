"""`assay plan`: what a study measures on this machine or another, in which order, and the cost."""

from __future__ import annotations

import shlex
import textwrap
from itertools import chain
from typing import TYPE_CHECKING

import click

from assay.cli.support import output, site
from assay.cli.support.options import RunOptions, run_options
from assay.cli.support.plan_cost import duration, order_and_cost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console
    from rich.table import Table

    from assay.model.benchmark import Benchmark
    from assay.model.declaration import Axis, ParamValue
    from assay.model.machine import Machine
    from assay.model.placement import Memory
    from assay.model.plan import Case, Plan

#: More placements than this under one heading are one line if they differ only in an index.
_FEW = 4
#: Maximum points, chosen by the machine, that are listed one by one.
_MOST_POINTS = 40


@click.command()
@click.argument("study")
@click.option("--from", "--machine-from", "xml", metavar="FILE.xml", help="Plan for a machine saved by lstopo.")
@click.option(
    "--synthetic", metavar="DESCRIPTION", help='Plan for a described machine: "pack:2 numa:4 core:8 pu:2".'
)
@run_options
@click.option("--json", "as_json", is_flag=True, help="Print the whole plan as JSON.")
@click.option("--all", "every", is_flag=True, help="List every case.")
def command(  # noqa: PLR0913 (one parameter an option)
    study: str, xml: str | None, synthetic: str | None, *, as_json: bool, every: bool, options: RunOptions
) -> None:
    """Show what STUDY measures, without measuring.

    STUDY is the name of a stored study (see assay list studies), scale:BENCHMARK, or the path of your own (.toml).
    """
    import msgspec

    from assay import plan as planning
    from assay import studies
    from assay.cli.support import settings
    from assay.cli.support.prepare import on_nodes, options_of, plan
    from assay.launch.starter import Starter

    wanted = studies.get(study, options.sweeps)
    chosen = options_of(options, site.node_names(options.nodes, options.hostfile))
    machine = _machine(xml, synthetic)
    if machine is None:
        machines = site.machines(chosen.hosts, Starter(site.find(options.launcher, options.ssh_config)))
        known = {host: facts for host, (facts, _) in machines.items()}
        made = plan(study, wanted, machines, on_nodes(chosen, machines), options.vary)
        _check_toolchains(made)
    else:  # the software there is unknown: assume that all programs have what they need
        known = dict.fromkeys((machine.host, *chosen.hosts), machine)
        there = msgspec.structs.replace(
            chosen,
            factors=planning.parse(options.vary, wanted, settings.table("factor")),
            libraries={role: role for role in planning.needed_libraries(wanted)},
            programs=planning.foreign_programs(wanted),
        )
        made = planning.make(study, wanted, machine, there)
    if as_json:
        output.print_json(made)
        return
    console = output.console(markup=True)
    _show(made, console, every=every)
    if made.full:
        _show_largest(made, known, console)
    where = "" if machine is None else ", on that machine"
    again = output.typed({"study", "xml", "synthetic", "as_json", "every"})
    console.print(f"\nnext: [bold]{_plain(shlex.join(['assay', 'run', study, *again]))}[/bold]{where}")


def _show_largest(plan: Plan, machines: Mapping[str, Machine], console: Console) -> None:
    """Print the largest problems that fit into memory, which follow the study."""
    from assay.catalogue import benchmarks
    from assay.model.units import format_size
    from assay.plan.largest import filling

    for bend in filling(plan, machines):
        case = plan.case(bend.case)
        benchmark = benchmarks.get(case.benchmark)
        params = case.params | {bend.axis: bend.size}
        memory = format_size(benchmark.host_memory_bytes(params, case.placement))
        seconds = benchmark.setup_s(params, case.placement, plan.core)
        console.print(
            f"then once: {case.benchmark} at {case.placement.label}, {bend.axis} = {bend.size}: {memory} on each "
            f"host, about {duration(seconds)} by the assumed rate"
        )


def _machine(xml: str | None, synthetic: str | None) -> Machine | None:
    """A machine from a file or a description; None for a real one."""
    from assay import machine
    from assay.model.errors import UsageError

    if xml is not None and synthetic is not None:
        raise UsageError(
            "--from and --synthetic describe two machines", why="a plan is for one", remedy="give only one of them"
        )
    if xml is not None:
        return machine.load_xml(xml)
    return None if synthetic is None else machine.synthetic(synthetic)


def _check_toolchains(plan: Plan) -> None:
    """UsageError or UnfitEnvironmentError for a toolchain that is not installed."""
    from assay import plan as planning
    from assay import toolchain
    from assay.cli.support import settings

    declared = settings.table("toolchain")
    for name in dict.fromkeys(launch.toolchain for launch in plan.order):
        if name != planning.DEFAULT_TOOLCHAIN:
            toolchain.get(name.removeprefix(planning.DEFAULT_TOOLCHAIN), declared)


def _show(plan: Plan, console: Console, *, every: bool) -> None:
    from assay.catalogue import benchmarks

    console.print(f"[bold]{_plain(plan.title)}[/bold] on {_plain(plan.machine)}")
    _say(plan.question, console)
    measured = plan.studied
    for name in dict.fromkeys(case.benchmark for case in measured):
        cases = [case for case in measured if case.benchmark == name]
        console.print(f"\n[bold]{name}[/bold]")
        _say(benchmarks.get(name).measures, console, indent="  ")
        for line in _axes(benchmarks.get(name), cases):
            _say(line, console, indent="  ")
        if every:
            console.print()
            _every_case(cases, console)
        else:
            _placements(cases, console)
            if points := _points(benchmarks.get(name), cases):
                console.print()
                console.print(points)
    folded = [(fold.family, f"{fold.request} is {fold.into}: {fold.reason}") for fold in plan.folded]
    _list("Merged, because it is equivalent here", _brief(folded), console)
    _list("Left out", _brief([(left.family, f"{left.request}: {left.reason}") for left in plan.left_out]), console)
    _list("Order and cost", order_and_cost(plan), console)


def _axes(benchmark: Benchmark, cases: list[Case]) -> list[str]:
    """A line for each varied axis, `stores: ordinary, non-temporal`, `bytes: 1 B to 64 MiB`, and each factor."""
    lines = []
    for axis in benchmark.axes:
        values = _of_axis(axis.name, cases)
        if axis.default is not None and values not in ([], [axis.default]):
            lines.append(f"{axis.name}: {_by_level(axis, cases) or _values(values, axis.unit)}")
    factors: dict[str, dict[str, None]] = {}
    for factor, level in (pair for case in cases for pair in case.factors.items()):  # cases may lack the network
        factors.setdefault(factor, {})[level] = None
    return lines + [f"{factor}: {', '.join(levels)}" for factor, levels in factors.items()]


def _of_axis(name: str, cases: list[Case]) -> list[ParamValue]:
    return list(dict.fromkeys(case.params[name] for case in cases if name in case.params))


def _by_level(axis: Axis, cases: list[Case]) -> str:
    """Values of an axis for each level of another axis, if there are many and they differ; else empty."""
    for other in {name: None for case in cases for name in case.params if name != axis.name}:
        levels = {
            level: [case for case in cases if case.params[other] == level] for level in _of_axis(other, cases)
        }
        swept = {level: _of_axis(axis.name, same) for level, same in levels.items()}
        many = all(len(values) > _FEW for values in swept.values())
        if 1 < len(swept) <= _FEW and many and len({frozenset(values) for values in swept.values()}) > 1:
            return "; ".join(f"{_values(values, axis.unit)} ({other}={level})" for level, values in swept.items())
    return ""


def _values(values: list[ParamValue], unit: str) -> str:
    from assay.model.units import format_size

    numbers = [value for value in values if not isinstance(value, str)]
    if len(numbers) > _FEW and unit == "B":
        return f"{format_size(min(numbers))} to {format_size(max(numbers))}, {len(numbers)} sizes"
    if unit == "B":
        return ", ".join(format_size(value) for value in numbers)
    return ", ".join(f"{value} {unit}" if unit and value in numbers else str(value) for value in values)


def _table(*columns: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=True, show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold", justify="right" if column == "cases" else "left")
    return table


def _placements(cases: list[Case], console: Console) -> None:
    """Print a row for each placement and memory policy; many that differ only in indices share a row.

    The cpus of each node follow if nodes have different placements.
    """
    from assay.model.grouping import grouped

    by_node: list[str] = []
    table = _table("placement", "where", "cpus", "memory", "cases")
    table.columns[0].no_wrap = table.columns[3].no_wrap = True
    table.columns[2].no_wrap, table.columns[2].max_width, table.columns[2].overflow = True, 14, "ellipsis"
    for (label, memory), similar in grouped(cases, _starred).items():
        labels = list(dict.fromkeys(case.placement.label for case in similar))
        memories = list(dict.fromkeys(case.placement.memory for case in similar))
        rows: list[tuple[str, str, str, Sequence[Case]]] = []
        if len(labels) * len(memories) > _FEW:
            rows.append((label, _many(len(labels), len(memories), similar), memory, similar))
        else:
            for one in labels:
                for policy in memories:
                    same = [c for c in similar if (c.placement.label, c.placement.memory) == (one, policy)]
                    meaning = "; ".join(dict.fromkeys(case.placement.meaning for case in same))
                    rows += [(one, meaning, _policy(policy), same)] if same else []
        for word, where, shown, group in rows:
            cpus = _cpus(group)
            if len(cpus) > 1:
                by_node.append(f"{word}: {_of_nodes(cpus)}")
            table.add_row(
                _plain(word), _plain(where), "by node" if cpus[1:] else cpus[0][0], shown, str(len(group))
            )
    console.print(table)
    for line in by_node:
        _say(line, console, indent="  ")


def _cpus(cases: Sequence[Case]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The cpus that cases use on a node, and the nodes with these cpus."""
    from assay.model.grouping import grouped
    from assay.model.units import format_cpu_list

    used: dict[str, set[int]] = {}
    for case in cases:
        for host, ranks in zip(case.placement.hosts, case.placement.host_ranks, strict=True):
            used.setdefault(host, set()).update(chain.from_iterable(ranks))
    return tuple(grouped(used, lambda host: format_cpu_list(tuple(used[host]))).items())


def _of_nodes(cpus: Sequence[tuple[str, tuple[str, ...]]]) -> str:
    """`cpus 0-1,16-17 of n1; 0-3 of n[2-8]`."""
    from assay.model.node_sets import folded

    return "cpus " + "; ".join(f"{used} of {folded(hosts)}" for used, hosts in cpus)


def _points(benchmark: Benchmark, cases: list[Case]) -> Table | None:
    """Values, memory and time of each point of a sweep that the benchmark chose by the machine."""
    from assay.model.units import format_size

    if benchmark.swept not in benchmark.computed or len(cases) > _MOST_POINTS:
        return None
    axes = [axis.name for axis in benchmark.axes if axis.name in benchmark.computed]
    table = _table("placement", *axes, "memory of a node", "a launch takes about")
    rows = {
        (
            _plain(case.placement.label),
            *(str(case.params.get(axis, "")) for axis in axes),
            format_size(case.memory_bytes),
            duration(max(1.0, case.setup_s)),
        ): None
        for case in sorted(cases, key=lambda each: (each.placement.label, int(each.params[benchmark.swept])))
    }
    for row in rows:
        table.add_row(*row)
    return table


def _many(places: int, memories: int, cases: Sequence[Case]) -> str:
    if memories == 1:
        sizes = [len(case.placement.cpus) for case in cases]
        return f"{places} placements" + (f", {min(sizes)} to {max(sizes)} cpus" if min(sizes) < max(sizes) else "")
    return f"{places} x {memories} placements: each against the memory of each node"


def _starred(case: Case) -> tuple[str, str]:
    """Placement word and memory policy of a case, with `*` for their indices."""
    from assay.model.placement import parsed

    memory = case.placement.memory
    bound = memory.policy == "bind" and len(memory.nodes) == 1
    return parsed(case.placement.label).starred, "bind:*" if bound else _policy(memory)


def _every_case(cases: list[Case], console: Console) -> None:
    from assay.model.units import format_size

    for case in cases:
        console.print(f"  {_plain(case.id)}", soft_wrap=True)
        cpus = _cpus((case,))
        used = _of_nodes(cpus) if len(cpus) > 1 else f"cpus {cpus[0][0]}"
        console.print(f"    {used}; needs {format_size(case.memory_bytes)}", style="dim", soft_wrap=True)


def _policy(memory: Memory) -> str:
    from assay.model.units import format_cpu_list

    return f"{memory.policy}:{format_cpu_list(memory.nodes)}" if memory.nodes else memory.policy


def _list(heading: str, lines: list[str], console: Console) -> None:
    if lines:
        console.print(f"\n[bold]{heading}[/bold]")
    for line in lines:
        _say(line, console, indent="  ")


def _brief(lines: Sequence[tuple[tuple[str, ...], str]]) -> list[str]:
    """The lines; of many that differ only in a number (with an equal key) the first, and the number of others."""
    from assay.model.grouping import grouped

    return [
        shown
        for group in grouped(lines, lambda each: each[0] or each[1]).values()
        for shown in (
            (line for _, line in group)
            if len(group) < _FEW
            else (group[0][1], f"... and {len(group) - 1} similar ones")
        )
    ]


def _say(line: str, console: Console, indent: str = "") -> None:
    """Print a paragraph, wrapped at the width of the terminal."""
    wrapped = textwrap.fill(
        line, console.width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    console.print(_plain(wrapped), soft_wrap=True)


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
