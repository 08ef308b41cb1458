"""Sources of figures, and facts that they state about their machines."""

from collections.abc import Iterator

from assay.compare.sides import Side, Sides, is_reference
from assay.model.run import Run
from assay.model.text import text
from assay.report import formatting, provenance, selection
from assay.report.section import Table, headings, trimmed

#: Facts of a measured machine that published sources state too.
_FACTS = (
    ("processor", "model"),
    ("processor", "cores"),
    ("memory", "NUMA nodes"),
    ("system", "operating system"),
    ("system", "kernel release"),
    ("system", "model"),
)


def systems(sides: Sides) -> Table:
    """A row for each run: its system or level, what it is, who measured it, when; of levels, in order of time."""
    found = [
        (
            side.label,
            str(number or ""),
            machine(each.run),
            _kind(each.run),
            _source(each.run),
            f"{len(selection.measured(each.analysis.estimates)):,}",
            each.run.info.started,
        )
        for side in sides.sides
        for number, each in (side.blocks or {0: side}).items()
    ]
    none = text("none: no run of another level beside it")
    for run in sides.left_out:
        label = f"{sides.factor} {run.plan.levels[sides.factor]}"
        found.append((label, none, machine(run), _kind(run), _source(run), "", run.info.started))
    if sides.factor:
        found.sort(key=lambda row: row[-1])
    columns = headings("System", "Block", "What it is", "Kind of figures", "From", "Figures")
    rows = tuple(row[:-1] for row in found)
    return trimmed(Table(text("The systems"), columns, rows, frozenset({1, 5}), recorded=True), {1})


def machine(run: Run) -> str:
    """The machine in words, from its source or as Assay found it."""
    return provenance.kind(run) or run.plan.machine


def _kind(run: Run) -> str:
    if run.simulated:
        return text("simulated by Assay on {date}, with samples", date=run.info.started[:10])
    if run.imported is None:
        return text("measured by Assay on {date}, with samples", date=run.info.started[:10])
    return text("published, without samples") if is_reference(run) else text("imported, without samples")


def _source(run: Run) -> str:
    if run.imported is None:
        return text("run {id}", id=run.info.id)
    names = [source.name for source in run.imported.sources]
    return formatting.listed(names) if len(names) > 1 else "".join(names)


def states(sides: Sides) -> Table:
    """A row for each fact that a source states, a column for each side."""
    known = [_facts(side.run) for side in sides.sides]
    names = dict.fromkeys(name for facts in known for name in facts)
    rows = tuple((name, *(facts.get(name, text("not stated")) for facts in known)) for name in names)
    columns = (text("Fact"), *(side.label for side in sides.sides))
    return Table(text("What each source says about its machine"), columns, rows, recorded=True)


def _facts(run: Run) -> dict[str, str]:
    if run.imported:
        return provenance.stated(run.imported.facts)
    machine = next(iter(run.machines.values()), None)
    if machine is None:
        return {}
    found = {"system: nodes": str(max(1, len(run.plan.hosts)))}
    for section, name in _FACTS:
        fact = machine.facts.get(section, {}).get(name)
        if fact and fact.known:
            found[f"{section}: {name}"] = provenance.fact(fact)
    libraries = {
        library for launch in run.launches for case in launch.cases if (library := case.header.mpi.library)
    }
    return found | ({"system: mpi": ", ".join(sorted(libraries))} if libraries else {})


def origins(sides: Sides) -> Table:
    """A row for each table that figures were taken from: file or publication, place in it, tool, command, unit."""
    rows = tuple(row for side in sides.singly for row in _origins(side))
    columns = (text("System"), *provenance.PRINTED)
    return Table(text("Source of each figure"), columns, rows, frozenset({6}), recorded=True)


def _origins(side: Side) -> Iterator[tuple[str, ...]]:
    run = side.run
    if run.imported is None:
        measured = selection.measured(side.analysis.estimates)
        for name, members in selection.grouped(measured, lambda e: e.benchmark).items():
            yield (
                side.label,
                run.path,
                "records.jsonl",
                text("{benchmark} of Assay {version}", benchmark=name, version=run.info.assay),
                " ".join(run.info.command[1:]),
                text("raw seconds of each sample"),
                f"{len(members):,}",
            )
        return
    yield from ((side.label, *row) for row in provenance.printed(run.imported))
