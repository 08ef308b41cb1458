"""Provenance of the figures, enough to repeat the run: commands, builds, environment, machine, versions."""

import itertools
import shlex
from collections.abc import Iterator, Mapping

from assay.model.declaration import Metric
from assay.model.facts import Fact
from assay.model.imported import Imported
from assay.model.imported import Table as Printed
from assay.model.result import Analysis
from assay.model.run import Run
from assay.model.text import joined, text
from assay.model.units import format_cpu_list, format_size
from assay.report import formatting, vocabulary
from assay.report.section import Table, headings

_KIB_FROM = 2**20
#: Headings of the table of sources.
PRINTED = headings("File or publication", "Place in the source", "Tool", "Command", "Unit as printed", "Figures")
#: Maximum number of values of a variable, and of command lines, on the page; the records have all.
_MOST_VALUES = 20
_MOST_COMMANDS = 60


def kind(run: Run) -> str:
    """Return the machine in words: processor, cores, memory; empty if unknown."""
    machine = next(iter(run.machines.values()), None)
    if machine is None:
        return ""
    model = machine.fact("processor", "model")
    total = machine.fact("memory", "total")
    memory: str = ""
    if total.known:
        memory = text("{size} of memory", size=fact(total))
    elif machine.memory.known:
        memory = text("{size} of usable memory", size=fact(machine.memory))
    cores = formatting.count(len(machine.topology.cores), "core", "cores")
    return joined(", ", [str(model.value) if model.known else "", cores, memory, *levels(run)])


def levels(run: Run) -> list[str]:
    """Return the levels that the user states of the whole run, `nps 4`."""
    return [f"{name} {level}" for name, level in run.plan.levels.items()]


def nodes(run: Run) -> int:
    """Return the number of nodes; of an import as its source states it, which may name only some of them."""
    stated = run.imported.facts.get("system", {}).get("nodes") if run.imported else None
    return int(stated.value) if stated and isinstance(stated.value, int) else len(run.plan.hosts)


def fact(known: Fact) -> str:
    """Return a fact in words: its value with the unit, or the reason why it is unknown."""
    if not known.known:
        return text("unavailable: {why}", why=known.unavailable or "")
    value = known.value
    if isinstance(value, bool):
        return text("yes") if value else text("no")
    if isinstance(value, list):
        return ", ".join(map(str, value)) or text("none")
    if isinstance(value, (int, float)):
        if known.unit == "B":  # an MTU is 1,500 B, not 1.46 KiB
            return format_size(value) if value >= _KIB_FROM or value % 1024 == 0 else f"{value:,} B"
        return formatting.quantity(value, known.unit) if known.unit else f"{value:,}"
    return str(value)


def stated(facts: Mapping[str, Mapping[str, Fact]]) -> dict[str, str]:
    """Return the facts of a machine by section and name, in words."""
    return {f"{section}: {name}": fact(known) for section, of in facts.items() for name, known in of.items()}


def printed(imported: Imported) -> Iterator[tuple[str, ...]]:
    """Yield a row of `PRINTED` for each table of an import."""
    for table in imported.tables:
        yield (
            table.source,
            table.where,
            " ".join(filter(None, [table.tool, table.version])),
            table.command or text("not stated"),
            _unit(table),
            f"{len(table.figures):,}",
        )


def _unit(table: Printed) -> str:
    units = dict.fromkeys(figure.printed_unit for figure in table.figures)
    return ", ".join(filter(None, units)) or (text("not stated") if None in units else text("none"))


def machine(run: Run) -> Table | None:
    """Return the machine of an import, as its source describes it; None for a measured run or without facts."""
    facts = stated(run.imported.facts) if run.imported else {}
    caption = text("What each source says about its machine")
    return Table(caption, headings("Fact", "Value"), tuple(facts.items()), recorded=True) if facts else None


def provenance(run: Run) -> tuple[Table, ...]:
    """Return tables of everything that can change a figure; for an import, the place where each was printed."""
    if run.imported:
        rows = tuple(printed(run.imported))
        origin = Table(text("Source of each figure"), PRINTED, rows, frozenset({5}), recorded=True)
        return (origin, _import(run, run.imported)) if run.info.command else (origin,)
    tables = [_run(run), _given(run), _cards(run), *_builds(run), _environment(run), _mpi(run)]
    tables += [_clocks(run), _commands(run)]
    return tuple(table for table in tables if table.rows)


def _import(run: Run, imported: Imported) -> Table:
    rows = (
        (text("Run"), run.info.id),
        (text("Directory"), run.path),
        (text("Command"), shlex.join(run.info.command)),
        *((f"{source.name} (SHA-256)", source.sha256) for source in imported.sources),
    )
    return Table(text("The run"), headings("What", "Value"), rows)


def chained(run: Run) -> str:
    """Return whether the records of a run are as they were written, as far as their hashes tell."""
    chain = run.chain
    if chain.broken:
        return text("broken at line {line}: records are not as they were written", line=chain.broken)
    if not chain.last:
        return text("not chained: made before Assay chained records")
    if not run.info.chained:
        return text("chained from line {line} on, last hash {hash}", line=chain.since, hash=chain.last)
    return text("chained, last hash {hash}", hash=chain.last)


def _run(run: Run) -> Table:
    info, plan, ending = run.info, run.plan, run.ending
    budget = text("none") if plan.budget_s is None else formatting.seconds(plan.budget_s)
    rows = [
        (text("Run"), info.id),
        (text("Directory"), run.path),
        (text("Command"), shlex.join(info.command)),
        (text("Study"), f"{info.study}: {plan.title}"),
        (text("Started"), info.started),
        (
            text("Ended"),
            text("{value} ({basis})", value=ending.ended, basis=vocabulary.known(ending.status))
            if ending
            else text("not ended"),
        ),
        (text("Measured by"), f"Assay {info.assay}"),
        (text("Seed of the order"), str(plan.seed)),
        (text("Launches of each case"), str(plan.launches)),
        (text("Requested precision of a launch"), formatting.percent(plan.precision)),
        (
            text("Samples of a kernel in a launch"),
            text("{low} to {high}", low=plan.min_samples, high=plan.max_samples),
        ),
        (text("Levels that the user states"), ", ".join(levels(run)) or text("none")),
        (text("Budget"), budget),
        (text("Cpus of the cache-line probe"), format_cpu_list(plan.probe_cpus) or text("none")),
        (text("Records"), chained(run)),
        (text("Schema"), f"run {info.schema}, plan {plan.schema}"),
    ]
    return Table(text("The run"), headings("What", "Value"), tuple(rows))


def _builds(run: Run) -> list[Table]:
    tables = []
    for name, build in run.info.builds.items():
        rows = [
            (text("Compiler"), build.toolchain.compiler),
            (text("Version"), build.toolchain.version),
            (text("Flags"), shlex.join(build.toolchain.flags) or text("none")),
            (text("Target"), build.target),
            (text("OpenMP"), text("yes") if build.openmp else text("no")),
            (text("Built"), build.built),
            (text("Key"), build.key),
            (text("Sources (SHA-256)"), build.sources),
            *((f"{program} (SHA-256)", digest) for program, digest in sorted(build.sha256.items())),
        ]
        tables.append(
            Table(text("Build with toolchain {name}", name=name), headings("What", "Value"), tuple(rows))
        )
    return tables


def _given(run: Run) -> Table:
    """Facts from the configuration of the site; equal facts of several hosts once."""
    given = {
        (name, str(fact.value)): host
        for host, machine in reversed(run.machines.items())
        for name, fact in machine.facts.get("given", {}).items()
    }
    return Table(text("Facts given by the user"), headings("Fact", "Value"), tuple(given), recorded=True)


def _cards(run: Run) -> Table:
    """Network cards with their drivers; equal ones of several hosts in one row."""
    found: dict[tuple[str, ...], list[str]] = {}
    for host, machine in run.machines.items():
        ofed = machine.fact("system", "OFED")
        for device in machine.devices:
            if device.kind in {"network", "infiniband"} and device.value("driver") is not None:
                facts = map(device.value, ("driver", "driver version", "firmware"))
                values = ("" if value is None else str(value) for value in facts)
                row = (device.name, *values, str(ofed.value) if ofed.known else "")
                found.setdefault(row, []).append(host)
    rows = tuple((formatting.listed(hosts), *row) for row, hosts in found.items())
    columns = headings("Node", "Device", "Driver", "Version", "Firmware", "OFED")
    return Table(text("Network cards, drivers and firmware"), columns, rows, recorded=True)


def _environment(run: Run) -> Table:
    rows = tuple(sorted(run.info.environment.items()))
    return Table(text("Environment variables that can change results"), headings("Variable", "Value"), rows)


def _mpi(run: Run) -> Table:
    """MPI libraries and transports, as they name themselves, with the variables that can change the transport."""
    transports = dict.fromkeys(
        (records.launch.toolchain, tuple(case.header.passed_by.items()))
        for records in run.launches
        for case in records.cases
        if case.header.passed_by
    )
    values: dict[tuple[str, str], dict[str, None]] = {}
    for toolchain, known in transports:
        for name, value in known:
            values.setdefault((toolchain, name), {}).update({value: None} if value else {})
    rows = [(*what, value) for what, found in values.items() for value in itertools.islice(found, _MOST_VALUES)]
    rows += [
        (*what, text("{count} more in the records of the run", count=len(found) - _MOST_VALUES))
        for what, found in values.items()
        if len(found) > _MOST_VALUES
    ]
    columns = headings("Toolchain", "What", "Value")
    return Table(text("MPI libraries and transports, as they name themselves"), columns, tuple(rows))


def _clocks(run: Run) -> Table:
    clocks = {
        (case.header.clock.name, launch.launch.program): case.header.clock
        for launch in run.launches
        for case in launch.cases
    }
    rows = tuple(
        (program, name, formatting.quantity(clock.resolution_s, "s"), formatting.quantity(clock.overhead_s, "s"))
        for (name, program), clock in clocks.items()
    )
    columns = headings("Program", "Clock", "Resolution", "Cost of one reading")
    return Table(
        text("Clock source of the samples, as each program measured it"), columns, rows, frozenset({2, 3})
    )


def _commands(run: Run) -> Table:
    times: dict[tuple[str, ...], list[str]] = {}
    for records in run.made:
        times.setdefault(tuple(records.launch.argv), []).append(records.launch.id)
    shown = itertools.islice(times.items(), _MOST_COMMANDS)
    rows = tuple((shlex.join(argv), str(len(launches)), launches[0]) for argv, launches in shown)
    if len(times) > _MOST_COMMANDS:
        more = text("{count} more in the records of the run", count=len(times) - _MOST_COMMANDS)
        rows = (*rows, (more, "", ""))
    return Table(
        text("Command lines of the launches"), headings("Command", "Times", "First launch"), rows, frozenset({1})
    )


def sources(analysis: Analysis) -> tuple[Table, ...]:
    """Return what each benchmark measures, what its metrics count, and the source of its definition."""
    rows: list[tuple[str, ...]] = []
    for name, declared in {e.benchmark: e.declared for e in analysis.estimates}.items():
        if not declared.is_known:
            rows.append((name, text("unknown to this version of Assay"), "", ""))
            continue
        counts = joined("; ", dict.fromkeys(map(_counted, declared.metrics)))
        rows.append((name, vocabulary.known(declared.measures), counts, declared.source))
    columns = headings("Benchmark", "Measures", "Counts", "After")
    return (Table(text("What was run"), columns, tuple(rows), recorded=True),) if rows else ()


def _counted(metric: Metric) -> str:
    meaning = vocabulary.known(metric.meaning)
    return text("{name} ({unit}): {meaning}", name=metric.name, unit=metric.unit, meaning=meaning)
