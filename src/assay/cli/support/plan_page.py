"""The page of `assay plan`: cases, placements, what is left out, order and cost."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assay import plan as planning
from assay import studies, toolchain
from assay.catalogue import benchmarks
from assay.cli.support import output, prepare, settings, site
from assay.cli.support.options import RunOptions
from assay.launch.starter import Starter
from assay.model.benchmark import Benchmark
from assay.model.core_rate import Clock
from assay.model.declaration import Axis, ParamValue
from assay.model.grouping import grouped
from assay.model.machine import Machine
from assay.model.node_sets import folded
from assay.model.placement import Memory, parsed
from assay.model.plan import Case, Plan
from assay.model.units import count_of, format_cpu_list, format_quantity, format_size, typed_duration
from assay.plan.experiments import FEWEST, MOST
from assay.plan.largest import filling
from assay.plan.later import with_every_round
from assay.plan.order import longest_seconds, quiet_and_noisy_seconds
from assay.report import formatting

#: More placements than this under one heading are one line if they differ only in an index.
_FEW = 4
#: Maximum points, chosen by the machine, that are listed one by one.
_MOST_POINTS = 40


def planned(name: str, machine: Machine | None, options: RunOptions) -> tuple[Plan, Mapping[str, Machine]]:
    """The plan of a study, and the machines that it is for.

    Args:
        name: name of the study, or path of its file.
        machine: a machine from a file or a description; None for real ones.
        options: options of the run.
    """
    study = studies.get(name, options.sweeps)
    chosen = prepare.options_of(options, site.node_names(options.nodes, options.hostfile))
    if machine is None:
        machines = site.machines(chosen.hosts, Starter(site.find(options.launcher, options.ssh_config)))
        made = prepare.plan(name, study, machines, prepare.on_nodes(chosen, machines), options.vary)
        _check_toolchains(made)
        return made, {host: facts for host, (facts, _) in machines.items()}
    there = msgspec.structs.replace(  # the software there is unknown: assume that all programs have what they need
        chosen,
        factors=planning.parse(options.vary, study, settings.table("factor")),
        libraries={role: role for role in planning.needed_libraries(study)},
        programs=planning.foreign_programs(study),
    )
    return planning.make(name, study, machine, there), dict.fromkeys((machine.host, *chosen.hosts), machine)


def show_largest(plan: Plan, machines: Mapping[str, Machine], console: Console) -> None:
    """Print the largest problems that fit into memory, which follow the study."""
    for bend in filling(plan, machines):
        case = plan.case(bend.case)
        benchmark = benchmarks.get(case.benchmark)
        params = case.params | {bend.axis: bend.size}
        memory = format_size(benchmark.host_memory_bytes(params, case.placement))
        seconds = benchmark.setup_s(params, case.placement, plan.core)
        console.print(
            f"then once: {case.benchmark} at {case.placement.label}, {bend.axis} = {bend.size}: {memory} on each "
            f"host, about {formatting.seconds(seconds)} by the assumed rate"
        )


def _check_toolchains(plan: Plan) -> None:
    """UsageError or UnfitEnvironmentError for a toolchain that is not installed."""
    declared = settings.table("toolchain")
    for name in dict.fromkeys(launch.toolchain for launch in plan.order):
        if name != planning.DEFAULT_TOOLCHAIN:
            toolchain.get(name.removeprefix(planning.DEFAULT_TOOLCHAIN), declared)


def show(plan: Plan, console: Console, *, every: bool) -> None:
    """Print the cases of a plan by benchmark (`every` one by itself), what is left out, order and cost."""
    console.print(f"[bold]{escape(plan.title)}[/bold] on {escape(plan.machine)}")
    output.paragraph(plan.question, console)
    measured = plan.studied
    for name in dict.fromkeys(case.benchmark for case in measured):
        cases = _once(plan, [case for case in measured if case.benchmark == name])
        console.print(f"\n[bold]{name}[/bold]")
        output.paragraph(benchmarks.get(name).measures, console, "  ")
        for line in (*_programs(benchmarks.get(name), plan), *_axes(benchmarks.get(name), cases)):
            output.paragraph(line, console, "  ")
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


def _programs(benchmark: Benchmark, plan: Plan) -> list[str]:
    """A line with the file of an application's program, if the plan is for this machine."""
    application = benchmark.foreign.application if benchmark.foreign else None
    if application is None or os.uname().nodename not in plan.hosts:
        return []
    found = toolchain.applications.found(application, plan.prefixes.get(application.name, ""))
    return [f"program: {', '.join(found.values())}"] if found else []


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
    numbers = [value for value in values if not isinstance(value, str)]
    if len(numbers) > _FEW and unit == "B":
        return f"{format_size(min(numbers))} to {format_size(max(numbers))}, {len(numbers)} sizes"
    if unit == "B":
        return ", ".join(format_size(value) for value in numbers)
    return ", ".join(f"{value} {unit}" if unit and value in numbers else str(value) for value in values)


def _placements(cases: list[Case], console: Console) -> None:
    """Print a row for each placement and memory policy; many that differ only in indices share a row.

    The cpus of each node follow if nodes have different placements.
    """
    by_node: list[str] = []
    unwrapped = ("placement", "cpus", "memory")
    table = output.table("placement", "where", "cpus", "memory", "cases", unwrapped=unwrapped, right=("cases",))
    table.columns[2].max_width, table.columns[2].overflow = 14, "ellipsis"
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
                escape(word), escape(where), "by node" if cpus[1:] else cpus[0][0], shown, str(len(group))
            )
    console.print(table)
    for line in by_node:
        output.paragraph(line, console, "  ")


def _once(plan: Plan, cases: list[Case]) -> list[Case]:
    """The cases; those whose placement was merged into another one, at other points, have the word of that."""
    into = {fold.labels[0]: fold.labels[1] for fold in plan.folded}
    places = {case.placement.label: case.placement for case in reversed(cases)}

    def renamed(case: Case) -> Case:
        other = places.get(into.get(case.placement.label, ""))
        own = case.placement
        if other is None or (own.ranks, own.cpus, own.hosts) != (other.ranks, other.cpus, other.hosts):
            return case
        same = msgspec.structs.replace(own, label=other.label, meaning=other.meaning)
        return msgspec.structs.replace(case, placement=same)

    return list(map(renamed, cases))


def _cpus(cases: Sequence[Case]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The cpus that cases use on a node, and the nodes with these cpus."""
    used: dict[str, set[int]] = {}
    for case in cases:
        for host, ranks in zip(case.placement.hosts, case.placement.host_ranks, strict=True):
            used.setdefault(host, set()).update(chain.from_iterable(ranks))
    return tuple(grouped(used, lambda host: format_cpu_list(tuple(used[host]))).items())


def _of_nodes(cpus: Sequence[tuple[str, tuple[str, ...]]]) -> str:
    """`cpus 0-1,16-17 of n1; 0-3 of n[2-8]`."""
    return "cpus " + "; ".join(f"{used} of {folded(hosts)}" for used, hosts in cpus)


def _points(benchmark: Benchmark, cases: list[Case]) -> Table | None:
    """Values, memory and time of each point of a sweep that the benchmark chose by the machine."""
    if benchmark.swept not in benchmark.computed or len(cases) > _MOST_POINTS:
        return None
    axes = [axis.name for axis in benchmark.axes if axis.name in benchmark.computed]
    table = output.table("placement", *axes, "memory of a node", "a launch takes about")
    rows = {
        (
            escape(case.placement.label),
            *(str(case.params.get(axis, "")) for axis in axes),
            format_size(case.memory_bytes),
            formatting.seconds(max(1.0, case.setup_s)),
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
    memory = case.placement.memory
    bound = memory.policy == "bind" and len(memory.nodes) == 1
    return parsed(case.placement.label).starred, "bind:*" if bound else _policy(memory)


def _every_case(cases: list[Case], console: Console) -> None:
    for case in cases:
        console.print(f"  {escape(case.id)}", soft_wrap=True)
        cpus = _cpus((case,))
        used = _of_nodes(cpus) if len(cpus) > 1 else f"cpus {cpus[0][0]}"
        console.print(f"    {used}; needs {format_size(case.memory_bytes)}", style="dim", soft_wrap=True)


def _policy(memory: Memory) -> str:
    return f"{memory.policy}:{format_cpu_list(memory.nodes)}" if memory.nodes else memory.policy


def _list(heading: str, lines: list[str], console: Console) -> None:
    if lines:
        console.print(f"\n[bold]{heading}[/bold]")
    for line in lines:
        output.paragraph(line, console, "  ")


def _brief(lines: Sequence[tuple[tuple[str, ...], str]]) -> list[str]:
    """The lines; of many that differ only in a number (with an equal key) the first, and the number of others."""
    return [
        shown
        for group in grouped(lines, lambda each: each[0] or each[1]).values()
        for shown in (
            (line for _, line in group)
            if len(group) < _FEW
            else (group[0][1], f"... and {len(group) - 1} similar ones")
        )
    ]


#: Launches are named if they take more than this share of a budget.
_NOTICED = 0.1
#: Both times are printed if that on a quiet machine is below this share of that on a noisy one.
_QUIET = 0.8
_CLOCKS: dict[Clock, str] = {
    "nominal": "the nominal clock",
    "highest": "the highest clock",
    "now": "the clock now",
    "assumed": "assumed",
}


def order_and_cost(plan: Plan) -> list[str]:
    """Lines on the order of a plan and its cost."""
    numbers = Counter(case.launches or plan.launches for case in plan.studied)
    cases = " and ".join(
        f"{count_of(number, 'case')}, {count_of(launches, 'launch')} each" for launches, number in numbers.items()
    )
    in_each = count_of(sum(launch.block == 0 for launch in plan.order) - 1, "launch")
    probe = f"cpus {plan.probe_cpus[0]} and {plan.probe_cpus[1]}" if plan.probe_cpus else "none: one core"
    within = f"{100 * plan.precision:.3g} %"
    lines = [
        f"{cases}, sampled to a precision of {within}",
        f"{count_of(plan.launches, 'block')} of about {in_each} in random order (seed {plan.seed})",
        "sentinel, a small fixed kernel, before each block and after the last",
        f"cache-line probe around every launch: {probe}",
    ]
    if plan.later:
        waiting = len({case.id for case in plan.studied} - plan.launched)
        kept = f"; {100 * plan.later_share:.0f} % of the budget is kept for them" if plan.budget_s else ""
        why = "earlier results predict them"
        wait = "case waits" if waiting == 1 else "cases wait"
        lines.append(f"{waiting} {wait} until the others have ended: {why}{kept}")
    if plan.factors:
        varied = "; ".join(f"{factor.name} ({', '.join(factor.levels)})" for factor in plan.factors)
        lines.append(f"varied in each block, launches side by side in random order: {varied}")
        lines.append(
            "the first level is measured twice (A against A): this shows the smallest difference that the machine "
            "resolves"
        )
        usual = (f"{each.name} {next(iter(each.commands))}" for each in plan.factors if each.commands)
        lines += [f"set again at the end, as the usual state of every node: {each}" for each in usual]
    if plan.levels:
        stated = ", ".join(f"{name} {level}" for name, level in plan.levels.items())
        lines.append(f"you state of the machine during the whole run: {stated}")
    if len(plan.hosts) > 1:
        lines.append(f"nodes: {folded(plan.hosts)}")
    budget = "no budget" if plan.budget_s is None else f"budget {formatting.seconds(plan.budget_s)}"
    quiet_s, noisy_s = quiet_and_noisy_seconds(with_every_round(plan))
    takes = f"about {formatting.seconds(noisy_s)}"
    if quiet_s < _QUIET * noisy_s:
        takes = f"{formatting.seconds(quiet_s)} on a quiet machine to {formatting.seconds(noisy_s)} on a noisy one"
    lines.append(f"{takes} (assumed: the times of set-ups and samples); {budget}")
    lines += _by_operations(plan)
    if plan.confirm_s is not None:
        lines.append(
            f"then experiments for candidate findings, if there are any: {FEWEST} to {MOST} blocks each, "
            f"at most {formatting.seconds(plan.confirm_s)} more"
        )
    if plan.budget_s is not None and plan.budget_s < plan.estimate_s:
        lines.append(
            "the budget is shorter: every case is measured once before any is repeated, samples get fewer, then "
            "the last blocks are cut, and the run reports it; the whole plan needs "
            f"--budget {typed_duration(plan.estimate_s)}"
        )
    longest_s = longest_seconds(plan.cases, plan.order)
    if plan.budget_s is not None and not plan.grows and longest_s > _NOTICED * plan.budget_s:
        lines.append(
            "a launch is ended a tenth after the budget at the latest, and its unfinished cases are cut (the "
            f"longest takes about {formatting.seconds(longest_s)})"
        )
    return lines


def _by_operations(plan: Plan) -> list[str]:
    """A line on the assumed rate of a core, if it decides how long cases take."""
    names = dict.fromkeys(case.benchmark for case in plan.studied)
    found = {name: each.share for name in names if (each := benchmarks.get(name).operations)}
    if not found:
        return []
    core = plan.core
    peak, clock = format_quantity(core.flops, "flop/s"), format_quantity(core.hertz, "Hz")
    shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in found.items())
    units = f"{count_of(core.units, 'unit')} of {core.bits} bits ({core.of or 'assumed'})"
    basis = f"{units} at {clock} ({_CLOCKS[core.clock]})"
    return [f"time of operations: assumed shares ({shares}) of the {peak} that a core can do by {basis}"]
