"""Where the figures come from: commands, builds, environment, machine, versions; enough to measure again."""

import shlex

from assay.model.facts import Fact
from assay.model.result import Analysis
from assay.model.run import Run
from assay.model.units import format_cpu_list, format_size
from assay.report import choose, words
from assay.report.section import Table

_KIB_FROM = 2**20


def fact(known: Fact) -> str:
    """A fact in words: its value with the unit, or why it is not known."""
    if not known.known:
        return f"unavailable: {known.unavailable}"
    value = known.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, (int, float)):
        if known.unit == "B":  # an MTU is known as 1,500 B, not as 1.46 KiB
            return format_size(value) if value >= _KIB_FROM or value % 1024 == 0 else f"{value:,} B"
        return words.quantity(value, known.unit) if known.unit else f"{value:,}"
    return str(value)


def provenance(run: Run) -> tuple[Table, ...]:
    """Tables of everything that can have changed a figure."""
    tables = [_run(run), *_builds(run), _environment(run), _mpi(run), _clocks(run), _commands(run)]
    return tuple(table for table in tables if table.rows)


def _run(run: Run) -> Table:
    info, plan, ending = run.info, run.plan, run.ending
    budget = "none" if plan.budget_s is None else words.seconds(plan.budget_s)
    rows = [
        ("Run", info.id),
        ("Directory", run.path),
        ("Command", shlex.join(info.command)),
        ("Study", f"{info.study}: {plan.title}"),
        ("Started", info.started),
        ("Ended", f"{ending.ended} ({ending.status})" if ending else "not ended"),
        ("Measured by", f"Assay {info.assay}"),
        ("Seed of the order", str(plan.seed)),
        ("Launches of each case", str(plan.launches)),
        ("Precision asked of a launch", words.percent(plan.precision)),
        ("Samples of a kernel in a launch", f"{plan.min_samples} to {plan.max_samples}"),
        ("Budget", budget),
        ("Cpus of the hand-over probe", format_cpu_list(plan.probe_cpus) or "none"),
        ("Schema", f"run {info.schema}, plan {plan.schema}"),
    ]
    return Table("The run", ("What", "Value"), tuple(rows))


def _builds(run: Run) -> list[Table]:
    tables = []
    for name, build in run.info.builds.items():
        rows = [
            ("Compiler", build.toolchain.compiler),
            ("Version", build.toolchain.version),
            ("Flags", shlex.join(build.toolchain.flags) or "none"),
            ("Target", build.target),
            ("OpenMP", "yes" if build.openmp else "no"),
            ("Built", build.built),
            ("Key", build.key),
            ("Sources (SHA-256)", build.sources),
            *((f"{program} (SHA-256)", digest) for program, digest in sorted(build.sha256.items())),
        ]
        tables.append(Table(f"Build with toolchain {name}", ("What", "Value"), tuple(rows)))
    return tables


def _environment(run: Run) -> Table:
    rows = tuple(sorted(run.info.environment.items()))
    return Table("Environment variables that can change results", ("Variable", "Value"), rows)


def _mpi(run: Run) -> Table:
    """What passed the messages, as it names itself, with the variables that can change its ways."""
    told = dict.fromkeys(
        (records.launch.toolchain, tuple(case.header.mpi.items()))
        for records in run.launches
        for case in records.cases
        if case.header.mpi
    )
    rows = tuple((toolchain, name, value) for toolchain, known in told for name, value in known if value)
    columns = ("Toolchain", "What", "Value")
    return Table("What passed the messages, as it names itself", columns, tuple(dict.fromkeys(rows)))


def _clocks(run: Run) -> Table:
    clocks = {
        (case.header.clock.name, launch.launch.program): case.header.clock
        for launch in run.launches
        for case in launch.cases
    }
    rows = tuple(
        (program, name, words.quantity(clock.resolution_s, "s"), words.quantity(clock.overhead_s, "s"))
        for (name, program), clock in clocks.items()
    )
    columns = ("Program", "Clock", "Resolution", "Cost of a reading")
    return Table("Clocks of the samples, as each program last measured them", columns, rows, frozenset({2, 3}))


def _commands(run: Run) -> Table:
    times: dict[str, list[str]] = {}
    for records in run.made:
        times.setdefault(shlex.join(records.launch.argv), []).append(records.launch.id)
    rows = tuple((command, str(len(launches)), launches[0]) for command, launches in times.items())
    return Table("Command lines of the launches", ("Command", "Times", "First launch"), rows, frozenset({1}))


def sources(analysis: Analysis) -> tuple[Table, ...]:
    """What each benchmark measures, what its metrics count, and whose definition it follows."""
    rows = []
    for name in dict.fromkeys(e.benchmark for e in analysis.estimates):
        declared = choose.declaration(name)
        if declared is None:
            rows.append((name, "not known to this version of Assay", "", ""))
            continue
        counts = "; ".join(f"{metric.name} ({metric.unit}): {metric.meaning}" for metric in declared.metrics)
        rows.append((name, declared.measures, counts, declared.source))
    columns = ("Benchmark", "Measures", "Counts", "After")
    return (Table("What was run", columns, tuple(rows)),) if rows else ()
